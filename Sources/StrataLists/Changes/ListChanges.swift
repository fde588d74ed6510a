// The changes between two snapshots of a list, typed: one canonical batch.

internal import StrataEvents
internal import StrataTables

/// The changes that turn one snapshot into another.
///
/// Every item that only the old list shows is one deletion, every item that only the new list shows is one insertion,
/// every item of both whose section or whose order among its neighbours changed is one move, and an item whose row
/// changed and that stays is one update. An item occurs once. `from` counts in the old snapshot, `to` in the new one.
///
/// Of the items that change their order, as few as possible move. The differences of other libraries need not be the
/// smallest: `OrderedSet.difference` of swift-collections 1.6.0 removes and inserts five elements, in ten changes, to turn
/// 0, 1, 2, 3, 4, 5 into 1, 2, 4, 5, 0, 3, where two moves are enough.
///
/// To apply the batch to an old list: remove the deleted and moved items; remove the deleted and moved sections; insert
/// the inserted and moved sections, by ascending `to`; insert the inserted and moved items, by ascending `to`.
public struct ListChanges<ItemID: Hashable & Sendable, Section: Hashable & Sendable>: Hashable, Sendable {
  public struct Deletion: Hashable, Sendable {
    public var id: ItemID
    public var from: ListIndex

    @inlinable
    public init(id: ItemID, from: ListIndex) {
      self.id = id
      self.from = from
    }
  }

  public struct Insertion: Hashable, Sendable {
    public var id: ItemID
    public var to: ListIndex

    @inlinable
    public init(id: ItemID, to: ListIndex) {
      self.id = id
      self.to = to
    }
  }

  public struct Move: Hashable, Sendable {
    public var id: ItemID
    public var from: ListIndex
    public var to: ListIndex
    /// Whether the row's content changed too.
    public var isChanged: Bool
    /// The names of the document's fields that changed, in ascending UTF-8 order. Empty if the content did not change,
    /// or if the fields are not known.
    public var changedFields: [String] = []
    /// Whether the item has to be reloaded completely, and not only its content: a reload of a `DiffableSnapshot`.
    public var isReload = false

    @inlinable
    public init(
      id: ItemID, from: ListIndex, to: ListIndex, isChanged: Bool, changedFields: [String] = [],
      isReload: Bool = false
    ) {
      self.id = id
      self.from = from
      self.to = to
      self.isChanged = isChanged
      self.changedFields = changedFields
      self.isReload = isReload
    }
  }

  public struct Update: Hashable, Sendable {
    public var id: ItemID
    public var from: ListIndex
    public var to: ListIndex
    /// The names of the document's fields that changed, in ascending UTF-8 order. Empty if they are not known.
    public var changedFields: [String] = []
    /// Whether the item has to be reloaded completely, and not only its content: a reload of a `DiffableSnapshot`.
    public var isReload = false

    @inlinable
    public init(
      id: ItemID, from: ListIndex, to: ListIndex, changedFields: [String] = [], isReload: Bool = false
    ) {
      self.id = id
      self.from = from
      self.to = to
      self.changedFields = changedFields
      self.isReload = isReload
    }
  }

  public struct SectionDeletion: Hashable, Sendable {
    public var section: Section
    public var from: Int

    @inlinable
    public init(section: Section, from: Int) {
      self.section = section
      self.from = from
    }
  }

  public struct SectionInsertion: Hashable, Sendable {
    public var section: Section
    public var to: Int
    /// The number of items that the section holds, shown or not.
    public var count: Int

    @inlinable
    public init(section: Section, to: Int, count: Int) {
      self.section = section
      self.to = to
      self.count = count
    }
  }

  public struct SectionMove: Hashable, Sendable {
    public var section: Section
    public var from: Int
    public var to: Int

    @inlinable
    public init(section: Section, from: Int, to: Int) {
      self.section = section
      self.from = from
      self.to = to
    }
  }

  /// A section of both lists whose number of items, shown or not, or one of whose aggregates changed, or that has to be
  /// reloaded.
  public struct SectionUpdate: Hashable, Sendable {
    public var section: Section
    public var from: Int
    public var to: Int
    public var count: Int
    /// Whether the section has to be reloaded: a reload of a `DiffableSnapshot`.
    public var isReload = false

    @inlinable
    public init(section: Section, from: Int, to: Int, count: Int, isReload: Bool = false) {
      self.section = section
      self.from = from
      self.to = to
      self.count = count
      self.isReload = isReload
    }
  }

