// Replacing by bytes: `replacing` compares characters, and a quote with an accent after it is another character.

extension String {
  /// The text with other bytes in the place of some, from its beginning on. What is replaced is ASCII, so that it is
  /// found at the beginnings of characters only.
  package func replacingBytes(_ old: StaticString, with new: String) -> String {
    old.withUTF8Buffer { old in
      precondition(!old.isEmpty && old.allSatisfy { $0 < 0x80 }, "what is replaced is ASCII")
      var bytes: [UInt8] = []
      var rest = Array(utf8)[...]
      bytes.reserveCapacity(rest.count)
      while let first = rest.first {
        if rest.starts(with: old) {
          bytes.append(contentsOf: new.utf8)
          rest = rest.dropFirst(old.count)
        } else {
          bytes.append(first)
          rest = rest.dropFirst()
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
