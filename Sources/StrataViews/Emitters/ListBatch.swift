// The operations of one batch update of a list view, by index.

public import StrataLists

/// The arguments of one batch update of a `UICollectionView` or `UITableView`, and what follows it.
///
/// `sectionDeletions`, `deletions`, `reloads` and every `from` are indices in the data before the batch; insertions and
/// every `to` are indices in the data after it. All of these go into one `performBatchUpdates`, whose closure also sets
/// the new data. `reconfigures`, `sectionUpdates` and `sectionReloads` are indices in the data after the batch, and are
/// applied after it has ended.
@frozen
public struct ListBatch: Hashable, Sendable {
  @frozen
  public struct Move: Hashable, Sendable {
    public var from: ListIndex
    public var to: ListIndex

    @inlinable
    public init(from: ListIndex, to: ListIndex) {
      self.from = from
      self.to = to
    }
  }

  @frozen
  public struct SectionMove: Hashable, Sendable {
    public var from: Int
    public var to: Int

    @inlinable
    public init(from: Int, to: Int) {
      self.from = from
      self.to = to
    }
  }

  /// The sections to delete. Descending.
  public var sectionDeletions: [Int] = []
  /// The items to delete. Descending.
  public var deletions: [ListIndex] = []
  /// The items, by their indices before the batch, whose cells are replaced by new ones. Ascending.
  public var reloads: [ListIndex] = []
  /// The sections to insert. Ascending.
  public var sectionInsertions: [Int] = []
  /// The sections to move. Ascending by `to`.
  public var sectionMoves: [SectionMove] = []
  /// The items to insert. Ascending.
  public var insertions: [ListIndex] = []
  /// The items to move. Ascending by `to`.
  public var moves: [Move] = []
  /// The items, by their indices after the batch, whose cells stay and are given new content. Ascending.
  public var reconfigures: [ListIndex] = []
  /// The sections, by their indices after the batch, whose headers are given new content. Ascending.
  public var sectionUpdates: [Int] = []
  /// The sections, by their indices after the batch, to reload in a separate batch. Ascending.
  public var sectionReloads: [Int] = []

  @inlinable public init() {}

  @inlinable
  public var isEmpty: Bool {
    !hasOperations && reconfigures.isEmpty && sectionUpdates.isEmpty && sectionReloads.isEmpty
  }

  /// Whether there is any operation to perform inside `performBatchUpdates`.
  @inlinable
  public var hasOperations: Bool {
    !(sectionDeletions.isEmpty && deletions.isEmpty && reloads.isEmpty && sectionInsertions.isEmpty
      && sectionMoves.isEmpty && insertions.isEmpty && moves.isEmpty)
  }

  @usableFromInline
  mutating func sort() {
    sectionDeletions.sort(by: >)
    deletions.sort(by: >)
    reloads.sort()
    sectionInsertions.sort()
    sectionMoves.sort { $0.to < $1.to }
    insertions.sort()
    moves.sort { $0.to < $1.to }
    reconfigures.sort()
    sectionUpdates.sort()
    sectionReloads.sort()
  }
}

/// How the cell of an item that stays is updated when its row changed.
public enum ListContentStyle: Hashable, Sendable {
  /// The cell stays and is given the new content.
  case reconfigure
  /// The cell is replaced by a new one. A cell that moves is always reconfigured.
  case reload
}
