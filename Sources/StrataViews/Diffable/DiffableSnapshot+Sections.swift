// Adding sections to a snapshot, removing them, and moving them: the forms that stop the program where the caller is
// wrong.

extension DiffableSnapshot {
  /// Appends sections. One that the snapshot has already is moved, with its items. O(sections). No section may be named
  /// twice.
  @inlinable
  public mutating func appendSections(_ sections: [Section]) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.appendSections(sections) }
  }

  /// Inserts sections directly before another one, in their order. One that the snapshot has already is moved, with its
  /// items; if the other section is one of them, it counts as removed like the rest. O(sections). The other section
  /// must be in the snapshot, and no section may be named twice.
  @inlinable
  public mutating func insertSections(_ sections: [Section], beforeSection other: Section) {
    change { snapshot throws(DiffableSnapshotError) in
      try snapshot.insertSections(sections, beforeSection: other)
    }
  }

  /// Inserts sections directly after another one, in their order. See ``insertSections(_:beforeSection:)``.
  @inlinable
  public mutating func insertSections(_ sections: [Section], afterSection other: Section) {
    change { snapshot throws(DiffableSnapshotError) in
      try snapshot.insertSections(sections, afterSection: other)
    }
  }

  /// Moves a section with its items directly before another one. Moving it before itself does nothing. O(sections).
  /// Both must be in the snapshot.
  @inlinable
  public mutating func moveSection(_ section: Section, beforeSection other: Section) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.moveSection(section, beforeSection: other)
    }
  }

  /// Moves a section with its items directly after another one. Moving it after itself does nothing. O(sections). Both
  /// must be in the snapshot.
  @inlinable
  public mutating func moveSection(_ section: Section, afterSection other: Section) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.moveSection(section, afterSection: other)
    }
  }

  /// Deletes sections with their items, and the marks of both. Unknown ones are ignored. O(sections + items deleted).
  @inlinable
  public mutating func deleteSections(_ sections: [Section]) { throwing.deleteSections(sections) }
}
