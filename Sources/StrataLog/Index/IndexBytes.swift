// Little-endian numbers, checksums, and immutable memory that threads can share.

internal import CStrata
internal import StrataBase

extension UnsafeRawBufferPointer {
  @inline(__always)
  func littleEndian<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  /// CRC32C of the bytes, continuing that of the preceding bytes.
  func checksum(continuing before: UInt32 = 0) -> UInt32 { strata_crc32c(before, baseAddress, count) }

  /// CRC32C of the first bytes.
  func prefixChecksum(_ length: Int) -> UInt32 {
    UnsafeRawBufferPointer(rebasing: self[..<length]).checksum()
  }

  /// The hash of a key: XXH64 with seed 0.
  package var keyHash: UInt64 { strata_xxh64(baseAddress, count, 0) }
}

extension UnsafeMutableRawBufferPointer {
  @inline(__always)
  func storeLittleEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }
}

extension [UInt8] {
  mutating func appendLittleEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  mutating func append(varint number: UInt64) {
    var left = number
    while left >= 0x80 {
      append(UInt8(truncatingIfNeeded: left) | 0x80)
      left >>= 7
    }
    append(UInt8(left))
  }
}

/// Bytes of a file, read once and never changed, aligned to a cache line.
///
/// Sendable without the compiler's proof: the bytes are written before any other thread gets the object.
final class FileBytes: @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer

  /// Reads `count` bytes at `offset`; nil if the file ends before that. The caller has checked the count against the
  /// file's length.
  init?(_ file: any File, at offset: UInt64, count: Int) throws(StoreError) {
    memory = .allocate(byteCount: count, alignment: 64)
    guard try file.read(into: memory, at: Int64(offset)) == count else { return nil }
  }

  deinit { memory.deallocate() }

  var count: Int { memory.count }

  /// The bytes for as long as the body runs.
  @inline(__always)
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try body(UnsafeRawBufferPointer(memory))
  }
}
