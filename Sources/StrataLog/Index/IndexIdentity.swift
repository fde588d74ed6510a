// What an index file is an index of.

/// The part of a log that an index file covers. A file whose identity is another one is of no use, however
/// whole it is: it may come from another store, or from before a segment was cut or rewritten.
package struct IndexIdentity: Equatable, Sendable {
  /// A store's UUID: its 16 bytes in the file, read as two little-endian numbers.
  package struct StoreUUID: Hashable, Sendable {
    package var first: UInt64
    package var second: UInt64

    package init(first: UInt64, second: UInt64) {
      self.first = first
      self.second = second
    }

    /// - Parameter bytes: the 16 bytes in the order in which they stand in a segment's header.
    package init(_ bytes: UnsafeRawBufferPointer) {
      precondition(bytes.count == 16, "a UUID has 16 bytes")
      self.init(first: bytes.littleEndian(at: 0), second: bytes.littleEndian(at: 8))
    }
  }

  package var store: StoreUUID
  /// The first and the last sequence that the index covers.
  package var firstSequence: UInt64
  package var lastSequence: UInt64
  /// The log's chain after the last sequence.
  package var chain: UInt64

  package init(store: StoreUUID, firstSequence: UInt64, lastSequence: UInt64, chain: UInt64) {
    self.store = store
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
    self.chain = chain
  }
}
