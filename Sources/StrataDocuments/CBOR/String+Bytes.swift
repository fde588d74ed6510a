// Strings as UTF-8 bytes: equality, order and hashing without Unicode equivalence.

extension String {
  /// Calls `body` with the UTF-8 bytes, without a copy if they are contiguous in the string.
  @inline(__always)
  func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = self
    return copy.withUTF8(body)
  }

  /// Whether both strings have the same UTF-8 bytes: é as one scalar differs from é as two.
  func hasSameBytes(as other: String) -> Bool {
    withUTF8Bytes { a in other.withUTF8Bytes { b in a.count == b.count && compareBytes(a, b) == 0 } }
  }

  /// Whether the UTF-8 bytes come before the other's.
  func bytesPrecede(_ other: String) -> Bool { comparingBytes(to: other) < 0 }

  /// Compares the UTF-8 bytes: negative, zero or positive if they come before, equal or come after the other's.
  func comparingBytes(to other: String) -> Int {
    withUTF8Bytes { a in other.withUTF8Bytes { b in compareBytes(a, b) } }
  }

  /// Hashes the UTF-8 bytes, and an end mark that does not occur in UTF-8.
  func hashBytes(into hasher: inout Hasher) {
    withUTF8Bytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }

  /// The first eight UTF-8 bytes as a number that sorts as they do, padded with zeros. Strings with different prefixes
  /// are ordered by them; equal prefixes decide nothing.
  @inline(__always)
  var bytePrefix: UInt64 { withUTF8Bytes { prefixBytes($0) } }
}

/// Returns the first eight bytes as a big-endian number, padded with zeros.
@inline(__always)
func prefixBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
  guard let base = bytes.baseAddress else { return 0 }
  if bytes.count >= 8 {
    return UInt64(bigEndian: UnsafeRawPointer(base).loadUnaligned(as: UInt64.self))
  }
  var prefix: UInt64 = 0
  for index in 0..<bytes.count { prefix |= UInt64(base[index]) << UInt64(56 - 8 * index) }
  return prefix
}

/// Compares bytes lexicographically, eight at a time. A string comes before the longer ones that begin with it.
@inline(__always)
func compareBytes(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
  let common = min(a.count, b.count)
  if common > 0, let a = a.baseAddress, let b = b.baseAddress {
    let rawA = UnsafeRawPointer(a)
    let rawB = UnsafeRawPointer(b)
    var index = 0
    while index &+ 8 <= common {
      let wordA = rawA.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let wordB = rawB.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if wordA != wordB { return wordA.bigEndian < wordB.bigEndian ? -1 : 1 }
      index &+= 8
    }
    while index < common {
      if a[index] != b[index] { return a[index] < b[index] ? -1 : 1 }
      index &+= 1
    }
  }
  return a.count - b.count
}
