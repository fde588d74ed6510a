// The chain of hashes that links each event to all events before it.

internal import CStrata

/// One link of the chain that runs over the logical content of all events.
package enum Chain {
  /// The algorithm's id in the segment header.
  package static let algorithm: UInt8 = 1

  /// Returns chain(n), from chain(n − 1) and the hashes of event n. Hashes 48 bytes.
  @inline(__always)
  package static func next(
    after previous: UInt64, sequence: UInt64, revision: UInt64, head: UInt64, names: UInt64, content: UInt64
  ) -> UInt64 {
    var fields = (
      previous.littleEndian, sequence.littleEndian, revision.littleEndian, head.littleEndian,
      names.littleEndian, content.littleEndian
    )
    return withUnsafeBytes(of: &fields) { strata_xxh64($0.baseAddress, 48, 0) }
  }

  /// Returns the mark of erasures with one more sequence, as `ErasureMark` folds them. Hashes 16 bytes.
  static func next(erased sequence: UInt64, after mark: UInt64) -> UInt64 {
    var fields = (mark.littleEndian, sequence.littleEndian)
    return withUnsafeBytes(of: &fields) { strata_xxh64($0.baseAddress, 16, 0) }
  }
}
