// Hashes of git objects as text.

/// What a hash of git is.
package enum GitHash {
  /// The digits of SHA-1; SHA-256 has 64.
  static let lengthMin = 40

  /// Whether the text is a full hash.
  package static func isOne(_ text: some Collection<UInt8>) -> Bool {
    (text.count == lengthMin || text.count == 64) && text.allSatisfy(isDigit)
  }

  package static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
  }
}
