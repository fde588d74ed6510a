// Base 64 with padding (RFC 4648, section 4), between byte buffers.

package import StrataBase

/// Bytes as text that JSON can hold.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The length of the text of a number of bytes.
  private static func length(of count: Int) -> Int { (count + 2) / 3 * 4 }

  /// Appends the text of bytes, without quotes. O(n).
  package static func append(_ bytes: UnsafeRawBufferPointer, to text: inout RawBuffer) {
    let length = length(of: bytes.count)
    write(bytes, to: text.reserve(length))
    text.count += length
  }

  /// Appends the text of bytes, without quotes. O(n).
  static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
    let length = length(of: bytes.count)
    text += [UInt8](unsafeUninitializedCapacity: length) { target, count in
      guard let base = target.baseAddress else { return }
      bytes.withUnsafeBytes { write($0, to: UnsafeMutableRawPointer(base)) }
      count = length
    }
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) {
    alphabet.withUnsafeBufferPointer { alphabet in
      var (index, written) = (0, 0)
      func put(_ sextet: UInt32) {
        target.storeBytes(of: alphabet[Int(sextet & 0x3F)], toByteOffset: written, as: UInt8.self)
        written += 1
      }
      while index < bytes.count {
        let left = bytes.count - index
        var bits = UInt32(bytes[index]) << 16
        if left > 1 { bits |= UInt32(bytes[index + 1]) << 8 }
        if left > 2 { bits |= UInt32(bytes[index + 2]) }
        put(bits >> 18)
        put(bits >> 12)
        if left > 1 { put(bits >> 6) }
        if left > 2 { put(bits) }
        index += 3
      }
      while written % 4 != 0 {
        target.storeBytes(of: UInt8(ascii: "="), toByteOffset: written, as: UInt8.self)
        written += 1
      }
    }
  }

  /// The bytes of a text; nil if it is not the one text of some bytes: its length is a multiple of four, the padding is
  /// there, and the bits that belong to no byte are zero. O(n).
  package static func decoded(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var index = 0
    while index < text.count {
      let isLast = index + 4 == text.count
      var padding = 0
      if isLast, text[index + 3] == UInt8(ascii: "=") {
        padding = text[index + 2] == UInt8(ascii: "=") ? 2 : 1
      }
      var bits: UInt32 = 0
      for place in 0..<4 {
        guard place < 4 - padding else {
          bits <<= 6
          continue
        }
        guard let sextet = sextet(text[index + place]) else { return nil }
        bits = bits << 6 | sextet
      }
      bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
      if padding < 2 { bytes.append(UInt8(truncatingIfNeeded: bits >> 8)) }
      if padding < 1 { bytes.append(UInt8(truncatingIfNeeded: bits)) }
      let unused: UInt32 = padding == 2 ? 0xFFFF : padding == 1 ? 0xFF : 0
      guard bits & unused == 0 else { return nil }
      index += 4
    }
    return bytes
  }

  private static func sextet(_ character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
