// Adding, removing and moving sections of a snapshot.

extension ThrowingSnapshot {
  /// Appends sections. Sections that the snapshot already has are moved with their items. O(sections).
  /// - Throws: `duplicateSection`.
  @inlinable
  public mutating func appendSections(_ sections: [Section]) throws(DiffableSnapshotError) {
    try put(sections, at: contents.count)
  }

  /// Inserts sections directly before another one, in their order. Sections that the snapshot already has are moved
  /// with their items. O(sections).
  ///
  /// `other` may be one of the sections: all of them are removed first, and inserted where `other` was.
  /// - Throws: `unknownSection`, `duplicateSection`.
  @inlinable
  public mutating func insertSections(
    _ sections: [Section], beforeSection other: Section
  ) throws(DiffableSnapshotError) {
    try put(sections, at: try place(ofSection: other))
  }

  /// Inserts sections directly after another one, in their order. See ``insertSections(_:beforeSection:)``.
  /// - Throws: `unknownSection`, `duplicateSection`.
  @inlinable
  public mutating func insertSections(
    _ sections: [Section], afterSection other: Section
  ) throws(DiffableSnapshotError) {
    try put(sections, at: try place(ofSection: other) + 1)
  }

  /// Moves a section with its items directly before another one. Moving a section before itself does nothing.
  /// O(sections).
  /// - Throws: `unknownSection`.
  @inlinable
  public mutating func moveSection(_ section: Section, beforeSection other: Section)
    throws(DiffableSnapshotError)
  {
    _ = try place(ofSection: section)
    try insertSections([section], beforeSection: other)
  }

  /// Moves a section with its items directly after another one. Moving a section after itself does nothing.
  /// O(sections).
  /// - Throws: `unknownSection`.
  @inlinable
  public mutating func moveSection(_ section: Section, afterSection other: Section)
    throws(DiffableSnapshotError)
  {
    _ = try place(ofSection: section)
    try insertSections([section], afterSection: other)
  }

  /// Deletes sections with their items, and the marks of both. Unknown sections are ignored. O(sections + items
  /// deleted).
  @inlinable
  mutating func deleteSections(_ sections: [Section]) {
    var isDeleted = [Bool](repeating: false, count: contents.count)
    var index = takeIndex()
    for section in sections {
      guard let place = slots.place(of: section), !isDeleted[place] else { continue }
      isDeleted[place] = true
      marks.remove(section: section)
      for item in contents[place].items {
        if index.isFilled { index.places[item] = nil } else { index.members?.remove(item) }
        marks.remove(item: item)
      }
    }
    setIndex(index)
    guard isDeleted.contains(true) else { return }
    for place in isDeleted.indices where isDeleted[place] { slots.remove(contents[place].id) }
    contents.remove(atSorted: isDeleted.indices.filter { isDeleted[$0] })
    renumberSections()
  }

  /// Inserts or moves sections to an index. The index counts before any of the sections is removed from its previous
  /// position.
  @inlinable
  mutating func put(_ sections: [Section], at place: Int) throws(DiffableSnapshotError) {
    if sections.isEmpty { return }
    var named: Set<Section> = []
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

  @inlinable
  mutating func renumberSections() {
    for (place, content) in contents.enumerated() { slots.set(content.slot, to: place) }
  }
}
