// Bytes as they are written in URLs: percent signs and two digits, as signatures want them.

enum PercentCoding {
  /// The bytes that are written as they are: letters, digits and `-._~`. Every other one gets a percent sign, with digits
  /// in upper case, which is the one form that a signature is right for.
  static func encode(_ bytes: some Sequence<UInt8>, keepingSlashes: Bool = false) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      if isPlain(byte) || keepingSlashes && byte == UInt8(ascii: "/") {
        text.append(byte)
      } else {
        text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text with percent signs; nil if one of them is not followed by two digits.
  ///
  /// - Parameter plusIsSpace: whether a plus sign is a space, as in what a bucket lists.
  static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
    var bytes: [UInt8] = []
    var iterator = text.makeIterator()
    while let byte = iterator.next() {
      if byte == UInt8(ascii: "%") {
        guard let high = iterator.next().flatMap(value), let low = iterator.next().flatMap(value) else {
          return nil
        }
        bytes.append(high << 4 | low)
      } else {
        bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return bytes
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || "-._~".utf8.contains(byte)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension UInt8 {
  /// Of ASCII.
  var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  /// Of ASCII, and neither a space nor a control character.
  var isVisible: Bool { self > 0x20 && self < 0x7F }
}
