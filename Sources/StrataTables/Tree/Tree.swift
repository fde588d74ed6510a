// An ordered map from bytes to bytes: the shape that the tables are built on.

/// A counted, persistent, ordered map over byte strings.
package struct Tree: Sendable {
  private var entries: [(key: [UInt8], value: [UInt8])] = []

  package init(pageSize: Int = 4096) {}

  package var count: Int { entries.count }

  private func find(_ key: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool) {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return (low, low < entries.count && entries[low].key.elementsEqual(key))
  }

  /// Lends the value of a key to the body, nil where the tree does not have it. O(log n).
  package func withValue<Result, Failure: Error>(
    of key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let (index, isFound) = find(key)
    guard isFound else { return try body(nil) }
    let value = entries[index].value
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: value.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: value)
    return try body(UnsafeRawBufferPointer(copy))
  }

  /// How many keys are less than `key`, and whether it is there. O(log n).
  package func rank(of key: UnsafeRawBufferPointer) -> (rank: Int, isFound: Bool) {
    let found = find(key)
    return (found.index, found.isFound)
  }

  /// Lends the entry with `rank` keys before it. O(log n).
  package func withEntry<Result, Failure: Error>(
    at rank: Int,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var result: Result?
    try forEach(in: rank..<rank + 1) { (key, value) throws(Failure) in result = try body(key, value) }
    return result!
  }

  /// Lends the entries of a range of ranks in ascending order. O(log n + range).
  package func forEach<Failure: Error>(
    in ranks: Range<Int>,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    for entry in entries[ranks] {
      let copy = UnsafeMutableRawBufferPointer.allocate(
        byteCount: entry.key.count + entry.value.count, alignment: 1)
      defer { copy.deallocate() }
      copy.copyBytes(from: entry.key + entry.value)
      try body(
        UnsafeRawBufferPointer(rebasing: copy[..<entry.key.count]),
        UnsafeRawBufferPointer(rebasing: copy[entry.key.count...]))
    }
  }

  /// Sets the value of a key. True where the key is new.
  @discardableResult
  package mutating func set(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    let (index, isFound) = find(key)
    if isFound {
      entries[index].value = Array(value)
    } else {
      entries.insert((Array(key), Array(value)), at: index)
    }
    return !isFound
  }

  /// Removes a key. False where it was not there.
  @discardableResult
  package mutating func remove(_ key: UnsafeRawBufferPointer) -> Bool {
    let (index, isFound) = find(key)
    if isFound { entries.remove(at: index) }
    return isFound
  }

  /// Builds a tree from entries in strictly ascending order of their keys.
  package struct Builder {
    private var tree: Tree

    package init(pageSize: Int = 4096) { tree = Tree(pageSize: pageSize) }

    package mutating func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
      tree.set(key, value)
    }

    package consuming func finish() -> Tree { tree }
  }

  /// One key whose value is not the same in two trees. Valid only inside the call that lends it.
  package struct Difference {
    package var key: UnsafeRawBufferPointer
    /// Nil where the old tree does not have the key.
    package var oldValue: UnsafeRawBufferPointer?
    /// Nil where the new tree does not have the key.
    package var newValue: UnsafeRawBufferPointer?
    /// How many keys of the old tree are less than `key`.
    package var oldRank: Int
    /// How many keys of the new tree are less than `key`.
    package var newRank: Int
  }

  /// Lends every difference in ascending order of keys. Costs what the two trees do not share.
  package static func forEachDifference<Failure: Error>(
    from old: Tree, to new: Tree, _ body: (Difference) throws(Failure) -> Void
  ) throws(Failure) {
    var i = 0
    var j = 0
    func lend(_ key: [UInt8], _ a: [UInt8]?, _ b: [UInt8]?) throws(Failure) {
      let (oldRank, newRank) = (i, j)
      let copy = UnsafeMutableRawBufferPointer.allocate(
        byteCount: key.count + (a?.count ?? 0) + (b?.count ?? 0), alignment: 1)
      defer { copy.deallocate() }
      copy.copyBytes(from: key + (a ?? []) + (b ?? []))
      let split = key.count + (a?.count ?? 0)
      try body(
        Difference(
          key: .init(rebasing: copy[..<key.count]),
          oldValue: a.map { _ in .init(rebasing: copy[key.count..<split]) },
          newValue: b.map { _ in .init(rebasing: copy[split...]) }, oldRank: oldRank, newRank: newRank))
    }
    while i < old.entries.count || j < new.entries.count {
      if j == new.entries.count
        || (i < old.entries.count && old.entries[i].key.lexicographicallyPrecedes(new.entries[j].key))
      {
        try lend(old.entries[i].key, old.entries[i].value, nil)
        i += 1
      } else if i == old.entries.count
        || new.entries[j].key.lexicographicallyPrecedes(old.entries[i].key)
      {
        try lend(new.entries[j].key, nil, new.entries[j].value)
        j += 1
      } else {
        if old.entries[i].value != new.entries[j].value {
          try lend(old.entries[i].key, old.entries[i].value, new.entries[j].value)
        }
        i += 1
        j += 1
      }
    }
  }
}
