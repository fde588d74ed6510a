// Texts as values of XML attributes.

enum XMLText {
  /// Appends a text in quotes, so that a reader of XML gives it back. Returns false, with a part of it appended, if it has
  /// a character that XML 1.0 cannot have, not even as a reference: most control characters, U+FFFE and U+FFFF.
  static func append(_ text: String, to bytes: inout [UInt8]) -> Bool {
    bytes.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": bytes += "&amp;".utf8
      case "<": bytes += "&lt;".utf8
      case ">": bytes += "&gt;".utf8
      case "\"": bytes += "&quot;".utf8
      // A reader makes spaces of them, and no line feed of a carriage return, unless they are references.
      case "\t": bytes += "&#9;".utf8
      case "\n": bytes += "&#10;".utf8
      case "\r": bytes += "&#13;".utf8
      case "\u{85}": bytes += "&#133;".utf8
      case "\u{2028}": bytes += "&#8232;".utf8
      default:
        guard isCharacter(scalar.value) else { return false }
        bytes += UTF8.encode(scalar)?.map { $0 } ?? []
      }
    }
    bytes.append(UInt8(ascii: "\""))
    return true
  }

  /// Whether XML 1.0 has a character.
  static func isCharacter(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }
}
