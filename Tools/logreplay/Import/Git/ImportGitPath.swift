// Paths of a repository, which are bytes, as text for ids.

/// A path, or a part of one, as text that is unique to it.
///
/// A path in UTF-8 is used as it is. A path that is not UTF-8, or that begins with a double quote, is quoted as
/// `git ls-tree` quotes it: in double quotes, with C's escapes, and with three octal digits for every other byte that is
/// not printable ASCII. Plain texts never begin with a double quote and quoted ones always do, so two paths never have
/// the same text.
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
