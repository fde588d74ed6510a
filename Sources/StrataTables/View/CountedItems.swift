// A view's items as they are known apart from their tree.

internal import StrataBase

/// The items of a view as they were when it was made, counted and read without making pages of their tree. That is what
/// runs know of a list of the past.
package protocol CountedItems: AnyObject, Sendable {
  /// The items as a tree, as it was made.
  var tree: Tree { get }

  /// The rank of a section's first item, or of where it would be.
  func start(of section: UnsafeRawBufferPointer) -> Int

  /// The section of the item at a rank, which there is.
  func section(at rank: Int) -> [UInt8]

  /// The items at a range of ranks; nil if they are not known, or sooner read from the tree.
  func items(in ranks: Range<Int>) -> CopiedItems?

  /// What `Tree.ranks` says of the items; nil if it is not known.
  func ranks(of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer) -> (ranks: [Int], areAllFound: Bool)?

  /// Whether both are of the same list in one history. There each version of a row has one key, whenever it is looked at.
  func isOfOneHistory(with other: any CountedItems) -> Bool
}

/// Items of a view, one after the other.
package struct CopiedItems {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var lengths: [(section: Int, id: Int)] = []

  package init() {}

  package mutating func append(_ bytes: UnsafeRawBufferPointer, sectionLength: Int, idLength: Int) {
    self.bytes.append(contentsOf: bytes)
    ends.append(self.bytes.count)
    lengths.append((sectionLength, idLength))
  }

  /// Lends the first item, which there is.
  func first<Result, Failure: Error>(_ body: (ItemKey) throws(Failure) -> Result) throws(Failure) -> Result {
    try bytes.lendBytes { (bytes) throws(Failure) in
      try body(
        ItemKey(
          bytes: UnsafeRawBufferPointer(rebasing: bytes[..<ends[0]]), sectionLength: lengths[0].section,
          idLength: lengths[0].id))
    }
  }

  func forEach<Failure: Error>(_ body: (ItemKey) throws(Failure) -> Void) throws(Failure) {
    try bytes.lendBytes { (bytes) throws(Failure) in
      var start = 0
      for index in ends.indices {
        try body(
          ItemKey(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<ends[index]]),
            sectionLength: lengths[index].section, idLength: lengths[index].id))
        start = ends[index]
      }
    }
  }
}

extension View {
  /// The items as runs have them, if they are as they were when the view was made.
  var knownItems: (any CountedItems)? {
    guard let past, past.tree.isIdentical(to: items) else { return nil }
    return past
  }

  /// The number of items before each of some keys, which lie in one run of bytes, and whether all keys are those of
  /// items. O(k log n).
  package func ranks(
    of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer
  ) -> (ranks: [Int], areAllFound: Bool) {
    if let ranks = knownItems?.ranks(of: keys, in: bytes) { return ranks }
    return items.ranks(of: keys, in: bytes)
  }

  /// Whether a key is that of an item. O(log n).
  package func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    knownItems?.ranks(of: [0..<key.count], in: key)?.areAllFound ?? items.contains(key)
  }

  /// The number of items before a key.
  package func rank(of key: UnsafeRawBufferPointer) -> Int {
    if let found = knownItems?.ranks(of: [0..<key.count], in: key) { return found.ranks[0] }
    return items.rank(of: key).rank
  }
}
