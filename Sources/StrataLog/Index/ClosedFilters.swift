// What the indexes of closed segments say without a search: which names and append ids are certainly in none of them.

internal import StrataBase

/// The indexes of all that is before the active tables, taken from the cache in one step.
///
/// A load mostly appends to streams, and with ids, that are in no closed segment. A search of the segments takes a lock
/// and a lookup in the cache for each of them, and this takes one for a whole group. What it does not exclude is searched
/// for as ever.
struct ClosedFilters {
  /// Nil if one of the indexes is not in memory: nothing is excluded then, and a search reads or builds it.
  private let indexes: [ClosedIndex]?

  init(of index: StoreIndex, below tables: SegmentIndex) {
    let parts = index.parts(below: tables)
    let found = index.closed.withLock { closed in parts.compactMap { closed[$0] } }
    indexes = found.count == parts.count ? found : nil
  }

  /// False if no closed segment has events of a stream.
  ///
  /// - Parameter hash: that of the name.
  func mayContain(stream: UnsafeRawBufferPointer, hash: UInt64) -> Bool {
    guard let indexes else { return true }
    if indexes.isEmpty { return false }
    let keyHash = ClosedIndex.keyHash(ofStream: stream)
    return indexes.contains { index in
      switch index.content {
      case .file(let file): file.mayContain(keyHash)
      case .memory(let tables): tables.revision(of: stream, hash: hash) != nil
      }
    }
  }

  /// False if no append in a closed segment has an id.
  ///
  /// - Parameter hash: that of the id.
  func mayContain(idHash hash: UInt64) -> Bool {
    guard let indexes else { return true }
    return indexes.contains { index in
      switch index.content {
      case .file(let file): file.mayContain(idHash: hash)
      case .memory(let tables): tables.mayContain(idHash: hash)
      }
    }
  }
}
