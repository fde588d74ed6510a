// Strings as filters compare them: UTF-8 bytes, folded if case is ignored.

internal import StrataBase
internal import StrataTables

/// Comparisons of bytes.
enum FilterText {
  /// Negative, zero or positive; a shorter string comes before its extensions.
  static func order(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, ignoresCase: Bool
  ) -> Int {
    guard ignoresCase else { return a.order(b) }
    guard a.isASCII, b.isASCII else { return withFolded(a, b) { $0.order($1) } }
    for index in 0..<min(a.count, b.count) {
      let (x, y) = (lowercased(a[index]), lowercased(b[index]))
      if x != y { return Int(x) - Int(y) }
    }
    return a.count - b.count
  }

  static func begins(_ text: UnsafeRawBufferPointer, with part: UnsafeRawBufferPointer) -> Bool {
    text.count >= part.count && UnsafeRawBufferPointer(rebasing: text[..<part.count]).hasSameBytes(as: part)
  }

  static func ends(_ text: UnsafeRawBufferPointer, with part: UnsafeRawBufferPointer) -> Bool {
    text.count >= part.count
      && UnsafeRawBufferPointer(rebasing: text[(text.count - part.count)...]).hasSameBytes(as: part)
  }

  /// Whether a part occurs anywhere. O(text · part) in the worst case, O(text) for typical text.
  static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    guard let first = part.first else { return true }
    guard text.count >= part.count else { return false }
    for start in 0...(text.count - part.count) {
      guard text[start] == first else { continue }
      if UnsafeRawBufferPointer(rebasing: text[start..<start + part.count]).hasSameBytes(as: part) {
        return true
      }
    }
    return false
  }

  /// Calls the body with both strings folded. ASCII is lowercased byte by byte; if either string has any other
  /// character, both are folded by Unicode's table (the Kelvin sign folds to ASCII's k).
  static func withFolded<Result>(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
  ) -> Result {
    guard a.isASCII, b.isASCII else {
      return CaseFolding.folded(a).withUnsafeBytes { a in
        CaseFolding.folded(b).withUnsafeBytes { b in body(a, b) }
      }
    }
    return withLowered(a) { a in withLowered(b) { b in body(a, b) } }
  }

  private static func withLowered<Result>(
    _ ascii: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(byteCount: max(ascii.count, 1), alignment: 1) { copy in
      for index in 0..<ascii.count { copy[index] = lowercased(ascii[index]) }
      return body(UnsafeRawBufferPointer(rebasing: copy[..<ascii.count]))
    }
  }

  @inline(__always)
  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}
