// What a list view is told in one batch update, by places alone.

public import StrataLists

/// The arguments of one batch update of a `UICollectionView` or `UITableView`, and what follows it.
///
/// `sectionDeletions`, `deletions`, `reloads` and every `from` count in the data before the batch; insertions and
/// every `to` in the data after it. All of it goes into one `performBatchUpdates`, with the new data set inside;
/// `reconfigures`, `sectionUpdates` and `sectionReloads` count in the data after it and are done when it is over.
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

  /// Descending.
  public var sectionDeletions: [Int] = []
  /// Descending.
  public var deletions: [ListIndex] = []
  /// Places before the batch whose cells are built anew. Ascending.
  public var reloads: [ListIndex] = []
  /// Ascending.
  public var sectionInsertions: [Int] = []
  /// Ascending by `to`.
  public var sectionMoves: [SectionMove] = []
  /// Ascending.
  public var insertions: [ListIndex] = []
  /// Ascending by `to`.
  public var moves: [Move] = []
  /// Places after the batch whose cells stay and are given their content again. Ascending.
  public var reconfigures: [ListIndex] = []
  /// Sections after the batch whose headers are given their content again. Ascending.
  public var sectionUpdates: [Int] = []
  /// Sections after the batch that are built anew, in a batch of their own. Ascending.
  public var sectionReloads: [Int] = []

  @inlinable public init() {}

  @inlinable
  public var isEmpty: Bool {
    !hasOperations && reconfigures.isEmpty && sectionUpdates.isEmpty && sectionReloads.isEmpty
  }

  /// Whether there is anything to say inside `performBatchUpdates`.
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

/// How the cell of an item is shown again whose row changed and that stays.
public enum ListContentStyle: Hashable, Sendable {
  /// The cell stays and is given its content again.
  case reconfigure
  /// Another cell is built. A cell that moves is always reconfigured.
  case reload
}
