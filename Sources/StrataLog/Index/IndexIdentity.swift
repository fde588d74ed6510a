// The identity of an index file: the part of a log that it covers.

/// The part of a log that an index file covers. A file with another identity is useless, even if intact: it may come
/// from another store, or from before a segment was cut or rewritten.
package struct IndexIdentity: Equatable, Sendable {
  package var store: StoreID
  /// The first and the last sequence that the index covers.
  package var firstSequence: UInt64
  package var lastSequence: UInt64
  /// The log's chain after the last sequence.
  package var chain: UInt64

  package init(store: StoreID, firstSequence: UInt64, lastSequence: UInt64, chain: UInt64) {
    self.store = store
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
    self.chain = chain
  }
}
