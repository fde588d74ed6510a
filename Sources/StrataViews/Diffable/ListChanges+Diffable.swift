// The changes between two diffable snapshots.

public import StrataLists

extension ListChanges {
  /// The changes from one snapshot to another: the canonical batch, with the fewest moves possible.
  ///
  /// Of the items that both snapshots have in a section, a longest increasing subsequence stays and the others move. An
  /// item whose section changed moves, too. The same holds for the order of the sections. An item of both snapshots
  /// that `new` marks to be reloaded or reconfigured is an update, or a move with `isChanged`. A mark on an item that
  /// `old` does not have has no effect. Marks of `old` do not count.
  ///
  /// O(1) if one snapshot is a copy of the other and `new` has no marks. Otherwise, sections that share their memory
  /// cost nothing, and in the others, items that are in the same order in both snapshots cost one comparison each. Only
  /// an item whose counterpart a few comparisons do not find costs two hashes. O(m log m) for m items whose position
  /// changed.
  @inlinable
  public init(from old: DiffableSnapshot<ItemID, Section>, to new: DiffableSnapshot<ItemID, Section>) {
    self.init()
    if new.marks.isEmpty, old.sections.hasSameStorage(as: new.sections) { return }
    var diff = SnapshotDiff(from: old, to: new)
    diff.run(&self)
  }
}

extension DiffableSnapshot {
  /// The changes that turn `old` into this snapshot, with the fewest moves possible. See
  /// ``StrataLists/ListChanges/init(from:to:)``.
  @inlinable
  public func difference(from old: Self) -> ListChanges<ItemID, Section> { ListChanges(from: old, to: self) }
}

extension Array {
  /// Whether two arrays share their memory, and are therefore equal. O(1).
  @inlinable
  func hasSameStorage(as other: [Element]) -> Bool {
    guard count == other.count else { return false }
    return withUnsafeBufferPointer { a in
      other.withUnsafeBufferPointer { b in a.isEmpty || a.baseAddress == b.baseAddress }
    }
  }
}
