// The checksums: CRC32C of stored bytes, XXH64 of logical ones.

internal import CStrata

/// CRC32C (Castagnoli), computed in hardware where the processor supports it.
package enum CRC32C {
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    strata_crc32c(0, bytes.baseAddress, bytes.count)
  }

  /// Returns the checksum of bytes with the four bytes at `hole` taken as zero, for a header that contains its own
  /// checksum.
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

extension CRC32C {
  /// A checksum of bytes that are added in parts.
  package struct Running {
    package private(set) var value: UInt32 = 0

    package init() {}

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
      value = strata_crc32c(value, bytes.baseAddress, bytes.count)
    }
  }
}
