// Times as people write them into documents and filters.

/// RFC 3339 with one extension: the seconds may be omitted, as in `2026-11-20T18:00+01:00`.
package enum InstantText {
  /// The instant that the text represents, nil for anything else. O(n), without allocations.
  package static func instant(_ text: UnsafeRawBufferPointer) -> Instant? {
    // A time begins with a digit and has a colon in the middle.
    guard text.count >= 17, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[0]),
      text[13] == UInt8(ascii: ":")
    else { return nil }
    if text[16] == UInt8(ascii: ":") {
      return text.withMemoryRebound(to: UInt8.self) { RFC3339.instant($0) }
    }
    // `2026-11-20T18:00+01:00` is the longest text without seconds.
    guard text.count <= 22 else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { whole in
      let seconds: StaticString = ":00"
      for index in 0..<16 { whole[index] = text[index] }
      for index in 0..<3 { whole[16 + index] = seconds.utf8Start[index] }
      for index in 16..<text.count { whole[index + 3] = text[index] }
      return RFC3339.instant(UnsafeBufferPointer(rebasing: whole[..<(text.count + 3)]))
    }
  }

  /// The instant in a text written by a person: `2026-11-20T18:00+01:00`, and without an offset also
  /// `2026-11-20 18:00:16.5`, `2026-11-20T18:00`, `2026-11-20`, and `2026-11`, which is the first moment of the month.
  /// Nil for anything else. O(n).
  ///
  /// Documents are not parsed this way: in a document a text is a time only if it states its offset.
  ///
  /// - Parameter moment: converts a date and time without an offset, given as the seconds since 1970 as if it were in
  ///   UTC, to the seconds since 1970 at which clocks show it. By default the zone is UTC.
  package static func named(
    _ text: String, moment: (_ wallClock: Int64) -> Int64 = { $0 }
  ) -> Instant? {
    let bytes = Array(text.utf8)
    // Searched after the date, which has hyphens of its own.
    let offset = bytes.indices.dropFirst(dateLength).first { offsetBegins.contains(bytes[$0]) }
    let local = bytes[..<(offset ?? bytes.count)]
    let rest: StaticString
    switch local.count {
    case 7 where offset == nil: rest = "-01T00:00:00"
    case dateLength where offset == nil: rest = "T00:00:00"
    case 16: rest = ":00"
    case 19...: rest = ""
    default: return nil
    }
    var whole = Array(local)
    rest.withUTF8Buffer { whole += $0 }
    if let offset { whole += bytes[offset...] } else { whole.append(UInt8(ascii: "Z")) }
    return whole.withUnsafeBufferPointer {
      offset == nil ? RFC3339.instant($0, moment: moment) : RFC3339.instant($0)
    }
  }

  /// The length of `2026-11-20`.
  private static let dateLength = 10
  private static let offsetBegins: [UInt8] = ["Z", "z", "+", "-"].map { UInt8(ascii: $0) }
}
