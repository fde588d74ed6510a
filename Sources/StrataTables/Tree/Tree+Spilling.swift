// Leaves that move to a file, so that they need not stay in memory.

internal import StrataBase
internal import StrataLog

extension Tree {
  /// The bytes of the leaves that are in memory only, without those that another tree has too. O(inner pages in memory).
  mutating func ownLeafBytes() -> Int {
    guard isKnownUniquelyReferenced(&root), let root else { return 0 }
    return withExtendedLifetime(root) { PageRef(root).ownLeafBytes() }
  }

  /// The same; nil if another tree has the root too, and with it all leaves.
  mutating func bytesIfOwn() -> Int? {
    root == nil || isKnownUniquelyReferenced(&root) ? ownLeafBytes() : nil
  }

  /// The bytes that the leaves take that are in the files of a lineage. O(pages in memory).
  func byteCount(in lineage: StateLineage) -> UInt64 {
    guard let root else { return 0 }
    return PageReads.of(root) { PageRef(root).byteCount(in: lineage) }
  }

  /// The bytes of the leaves that are in memory only, also of those that others share. O(pages in memory).
  var unstoredLeafBytes: Int {
    guard let root else { return 0 }
    return withExtendedLifetime(root) { PageRef(root).unstoredLeafBytes() }
  }

  /// Hands over each leaf that is in the files of some lineages, also if others share it. Its stub stays, and says where the
  /// leaf is now, once its bytes are there. O(pages in memory), and the bytes of the leaves.
  func moveLeaves(from lineages: [StateLineage], to writer: SpillWriter) throws(StoreError) {
    guard let root else { return }
    defer { withExtendedLifetime(root) {} }
    try PageRef(root).moveLeaves(from: lineages, to: writer)
    try writer.flush()
  }

  /// Hands over each leaf that is in memory only, without those that another tree has too. Stubs take the place of
  /// leaves once their bytes are in the file. O(inner pages in memory), and the bytes of the leaves.
  mutating func spill(to writer: SpillWriter) throws(StoreError) {
    guard isKnownUniquelyReferenced(&root), let root else { return }
    let page = PageRef(root)
    defer { withExtendedLifetime(root) {} }
    try page.spillLeaves(low: nil, high: nil, to: writer)
    try writer.flush()
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

  fileprivate func byteCount(in lineage: StateLineage) -> UInt64 {
    if isLeaf { return isStub ? storedLength(in: lineage) : 0 }
    guard let page = loadedPage else { return 0 }
    return (0..<page.count).reduce(0) { $0 + page.link($1).byteCount(in: lineage) }
  }

  fileprivate func unstoredLeafBytes() -> Int {
    guard !isStub else { return 0 }
    return isLeaf ? allocatedBytes : (0..<count).reduce(0) { $0 + link($1).unstoredLeafBytes() }
  }

  fileprivate func moveLeaves(from lineages: [StateLineage], to writer: SpillWriter) throws(StoreError) {
    if isLeaf {
      guard isStub, lineages.contains(where: { storedLength(in: $0) > 0 }) else { return }
      return try writer.append(moved: self)
    }
    // Inner pages stay in memory, and the pages below one that was never read were never changed.
    guard let page = loadedPage else { return }
    for index in 0..<page.count { try page.link(index).moveLeaves(from: lineages, to: writer) }
  }

  /// - Parameters:
  ///   - low: no key below the page, which only the caller has, is below it.
  ///   - high: every key is below it.
  fileprivate func spillLeaves(low: [UInt8]?, high: [UInt8]?, to writer: SpillWriter) throws(StoreError) {
    guard !isLeaf, !isStub else { return }
    var buffer = KeyBuffer()
    buffer.begin(self)
    for index in 0..<count where isOwn(index) {
      let low = index > 0 ? Array(buffer.separator(self, index - 1).buffer) : low
      let high = index + 1 < count ? Array(buffer.separator(self, index).buffer) : high
      let child = link(index)
      guard child.isLeaf else {
        try child.spillLeaves(low: low, high: high, to: writer)
        continue
      }
      try writer.append(child, index, of: self, low: low, high: high)
    }
  }
}
