// Append ids that are texts of records.

internal import StrataBase
internal import StrataLog

/// The append id for a text: its bytes, if there are at most 64 of them. A longer text, or one that looks like a shortened
/// one, is shortened to its first bytes (at most 47, whole characters), `~`, and the XXH64 of all of it in 16 hex digits.
///
/// Two texts with one id are noticed: the second append has other content, and is refused.
enum ImportAppendID {
  private static let hashLength = 16

  static func of(_ text: [UInt8]) -> [UInt8] {
    guard text.count > FormatLimits.appendIDLengthMax || looksShortened(text) else { return text }
    var kept = min(FormatLimits.appendIDLengthMax - hashLength - 1, text.count)
    // A byte 10xxxxxx continues a character: the cut moves back to the beginning of that character.
    while kept > 0, kept < text.count, text[kept] & 0xC0 == 0x80 { kept -= 1 }
    return text.prefix(kept) + [UInt8(ascii: "~")] + ImportSourceName.hex(XXH64.of(text))
  }

  private static func looksShortened(_ text: [UInt8]) -> Bool {
    guard text.count > hashLength, text[text.count - hashLength - 1] == UInt8(ascii: "~") else {
      return false
    }
    return text.suffix(hashLength).allSatisfy { byte in
      byte &- UInt8(ascii: "0") <= 9 || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
  }
}
