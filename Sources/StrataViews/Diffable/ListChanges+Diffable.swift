// The changes between two snapshots that are values.

public import StrataLists

extension ListChanges {
  /// The changes from one snapshot to another: the canonical batch, with the fewest moves possible.
  ///
  /// In each section, the items that stay are a longest increasing subsequence of those that both snapshots have in it;
  /// all others of them move, and so does every item whose section is another one. The same holds for the sections. An
  /// item that `new` marks to be reloaded or reconfigured and that `old` has too is an update, or a move that
  /// `isChanged`; a mark on an item that `old` does not have has no effect. Marks of `old` do not count.
  ///
  /// O(1) if one is a copy of the other. Otherwise shared sections cost nothing, and n items of the others one
  /// comparison each where both snapshots have them in the same order; only items for which a few comparisons do not
  /// find the other half cost two hashes each. O(m log m) for m items that are not where they were.
  @inlinable
  public init(from old: DiffableSnapshot<ItemID, Section>, to new: DiffableSnapshot<ItemID, Section>) {
    self.init()
    if new.marks.isEmpty, old.sections.hasSameStorage(as: new.sections) { return }
    var diff = SnapshotDiff(from: old, to: new)
    diff.run(&self)
  }

  /// The changes between two snapshots of values: two values are the same item if their `id` is equal, and the item is
  /// updated if the values are not.
  ///
  /// The batch is empty only if both snapshots show the same: a value that has all that a cell shows cannot leave a
  /// stale cell. Values marked in `new` are updates too.
  /// - Throws: `duplicateItem` if two values of one snapshot have the same `id`.
  @inlinable
  public init<Value: Identifiable & Hashable & Sendable>(
    fromValues old: DiffableSnapshot<Value, Section>, toValues new: DiffableSnapshot<Value, Section>
  ) throws(DiffableSnapshotError) where Value.ID == ItemID {
    self.init()
    if new.marks.isEmpty, old.sections.hasSameStorage(as: new.sections) { return }
    var diff = SnapshotDiff(from: try old.mapItems { $0.id }, to: try new.mapItems { $0.id })
    diff.isChanged = { from, to in
      old.sections[from.section].items[from.item] != new.sections[to.section].items[to.item]
    }
    diff.run(&self)
  }
}

extension DiffableSnapshot {
  /// The changes that make `old` this snapshot, with the fewest moves possible. See ``ListChanges/init(from:to:)``.
  @inlinable
  public func difference(from old: Self) -> ListChanges<ItemID, Section> { ListChanges(from: old, to: self) }
}

extension Array {
  /// Whether two arrays are the same memory, and so equal. O(1).
  @inlinable
  func hasSameStorage(as other: [Element]) -> Bool {
    guard count == other.count else { return false }
    return withUnsafeBufferPointer { a in
      other.withUnsafeBufferPointer { b in a.isEmpty || a.baseAddress == b.baseAddress }
    }
  }
}