  /// The old list includes everything up to this sequence; nil if it is not a state of a store.
  public var fromSequence: UInt64?
  /// The new list includes everything up to this sequence; nil if it is not a state of a store.
  public var toSequence: UInt64?

  /// Descending by `from`.
  public var deletions: [Deletion] = []
  /// Descending by `from`.
  public var sectionDeletions: [SectionDeletion] = []
  /// Ascending by `to`.
  public var sectionInsertions: [SectionInsertion] = []
  /// Ascending by `to`.
  public var sectionMoves: [SectionMove] = []
  /// Ascending by `to`.
  public var insertions: [Insertion] = []
  /// Ascending by `to`.
  public var moves: [Move] = []
  /// Ascending by `to`.
  public var updates: [Update] = []
  /// Ascending by `to`.
  public var sectionUpdates: [SectionUpdate] = []

  public init() {}

  public var isEmpty: Bool { count == 0 }

  /// The number of changes.
  public var count: Int {
    structuralCount + updates.count + sectionUpdates.count
  }

  /// Whether an item or section is inserted, deleted or moved.
  public var isStructural: Bool { structuralCount > 0 }

  private var structuralCount: Int {
    deletions.count + sectionDeletions.count + sectionInsertions.count + sectionMoves.count
      + insertions.count + moves.count
  }

  /// The ids of all items of both lists whose rows changed, moved or not, in the order of the new list.
  public var changedItems: [ItemID] {
    (updates.map { ($0.to, $0.id) } + moves.lazy.filter(\.isChanged).map { ($0.to, $0.id) })
      .sorted { $0.0 < $1.0 }.map(\.1)
  }
}

// What is coded is the stored properties of each type, under their names.
extension ListChanges: Codable where ItemID: Codable, Section: Codable {}
extension ListChanges.Deletion: Codable where ItemID: Codable, Section: Codable {}
extension ListChanges.Insertion: Codable where ItemID: Codable, Section: Codable {}
extension ListChanges.Move: Codable where ItemID: Codable, Section: Codable {}
extension ListChanges.Update: Codable where ItemID: Codable, Section: Codable {}
extension ListChanges.SectionDeletion: Codable where ItemID: Codable, Section: Codable {}
extension ListChanges.SectionInsertion: Codable where ItemID: Codable, Section: Codable {}
extension ListChanges.SectionMove: Codable where ItemID: Codable, Section: Codable {}
extension ListChanges.SectionUpdate: Codable where ItemID: Codable, Section: Codable {}

extension ListChanges {
  /// The changes between two snapshots of the same store's list.
  ///
  /// O(k log n) for k rows that changed if both snapshots come from equal requests; O(n log n) otherwise.
  public init<Item>(from old: ListSnapshot<Item, Section>, to new: ListSnapshot<Item, Section>)
  where Item.ID == ItemID {
    self.init(
      ListDiff(from: old.version, to: new.version), id: { Item.ID(documentID: $0) }, new.decodeSection)
  }

  init(
    _ diff: ListDiff, id: (String) -> ItemID?, _ decodeSection: (UnsafeRawBufferPointer) -> Section?
  ) {
    func item(_ text: String) -> ItemID {
      guard let id = id(text) else {
        preconditionFailure("the id of the row \(text) is not a valid \(ItemID.self)")
      }
      return id
    }
    func section(_ key: [UInt8]) -> Section {
      guard let section = key.withUnsafeBytes({ decodeSection($0) }) else {
        preconditionFailure("a section's key does not decode as \(Section.self)")
      }
      return section
    }
    fromSequence = diff.fromSequence
    toSequence = diff.toSequence
    deletions = diff.deletions.map { .init(id: item($0.id), from: $0.from) }
    insertions = diff.insertions.map { .init(id: item($0.id), to: $0.to) }
    moves = diff.moves.map {
      .init(
        id: item($0.id), from: $0.from, to: $0.to, isChanged: $0.isChanged, changedFields: $0.changedFields)
    }
    updates = diff.updates.map {
      .init(id: item($0.id), from: $0.from, to: $0.to, changedFields: $0.changedFields)
    }
    sectionDeletions = diff.sectionDeletions.map { .init(section: section($0.section), from: $0.from) }
    sectionInsertions = diff.sectionInsertions.map {
      .init(section: section($0.section), to: $0.to, count: $0.count)
    }
    sectionMoves = diff.sectionMoves.map { .init(section: section($0.section), from: $0.from, to: $0.to) }
    sectionUpdates = diff.sectionUpdates.map {
      .init(section: section($0.section), from: $0.from, to: $0.to, count: $0.count)
    }
  }
}
