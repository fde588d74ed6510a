// Texts of errors of applications, which may have any length.

extension String {
  /// This text, or a prefix of it of at most this many UTF-8 bytes and a character that says that more followed.
  func shortened(toUTF8Count limit: Int) -> String {
    utf8.count > limit ? String(decoding: utf8.prefix(limit), as: UTF8.self) + "…" : self
  }
}
