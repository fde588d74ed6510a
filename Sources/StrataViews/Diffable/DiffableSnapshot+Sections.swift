// Adding, removing and moving sections of a snapshot.

extension DiffableSnapshot {
  /// Appends sections. Sections that the snapshot already has are moved with their items. O(sections).
  ///
  /// No section may occur twice in `sections`.
  @inlinable
  public mutating func appendSections(_ sections: [Section]) {
    do throws(DiffableSnapshotError) { try putSections(sections, at: self.sections.count) } catch {
      fail(error)
    }
  }

  /// Inserts sections directly before another one, in their order. Sections that the snapshot already has are moved
  /// with their items. O(sections).
  ///
  /// `other` may be one of the sections: all of them are removed first, and inserted where `other` was. It must be in
  /// the snapshot, and no section may occur twice in `sections`.
  @inlinable
  public mutating func insertSections(_ sections: [Section], beforeSection other: Section) {
    putSections(sections, nextTo: other, 0)
  }

  /// Inserts sections directly after another one, in their order. See ``insertSections(_:beforeSection:)``.
  @inlinable
  public mutating func insertSections(_ sections: [Section], afterSection other: Section) {
    putSections(sections, nextTo: other, 1)
  }

  /// Moves a section with its items directly before another one. Moving a section before itself does nothing.
  /// O(sections). Both must be in the snapshot.
  @inlinable
  public mutating func moveSection(_ section: Section, beforeSection other: Section) {
    putSections([section], nextTo: other, 0, areKnown: true)
  }

  /// Moves a section with its items directly after another one. Moving a section after itself does nothing.
  /// O(sections). Both must be in the snapshot.
  @inlinable
  public mutating func moveSection(_ section: Section, afterSection other: Section) {
    putSections([section], nextTo: other, 1, areKnown: true)
  }

  /// Deletes sections with their items, and the marks of both. Unknown sections are ignored. O(sections + items
  /// deleted).
  @inlinable
  public mutating func deleteSections(_ ids: [Section]) {
    var isDeleted = [Bool](repeating: false, count: sections.count)
    var index = takeIndex()
    for id in ids {
      guard let position = slots.position(of: id), !isDeleted[position] else { continue }
      isDeleted[position] = true
      marks.remove(section: id)
      for item in sections[position].items {
        if index.isFilled { index.positions[item] = nil } else { index.members?.remove(item) }
        marks.remove(item: item)
      }
    }
    setIndex(index)
    guard isDeleted.contains(true) else { return }
    for position in isDeleted.indices where isDeleted[position] { slots.remove(sections[position].id) }
    sections.remove(atSorted: isDeleted.indices.filter { isDeleted[$0] })
    renumberSections()
  }
}

// MARK: Positions

extension DiffableSnapshot {
  /// Inserts or moves sections next to another one.
  ///
  /// - Parameters:
  ///   - distance: 0 before the other section, 1 after it.
  ///   - areKnown: whether the sections have to be in the snapshot.
  @inlinable
  mutating func putSections(
    _ sections: [Section], nextTo other: Section, _ distance: Int, areKnown: Bool = false
  ) {
    do throws(DiffableSnapshotError) {
      if areKnown { for section in sections { _ = try position(ofSection: section) } }
      try putSections(sections, at: try position(ofSection: other) + distance)
    } catch { fail(error) }
  }

  /// Inserts or moves sections to an index. The index counts before any of the sections is removed from its previous
  /// position.
  @inlinable
  mutating func putSections(_ ids: [Section], at position: Int) throws(DiffableSnapshotError) {
    if ids.isEmpty { return }
    var named: Set<Section> = []
    for id in ids where !named.insert(id).inserted { throw .duplicateSection("\(id)") }
    setIndex(takeIndex())
    let known = ids.map { slots.position(of: $0) }
    var run: [Content] = []
    run.reserveCapacity(ids.count)
    for (number, id) in ids.enumerated() {
      if let known = known[number] {
        run.append(sections[known])
      } else {
        run.append(Content(id: id, items: [], slot: slots.add(id, at: sections.count + number)))
      }
    }
    let moved = known.compactMap { $0 }.sorted()
    let isAppended = moved.isEmpty && position == sections.count
    sections.remove(atSorted: moved)
    sections.insert(contentsOf: run, at: position - moved.count { $0 < position })
    if !isAppended { renumberSections() }
  }

  @inlinable
  mutating func renumberSections() {
    for (position, content) in sections.enumerated() { slots.set(content.slot, to: position) }
  }
}
