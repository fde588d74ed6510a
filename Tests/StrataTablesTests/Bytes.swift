// What models and searches do with bytes most, by the C library: the standard library's own are slow in a module that is
// not optimised.

internal import Foundation

extension [UInt8] {
  /// As the standard library has it for any two sequences.
  func lexicographicallyPrecedes(_ other: [UInt8]) -> Bool {
    let order = withUnsafeBytes { bytes in
      other.withUnsafeBytes { other in
        let common = Swift.min(bytes.count, other.count)
        return common == 0 ? 0 : memcmp(bytes.baseAddress!, other.baseAddress!, common)
      }
    }
    return order == 0 ? count < other.count : order < 0
  }

  /// Whether some bytes, at least one, are anywhere in these.
  func contains(bytes other: [UInt8]) -> Bool {
    withUnsafeBytes { bytes in
      other.withUnsafeBytes { other in
        var rest = bytes[...]
        while rest.count >= other.count {
          let candidates = UnsafeRawBufferPointer(rebasing: rest)
          guard let found = memchr(candidates.baseAddress!, Int32(other[0]), rest.count - other.count + 1)
          else { return false }
          if memcmp(found, other.baseAddress!, other.count) == 0 { return true }
          rest = rest[(rest.startIndex + (UnsafeRawPointer(found) - candidates.baseAddress!) + 1)...]
        }
        return false
      }
    }
  }
}
