// The changes between any two snapshots that are values.

public import StrataLists

extension ListChanges {
  /// The changes that make one snapshot of another: the canonical batch, with as few moves as can be.
  ///
  /// In each section, the items that stay are a longest increasing subsequence of those that both snapshots
  /// have there; all others of them move, and so does every item whose section is another one. The same holds
  /// for the sections. What `new` marks to be reloaded or reconfigured and `old` has too is an update, or a move
  /// that `isChanged`; a mark on what `old` does not have has no effect. Marks of `old` do not count.
  ///
  /// O(1) where one is a copy of the other. Otherwise sections that they share cost nothing, and n items of the
  /// others one comparison each where they begin or end alike, and what is between costs two hashes each and
  /// O(m log m).
  public init(from old: DiffableSnapshot<Section, ItemID>, to new: DiffableSnapshot<Section, ItemID>) {
    self.init()
    if new.marks.isEmpty, old.contents.hasSameStorage(as: new.contents) { return }
    var diff = SnapshotDiff(from: old, to: new)
    diff.run(&self)
  }

  /// The changes between two snapshots of values: a value is the same one where its `id` is, and is updated
  /// where it is not equal to what it was.
  ///
  /// Two snapshots between which nothing is to be shown differently make an empty batch, and others do not: a
  /// value that carries all that a cell shows cannot leave a stale cell. Values marked in `new` are updates too.
  /// - Throws: `duplicateItem` where two values of one snapshot have the same `id`.
  public init<Value: Identifiable & Hashable & Sendable>(
    fromValues old: DiffableSnapshot<Section, Value>, toValues new: DiffableSnapshot<Section, Value>
  ) throws(DiffableSnapshotError) where Value.ID == ItemID {
    self.init()
    if new.marks.isEmpty, old.contents.hasSameStorage(as: new.contents) { return }
    var diff = SnapshotDiff(from: try old.mapItems { $0.id }, to: try new.mapItems { $0.id })
    diff.isChanged = { from, to in
      old.contents[from.section].items[from.item] != new.contents[to.section].items[to.item]
    }
    diff.run(&self)
  }
}

extension Array {
  /// Whether two arrays are the same memory: then they are equal. O(1).
  func hasSameStorage(as other: [Element]) -> Bool {
    guard count == other.count else { return false }
    return withUnsafeBufferPointer { a in
      other.withUnsafeBufferPointer { b in a.isEmpty || a.baseAddress == b.baseAddress }
    }
  }
}
