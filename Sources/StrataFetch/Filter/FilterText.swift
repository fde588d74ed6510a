// Strings as filters compare them: UTF-8 bytes, folded where case is ignored.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif
internal import StrataTables

/// Comparisons of bytes.
enum FilterText {
  /// Negative, zero or positive; a shorter string before its extensions.
  static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let common = min(a.count, b.count)
    if common > 0, let first = a.baseAddress, let second = b.baseAddress {
      let order = memcmp(first, second, common)
      if order != 0 { return Int(order) }
    }
    return a.count - b.count
  }

  static func order(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, ignoresCase: Bool
  ) -> Int {
    guard ignoresCase else { return order(a, b) }
    guard a.isASCII, b.isASCII else { return withFolded(a, b) { order($0, $1) } }
    for index in 0..<min(a.count, b.count) {
      let (x, y) = (lowercased(a[index]), lowercased(b[index]))
      if x != y { return Int(x) - Int(y) }
    }
    return a.count - b.count
  }

  static func begins(_ text: UnsafeRawBufferPointer, with part: UnsafeRawBufferPointer) -> Bool {
    text.count >= part.count && order(UnsafeRawBufferPointer(rebasing: text[..<part.count]), part) == 0
  }

  static func ends(_ text: UnsafeRawBufferPointer, with part: UnsafeRawBufferPointer) -> Bool {
    text.count >= part.count
      && order(UnsafeRawBufferPointer(rebasing: text[(text.count - part.count)...]), part) == 0
  }

  /// Whether a part occurs anywhere. O(text · part) at worst, O(text) for what people write.
  static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer) -> Bool {
    guard let first = part.first, let wanted = part.baseAddress, let base = text.baseAddress else {
      return part.isEmpty
    }
    guard text.count >= part.count else { return false }
    for start in 0...(text.count - part.count) {
      guard base.load(fromByteOffset: start, as: UInt8.self) == first else { continue }
      if memcmp(base + start, wanted, part.count) == 0 { return true }
    }
    return false
  }

  /// Calls the body with both strings in lower case. ASCII is lowered byte by byte; where either is anything
  /// else, both are lowered by Unicode's full mapping (the Kelvin sign's lower case is ASCII's k).
  static func withFolded<Result>(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
  ) -> Result {
    guard a.isASCII, b.isASCII else {
      var foldedA = String(decoding: a, as: UTF8.self).lowercased()
      var foldedB = String(decoding: b, as: UTF8.self).lowercased()
      return foldedA.withUTF8 { a in
        foldedB.withUTF8 { b in body(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b)) }
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
