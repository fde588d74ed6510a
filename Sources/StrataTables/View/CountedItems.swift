// What is known of a view's items apart from their tree.

internal import StrataBase

/// The items of a view as they were when it was made, counted without making pages of their tree. That is what runs know
/// of a list of the past.
protocol CountedItems: AnyObject, Sendable {
  /// The items as a tree, as it was made.
  var tree: Tree { get }

  /// The rank of a section's first item, or of where it would be.
  func start(of section: UnsafeRawBufferPointer) -> Int

  /// What `Tree.ranks` says of the items; nil if it is not known.
  func ranks(of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer) -> (ranks: [Int], areAllFound: Bool)?

  /// Whether both are of the same list in one history. There each version of a row has one key, whenever it is looked at.
  func isOfOneHistory(with other: any CountedItems) -> Bool
}

extension View {
  /// The number of items before each of some keys, which lie in one run of bytes, and whether all keys are those of
  /// items. O(k log n).
  package func ranks(
    of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer
  ) -> (ranks: [Int], areAllFound: Bool) {
    if let past, past.tree.isIdentical(to: items), let ranks = past.ranks(of: keys, in: bytes) {
      return ranks
    }
    return items.ranks(of: keys, in: bytes)
  }

  /// The number of items before a key.
  package func rank(of key: UnsafeRawBufferPointer) -> Int {
    if let past, past.tree.isIdentical(to: items), let found = past.ranks(of: [0..<key.count], in: key) {
      return found.ranks[0]
    }
    return items.rank(of: key).rank
  }
}
