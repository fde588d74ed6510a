// Times as people write them into documents and filters.

package import StrataDocuments

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

  /// The instant that somebody names: `2026-11-20T18:00+01:00`, and where nothing else is meant also
  /// `2026-11-20 18:00:16.5`, `2026-11-20T18:00`, `2026-11-20`, and `2026-11`, whose first moment it is. Nil for
  /// anything else. O(n).
  ///
  /// Documents are not read so: there a text is a time only where it says of which zone.
  ///
  /// - Parameter moment: the seconds since 1970 at which clocks show a date and time that names no offset, given in
  ///   seconds as if it were UTC. Without it the zone is UTC.
  package static func named(
    _ text: String, moment: (_ wallClock: Int64) -> Int64 = { $0 }
  ) -> Instant? {
    let bytes = Array(text.utf8)
    // Behind the date, which has hyphens of its own.
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
    guard let instant = whole.withUnsafeBufferPointer({ RFC3339.instant($0) }) else { return nil }
    guard offset == nil else { return instant }
    return Instant(seconds: moment(instant.seconds), attoseconds: instant.attoseconds)
  }

  /// The length of `2026-11-20`.
  private static let dateLength = 10
  private static let offsetBegins: [UInt8] = ["Z", "z", "+", "-"].map { UInt8(ascii: $0) }
}
