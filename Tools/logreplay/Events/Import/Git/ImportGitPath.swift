// Paths of a repository, which are bytes, as text for ids.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// A path, or a part of one, as text that is unique to it.
///
/// A path in UTF-8 is used as it is. A path that is not UTF-8, or that begins with a double quote, is quoted as
/// `git ls-tree` quotes it: in double quotes, with C's escapes, and with three octal digits for every other byte that is
/// not printable ASCII. Plain texts never begin with a double quote and quoted ones always do, so two paths never have
/// the same text.
///
/// An id is the text. A text of more than 1,019 bytes, or one that looks like a shortened one, is shortened in ids to its
/// first bytes (at most 1,002, whole characters), `~`, and the XXH64 of the whole text in 16 hex digits.
struct ImportGitPath: Equatable {
  var text: String
  var isQuoted: Bool

  init(_ bytes: some Collection<UInt8>) {
    if bytes.first != UInt8(ascii: "\""), let text = String(validating: bytes, as: UTF8.self) {
      self.text = text
      isQuoted = false
    } else {
      text = Self.quoted(bytes)
      isQuoted = true
    }
  }

  /// The most bytes of an id, whose stream is `file/` and the id.
  static let idLengthMax = FormatLimits.streamLengthMax - 5
  private static let hashLength = 16

  /// Whether the id is not the text.
  var isShortened: Bool {
    let text = text.utf8
    guard text.count <= Self.idLengthMax else { return true }
    // A shortened text lacks at most three bytes, those of a character that would be cut.
    guard text.count > Self.idLengthMax - 4, let sign = text.dropLast(Self.hashLength).last else {
      return false
    }
    return sign == UInt8(ascii: "~") && text.suffix(Self.hashLength).allSatisfy(GitHash.isDigit)
  }

  var id: String {
    guard isShortened else { return text }
    let whole = Array(text.utf8)
    var kept = Self.idLengthMax - Self.hashLength - 1
    // A byte 10xxxxxx continues a character: the cut moves back to the beginning of that character.
    while kept > 0, whole[kept] & 0xC0 == 0x80 { kept -= 1 }
    return String(decoding: whole[..<kept] + [UInt8(ascii: "~")], as: UTF8.self)
      + String(decoding: ImportSourceName.hex(XXH64.of(whole)), as: UTF8.self)
  }

  private static func quoted(_ bytes: some Collection<UInt8>) -> String {
    var text = "\""
    for byte in bytes {
      if let letter = letters[byte] {
        text += "\\" + letter
      } else if byte < 0x20 || byte >= 0x7F {
        let digits = String(byte, radix: 8)
        text += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
      } else {
        text.unicodeScalars.append(UnicodeScalar(byte))
      }
    }
    return text + "\""
  }

  private static let letters: [UInt8: String] = [
    0x07: "a", 0x08: "b", 0x09: "t", 0x0A: "n", 0x0B: "v", 0x0C: "f", 0x0D: "r", UInt8(ascii: "\""): "\"",
    UInt8(ascii: "\\"): "\\",
  ]
}
