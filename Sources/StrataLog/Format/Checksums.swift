// CRC32C over stored bytes and XXH64 over logical ones.

internal import CStrata

/// CRC32C (Castagnoli), in hardware where there is any.
package enum CRC32C {
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    strata_crc32c(0, bytes.baseAddress, bytes.count)
  }

  /// The checksum of bytes in which the four at `hole` count as zero, for a header that holds its own.
  package static func of(_ bytes: UnsafeRawBufferPointer, zeroing hole: Int) -> UInt32 {
    var zeros: UInt32 = 0
    var crc = strata_crc32c(0, bytes.baseAddress, hole)
    crc = strata_crc32c(crc, &zeros, 4)
    guard let start = bytes.baseAddress else { return crc }
    return strata_crc32c(crc, start + hole + 4, bytes.count - hole - 4)
  }
}

/// XXH64 with seed 0: the hash of the chain, and of keys in the indexes.
package enum XXH64 {
  @inline(__always)
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    strata_xxh64(bytes.baseAddress, bytes.count, 0)
  }

  package static func of(_ bytes: [UInt8]) -> UInt64 {
    bytes.withUnsafeBytes { of($0) }
  }
}

/// One link of the chain that runs over the logical content of all events.
package enum Chain {
  /// The algorithm's id in the segment header.
  package static let algorithm: UInt8 = 1

  /// chain(n) from chain(n − 1) and the hashes of what event n says. 48 bytes are hashed.
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

  /// The mark of erasures with one more sequence, as `ErasureMark` folds them. 16 bytes are hashed.
  static func next(erased sequence: UInt64, after mark: UInt64) -> UInt64 {
    var fields = (mark.littleEndian, sequence.littleEndian)
    return withUnsafeBytes(of: &fields) { strata_xxh64($0.baseAddress, 16, 0) }
  }
}

extension CRC32C {
  /// A checksum over bytes that come in parts.
  package struct Running {
    package private(set) var value: UInt32 = 0

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
      value = strata_crc32c(value, bytes.baseAddress, bytes.count)
    }
  }
}
