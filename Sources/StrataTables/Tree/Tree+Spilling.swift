// Leaves that move to a file, so that they need not stay in memory.

internal import StrataBase

extension Tree {
  /// The bytes of the leaves that are in memory only, without those that another tree has too. O(inner pages in memory).
  package mutating func ownLeafBytes() -> Int {
    guard isKnownUniquelyReferenced(&root), let root else { return 0 }
    return withExtendedLifetime(root) { PageRef(root).ownLeafBytes() }
  }

  /// The same; nil if another tree has the root too, and with it all leaves.
  package mutating func bytesIfOwn() -> Int? {
    root == nil || isKnownUniquelyReferenced(&root) ? ownLeafBytes() : nil
  }

  /// The bytes that the leaves take that are in the files of a lineage. O(pages in memory).
  package func byteCount(in lineage: AnyObject) -> UInt64 {
    guard let root else { return 0 }
    return PageReads.of(root) { PageRef(root).byteCount(in: lineage) }
  }

  /// The bytes of the leaves that are in memory only, also of those that others share. O(pages in memory).
  package var unstoredLeafBytes: Int {
    guard let root else { return 0 }
    return withExtendedLifetime(root) { PageRef(root).unstoredLeafBytes() }
  }

  /// Lends the stub of each leaf that is in the files of some lineages, also if others share it. The tree stays in memory
  /// until the body of the last one has returned. O(pages in memory).
  package func forEachStoredLeaf<Failure: Error>(
    in lineages: [AnyObject], _ body: (_ stub: PageRef) throws(Failure) -> Void
  ) throws(Failure) {
    guard let root else { return }
    defer { withExtendedLifetime(root) {} }
    try PageRef(root).forEachStoredLeaf(in: lineages, body)
  }

  /// A leaf that is in memory only, and that no other tree has.
  package struct OwnLeaf {
    package var leaf: PageRef
    /// The inner page that has it, and at which index.
    package var parent: PageRef
    package var index: Int
    /// No key of the leaf is below it; nil for the first leaf.
    package var low: [UInt8]?
    /// Every key of the leaf is below it; nil for the last leaf.
    package var high: [UInt8]?
  }

  /// Lends each leaf that is in memory only, without those that another tree has too, to a body that may exchange it in
  /// its parent for a stub, now or in a later call. O(inner pages in memory).
  package mutating func forEachOwnLeaf<Failure: Error>(
    _ body: (OwnLeaf) throws(Failure) -> Void
  ) throws(Failure) {
    guard isKnownUniquelyReferenced(&root), let root else { return }
    defer { withExtendedLifetime(root) {} }
    try PageRef(root).forEachOwnLeaf(low: nil, high: nil, body)
  }
}

extension PageRef {
  /// Whether a child of an inner page is in memory only, and only this page has it. A page below a stub was never
  /// changed.
  private func isOwn(_ index: Int) -> Bool { !link(index).isStub && PageRef.isUnique(children + index) }

  /// - Returns: of an inner page that only the caller has.
  fileprivate func ownLeafBytes() -> Int {
    guard !isLeaf, !isStub else { return 0 }
    var bytes = 0
    for index in 0..<count where isOwn(index) {
      let child = link(index)
      bytes += child.isLeaf ? child.allocatedBytes : child.ownLeafBytes()
    }
    return bytes
  }

  fileprivate func byteCount(in lineage: AnyObject) -> UInt64 {
    if isLeaf { return isStub ? storedLength(in: lineage) : 0 }
    guard let page = loadedPage else { return 0 }
    return (0..<page.count).reduce(0) { $0 + page.link($1).byteCount(in: lineage) }
  }

  fileprivate func unstoredLeafBytes() -> Int {
    guard !isStub else { return 0 }
    return isLeaf ? allocatedBytes : (0..<count).reduce(0) { $0 + link($1).unstoredLeafBytes() }
  }

  fileprivate func forEachStoredLeaf<Failure: Error>(
    in lineages: [AnyObject], _ body: (_ stub: PageRef) throws(Failure) -> Void
  ) throws(Failure) {
    if isLeaf {
      guard isStub, lineages.contains(where: { storedLength(in: $0) > 0 }) else { return }
      return try body(self)
    }
    // Inner pages stay in memory, and the pages below one that was never read were never changed.
    guard let page = loadedPage else { return }
    for index in 0..<page.count { try page.link(index).forEachStoredLeaf(in: lineages, body) }
  }

  /// - Parameters:
  ///   - low: no key below the page, which only the caller has, is below it.
  ///   - high: every key is below it.
  fileprivate func forEachOwnLeaf<Failure: Error>(
    low: [UInt8]?, high: [UInt8]?, _ body: (Tree.OwnLeaf) throws(Failure) -> Void
  ) throws(Failure) {
    guard !isLeaf, !isStub else { return }
    var buffer = KeyBuffer()
    buffer.begin(self)
    for index in 0..<count where isOwn(index) {
      let low = index > 0 ? Array(buffer.separator(self, index - 1).buffer) : low
      let high = index + 1 < count ? Array(buffer.separator(self, index).buffer) : high
      let child = link(index)
      guard child.isLeaf else {
        try child.forEachOwnLeaf(low: low, high: high, body)
        continue
      }
      try body(Tree.OwnLeaf(leaf: child, parent: self, index: index, low: low, high: high))
    }
  }
}
