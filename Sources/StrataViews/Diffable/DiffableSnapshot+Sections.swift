// Adding, removing and moving sections of a snapshot: the forms that stop the program if a call is invalid.

extension DiffableSnapshot {
  /// Appends sections. Sections that the snapshot already has are moved with their items. O(sections).
  ///
  /// No section may occur twice in `sections`.
  @inlinable
  public mutating func appendSections(_ sections: [Section]) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.appendSections(sections) }
  }

  /// Inserts sections directly before another one, in their order. Sections that the snapshot already has are moved
  /// with their items. O(sections).
  ///
  /// `other` may be one of the sections: all of them are removed first, and inserted where `other` was. It must be in
  /// the snapshot, and no section may occur twice in `sections`.
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

  /// Moves a section with its items directly before another one. Moving a section before itself does nothing.
  /// O(sections). Both must be in the snapshot.
  @inlinable
  public mutating func moveSection(_ section: Section, beforeSection other: Section) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.moveSection(section, beforeSection: other)
    }
  }

  /// Moves a section with its items directly after another one. Moving a section after itself does nothing.
  /// O(sections). Both must be in the snapshot.
  @inlinable
  public mutating func moveSection(_ section: Section, afterSection other: Section) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.moveSection(section, afterSection: other)
    }
  }

  /// Deletes sections with their items, and the marks of both. Unknown sections are ignored. O(sections + items
  /// deleted).
  @inlinable
  public mutating func deleteSections(_ sections: [Section]) { throwing.deleteSections(sections) }
}
