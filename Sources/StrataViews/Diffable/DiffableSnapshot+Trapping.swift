// The forms of a snapshot's methods that stop the program where the ones that throw would throw.

extension DiffableSnapshot {
  /// The sections in their order, each with its items.
  ///
  /// Stops the program where a section or an item occurs twice; ``init(validating:)`` throws.
  public init(sections: [(id: SectionID, items: [ItemID])]) {
    self = Self.orStop { () throws(DiffableSnapshotError) in try Self(validating: sections) }
  }

  /// The sections in their order, each with its items. O(n), one hash per item.
  /// - Throws: `duplicateSection`, `duplicateItem`.
  public init(validating sections: [(id: SectionID, items: [ItemID])]) throws(DiffableSnapshotError) {
    var named: Set<SectionID> = []
    for section in sections where !named.insert(section.id).inserted {
      throw .duplicateSection("\(section.id)")
    }
    self.init(unchecked: sections.map { Content(id: $0.id, items: $0.items) })
    if let (_, item) = lookup.withIndex({ fillUntilCollision(&$0) }) { throw .duplicateItem("\(item)") }
  }

  private static func orStop<Result>(_ body: () throws(DiffableSnapshotError) -> Result) -> Result {
    do throws(DiffableSnapshotError) { return try body() } catch { preconditionFailure("\(error)") }
  }

  private mutating func orStop(_ body: (inout Self) throws(DiffableSnapshotError) -> Void) {
    do throws(DiffableSnapshotError) { try body(&self) } catch { preconditionFailure("\(error)") }
  }
}

// MARK: Items

extension DiffableSnapshot {
  /// See ``tryAppendItems(_:toSection:)``.
  public mutating func appendItems(_ items: [ItemID], toSection section: SectionID? = nil) {
    orStop { snapshot throws(DiffableSnapshotError) in
      try snapshot.tryAppendItems(items, toSection: section)
    }
  }

  /// See ``tryInsertItems(_:beforeItem:)``.
  public mutating func insertItems(_ items: [ItemID], beforeItem other: ItemID) {
    orStop { snapshot throws(DiffableSnapshotError) in
      try snapshot.tryInsertItems(items, beforeItem: other)
    }
  }

  /// See ``tryInsertItems(_:afterItem:)``.
  public mutating func insertItems(_ items: [ItemID], afterItem other: ItemID) {
    orStop { snapshot throws(DiffableSnapshotError) in
      try snapshot.tryInsertItems(items, afterItem: other)
    }
  }

  /// See ``tryMoveItem(_:beforeItem:)``.
  public mutating func moveItem(_ item: ItemID, beforeItem other: ItemID) {
    orStop { snapshot throws(DiffableSnapshotError) in try snapshot.tryMoveItem(item, beforeItem: other) }
  }

  /// See ``tryMoveItem(_:afterItem:)``.
  public mutating func moveItem(_ item: ItemID, afterItem other: ItemID) {
    orStop { snapshot throws(DiffableSnapshotError) in try snapshot.tryMoveItem(item, afterItem: other) }
  }

  /// See ``tryReplaceItems(in:with:)``.
  public mutating func replaceItems(in section: SectionID, with items: [ItemID]) {
    orStop { snapshot throws(DiffableSnapshotError) in
      try snapshot.tryReplaceItems(in: section, with: items)
    }
  }

  /// See ``tryReloadItems(_:)``.
  public mutating func reloadItems(_ items: [ItemID]) {
    orStop { snapshot throws(DiffableSnapshotError) in try snapshot.tryReloadItems(items) }
  }

  /// See ``tryReconfigureItems(_:)``.
  public mutating func reconfigureItems(_ items: [ItemID]) {
    orStop { snapshot throws(DiffableSnapshotError) in try snapshot.tryReconfigureItems(items) }
  }
}

// MARK: Sections

extension DiffableSnapshot {
  /// See ``tryAppendSections(_:)``.
  public mutating func appendSections(_ sections: [SectionID]) {
    orStop { snapshot throws(DiffableSnapshotError) in try snapshot.tryAppendSections(sections) }
  }

  /// See ``tryInsertSections(_:beforeSection:)``.
  public mutating func insertSections(_ sections: [SectionID], beforeSection other: SectionID) {
    orStop { snapshot throws(DiffableSnapshotError) in
      try snapshot.tryInsertSections(sections, beforeSection: other)
    }
  }

  /// See ``tryInsertSections(_:afterSection:)``.
  public mutating func insertSections(_ sections: [SectionID], afterSection other: SectionID) {
    orStop { snapshot throws(DiffableSnapshotError) in
      try snapshot.tryInsertSections(sections, afterSection: other)
    }
  }

  /// See ``tryMoveSection(_:beforeSection:)``.
  public mutating func moveSection(_ section: SectionID, beforeSection other: SectionID) {
    orStop { snapshot throws(DiffableSnapshotError) in
      try snapshot.tryMoveSection(section, beforeSection: other)
    }
  }

  /// See ``tryMoveSection(_:afterSection:)``.
  public mutating func moveSection(_ section: SectionID, afterSection other: SectionID) {
    orStop { snapshot throws(DiffableSnapshotError) in
      try snapshot.tryMoveSection(section, afterSection: other)
    }
  }
}
