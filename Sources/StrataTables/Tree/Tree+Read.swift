// Looking up by key and by rank.
//
// Lent bytes belong to pages of the tree, which is held until the call returns.

extension Tree {
  /// Lends the value of a key to the body, nil if the tree does not have the key. O(log n).
  @inlinable
  package func withValue<Result, Failure: Error>(
    of key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let reads = PageReads()
    let root = self.root
    defer {
      withExtendedLifetime(reads) {}
      withExtendedLifetime(root) {}
    }
    return try body(unownedValue(of: key))
  }

  /// The value of a key. Valid as long as the root is held, during the caller's `PageReads`.
  @usableFromInline
  func unownedValue(of key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let root else { return nil }
    return withExtendedLifetime(root) {
      let run = ByteRun(key)
      var page = PageRef(root).loaded
      while !page.isLeaf {
        let child = page.link(page.childIndex(run))
        child.prefetch()
        page = child.loaded
      }
      let slot = page.find(run)
      return slot.isFound ? page.value(slot.index) : nil
    }
  }

  /// Whether the tree has the key. O(log n).
  package func contains(_ key: UnsafeRawBufferPointer) -> Bool { withValue(of: key) { $0 != nil } }

  /// The number of keys less than `key`, and whether the tree has `key`. O(log n).
  package func rank(of key: UnsafeRawBufferPointer) -> (rank: Int, isFound: Bool) {
    guard let root else { return (0, false) }
    return PageReads.of(root) {
      let run = ByteRun(key)
      var page = PageRef(root).loaded
      var rank = 0
      while !page.isLeaf {
        let index = page.childIndex(run)
        let counts = page.counts
        for before in 0..<index { rank &+= Int(counts[before]) }
        let child = page.link(index)
        child.prefetch()
        page = child.loaded
      }
      let slot = page.find(run)
      assert(rank + slot.index <= count, "a rank is above the number of entries")
      return (rank + slot.index, slot.isFound)
    }
  }

  /// The ranks of the keys that begin with a prefix. O(log n).
  package func ranks(withPrefix prefix: UnsafeRawBufferPointer) -> Range<Int> {
    let start = rank(of: prefix).rank
    guard let last = prefix.lastIndex(where: { $0 != 0xFF }) else { return start..<count }
    // The first key after all of them: the last byte that is not FF is incremented, and the bytes after it are dropped.
    var end = Array(prefix[...last])
    end[last] += 1
    return start..<end.withUnsafeBytes { rank(of: $0).rank }
  }

  /// Lends the entry with `rank` keys before it. O(log n).
  @inlinable
  package func withEntry<Result, Failure: Error>(
    at rank: Int,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var scan = TreeScan(self, rank..<rank + 1)
    let entry = scan.next()!
    return try body(entry.key, entry.value)
  }

  /// Lends the entries of a range of ranks in ascending order. O(log n + range).
  @inlinable
  package func forEach<Failure: Error>(
    in ranks: Range<Int>,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    var scan = TreeScan(self, ranks)
    while let entry = scan.next() { try body(entry.key, entry.value) }
  }
}
