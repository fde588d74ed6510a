// Putting sections into a snapshot, taking them out, and moving them: the forms that throw.

extension DiffableSnapshot {
  /// Appends sections. Those that are there already are moved, with their items. O(sections).
  /// - Throws: `duplicateSection`.
  public mutating func tryAppendSections(_ sections: [SectionID]) throws(DiffableSnapshotError) {
    try put(sections, at: contents.count)
  }

  /// Puts sections directly before another one, in their order. Those that are there already are moved, with
  /// their items; where the other one is among them, it counts as taken out like the rest. O(sections).
  /// - Throws: `unknownSection`, `duplicateSection`.
  public mutating func tryInsertSections(
    _ sections: [SectionID], beforeSection other: SectionID
  ) throws(DiffableSnapshotError) {
    try put(sections, at: try place(ofSection: other))
  }

  /// Puts sections directly behind another one, in their order. See ``tryInsertSections(_:beforeSection:)``.
  /// - Throws: `unknownSection`, `duplicateSection`.
  public mutating func tryInsertSections(
    _ sections: [SectionID], afterSection other: SectionID
  ) throws(DiffableSnapshotError) {
    try put(sections, at: try place(ofSection: other) + 1)
  }

  /// Moves a section with its items directly before another one. To move it before itself does nothing.
  /// O(sections).
  /// - Throws: `unknownSection`.
  public mutating func tryMoveSection(
    _ section: SectionID, beforeSection other: SectionID
  ) throws(DiffableSnapshotError) {
    _ = try place(ofSection: section)
    try tryInsertSections([section], beforeSection: other)
  }

  /// Moves a section with its items directly behind another one. To move it behind itself does nothing.
  /// O(sections).
  /// - Throws: `unknownSection`.
  public mutating func tryMoveSection(
    _ section: SectionID, afterSection other: SectionID
  ) throws(DiffableSnapshotError) {
    _ = try place(ofSection: section)
    try tryInsertSections([section], afterSection: other)
  }

  /// Deletes sections with their items, and the marks of both. What is not there is ignored.
  /// O(sections + items deleted).
  public mutating func deleteSections(_ sections: [SectionID]) {
    var isGone = [Bool](repeating: false, count: contents.count)
    var index = takeIndex()
    for section in sections {
      guard let place = slots.place(of: section), !isGone[place] else { continue }
      isGone[place] = true
      marks.remove(section: section)
      for item in contents[place].items {
        if index.isFilled { index.places[item] = nil }
        marks.remove(item: item)
      }
    }
    setIndex(index)
    guard isGone.contains(true) else { return }
    for place in isGone.indices where isGone[place] { slots.remove(contents[place].id) }
    contents.remove(atSorted: isGone.indices.filter { isGone[$0] })
    renumberSections()
  }

  private func place(ofSection section: SectionID) throws(DiffableSnapshotError) -> Int {
    guard let place = slots.place(of: section) else { throw .unknownSection("\(section)") }
    return place
  }

  /// Puts sections at a place, counted before any of them is taken out of where it stands.
  private mutating func put(_ sections: [SectionID], at place: Int) throws(DiffableSnapshotError) {
    if sections.isEmpty { return }
    var named: Set<SectionID> = []
    for section in sections where !named.insert(section).inserted { throw .duplicateSection("\(section)") }
    setIndex(takeIndex())
    let known = sections.map { slots.place(of: $0) }
    var run: [Content] = []
    run.reserveCapacity(sections.count)
    for (number, section) in sections.enumerated() {
      if let known = known[number] {
        run.append(contents[known])
      } else {
        run.append(Content(id: section, items: [], slot: slots.add(section, at: contents.count + number)))
      }
    }
    let moved = known.compactMap { $0 }.sorted()
    let isAppended = moved.isEmpty && place == contents.count
    contents.remove(atSorted: moved)
    contents.insert(contentsOf: run, at: place - moved.count { $0 < place })
    if !isAppended { renumberSections() }
  }

  private mutating func renumberSections() {
    for (place, content) in contents.enumerated() { slots.set(content.slot, to: place) }
  }
}
