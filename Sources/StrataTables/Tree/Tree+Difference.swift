// The differences between two trees.

extension Tree {
  /// One key whose value differs between two trees. Valid only inside the call that lends it.
  @usableFromInline
  package struct Difference {
    package var key: UnsafeRawBufferPointer
    /// The value in the old tree, nil if it does not have the key.
    package var oldValue: UnsafeRawBufferPointer?
    /// The value in the new tree, nil if it does not have the key.
    package var newValue: UnsafeRawBufferPointer?
    /// The number of keys in the old tree that are less than `key`.
    package var oldRank: Int
    /// The number of keys in the new tree that are less than `key`.
    package var newRank: Int

    @usableFromInline
    init(
      key: UnsafeRawBufferPointer, oldValue: UnsafeRawBufferPointer?, newValue: UnsafeRawBufferPointer?,
      oldRank: Int, newRank: Int
    ) {
      self.key = key
      self.oldValue = oldValue
      self.newValue = newValue
      self.oldRank = oldRank
      self.newRank = newRank
    }
  }

  /// Lends every difference in ascending order of keys.
  ///
  /// Costs what the two trees do not share: shared pages are skipped with everything below them. O(n + m) for trees
  /// that share nothing.
  @inlinable
  package static func forEachDifference<Failure: Error>(
    from old: Tree, to new: Tree, _ body: (Difference) throws(Failure) -> Void
  ) throws(Failure) {
    var failure: Failure?
    walkDifferences(from: old, to: new) { difference in
      do throws(Failure) {
        try body(difference)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  /// - Parameter body: returns false to end the walk.
  @usableFromInline
  static func walkDifferences(from old: Tree, to new: Tree, _ body: (Difference) -> Bool) {
    let roots = (old.root, new.root)
    guard roots.0 !== roots.1 else { return }
    // Held to the end: the walk keeps references to leaves.
    let reads = PageReads()
    defer { withExtendedLifetime(reads) {} }
    withExtendedLifetime(roots) {
      var walk = DifferenceWalk()
      let isAtEnd = walk.run(roots.0.map { PageRef($0) }, roots.1.map { PageRef($0) }, body)
      let ranks = (walk.oldRank, walk.newRank)
      assert(!isAtEnd || ranks == (old.count, new.count), "a walk through two trees left out some entries")
    }
  }
}
