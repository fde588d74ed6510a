// Texts of errors of applications, which may have any length.

extension String {
  /// This text, or a prefix of it of at most this many UTF-8 bytes and a character that says that more followed.
  func shortened(toUTF8Count limit: Int) -> String {
    utf8.count > limit ? String(decoding: utf8.prefix(limit), as: UTF8.self) + "…" : self
  }

  /// This text, or a prefix of it and a character that says that more followed, in at most this many UTF-8 bytes; empty
  /// if that character alone has more. O(1), and O(limit) if it is shortened.
  func shortened(within limit: Int) -> String {
    guard utf8.count > limit else { return self }
    let mark = "…"
    guard limit >= mark.utf8.count else { return "" }
    var end = utf8.index(startIndex, offsetBy: limit - mark.utf8.count)
    while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(unicodeScalars[..<end]) + mark
  }
}
