// Times as people write them into documents and filters.

package import StrataEvents

/// RFC 3339 with one liberty: the seconds may be left out, as in `2026-11-20T18:00+01:00`.
package enum InstantText {
  /// The instant that the text says, nil for anything else. O(n), and nothing is allocated.
  package static func instant(_ text: UnsafeRawBufferPointer) -> Instant? {
    // A time begins with a digit and has a colon in the middle.
    guard text.count >= 17, text[0].isDigit, text[13] == UInt8(ascii: ":") else { return nil }
    if text[16] == UInt8(ascii: ":") {
      return text.withMemoryRebound(to: UInt8.self) { RFC3339.instant($0) }
    }
    // `2026-11-20T18:00+01:00` is the longest.
    guard text.count <= 22 else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { whole in
      let seconds: StaticString = ":00"
      for index in 0..<16 { whole[index] = text[index] }
      for index in 0..<3 { whole[16 + index] = seconds.utf8Start[index] }
      for index in 16..<text.count { whole[index + 3] = text[index] }
      return RFC3339.instant(UnsafeBufferPointer(rebasing: whole[..<(text.count + 3)]))
    }
  }
}
