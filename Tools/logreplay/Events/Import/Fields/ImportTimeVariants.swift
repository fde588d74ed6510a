// Times as databases and programs write them, that are nearly RFC 3339.

internal import LogreplayPoints
internal import StrataDocuments

/// The reading of times in these forms, besides RFC 3339 itself:
///
/// - `2026-11-20 18:17:16`, `2026-11-20T18:17:16.5` and `2026-11-20`, if there is a zone for them;
/// - offsets as `+01`, `+0100`, ` +0100`, ` +01:00`, ` UTC`, ` GMT`, ` Z`.
enum ImportTimeVariants {
  /// The nanoseconds since 1970; nil if a text is in none of these forms, or outside the range.
  static func nanoseconds(_ text: UnsafeRawBufferPointer, zone: Zone?) -> Int64? {
    guard text.count >= 10, text.count <= 64 else { return nil }
    var date = Array(text.prefix(19))
    var rest = text.dropFirst(19)
    if text.count == 10 { date += Array("T00:00:00".utf8) }
    guard date.count == 19 else { return nil }
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst().prefix { $0 &- UInt8(ascii: "0") <= 9 }
      date += rest[rest.startIndex..<fraction.endIndex]
      rest = rest[fraction.endIndex...]
    }
    if rest.isEmpty {
      guard let zone else { return nil }
      return nanoseconds(date + [UInt8(ascii: "Z")]) { zone.moment(ofWallClock: $0).seconds }
    }
    if rest.first == 0x20 { rest = rest.dropFirst() }
    guard let offset = offset(rest) else { return nil }
    return nanoseconds(date + offset) { $0 }
  }

  /// The seconds that an offset in one of these forms is ahead of UTC; nil if a text is none.
  static func seconds(ofOffset text: String) -> Int? {
    let time = Array("1970-01-02T00:00:00".utf8)
    let nanoseconds = Array(text.utf8).withUnsafeBytes { text in
      offset(text[...]).flatMap { Self.nanoseconds(time + $0) { $0 } }
    }
    return nanoseconds.map { Int(86_400 - $0 / 1_000_000_000) }
  }

  /// An offset as RFC 3339 writes it.
  private static func offset(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    let bytes = Array(text)
    if ["UTC", "GMT", "Z"].contains(where: { $0.utf8.elementsEqual(bytes) }) { return [UInt8(ascii: "Z")] }
    guard let sign = bytes.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    let zeros = Array("00".utf8)
    let colon = [UInt8(ascii: ":")]
    return switch bytes.count {
    case 3: bytes + colon + zeros
    case 5: Array(bytes[..<3]) + colon + Array(bytes[3...])
    case 6: bytes
    default: nil
    }
  }

  private static func nanoseconds(_ text: [UInt8], moment: (Int64) -> Int64) -> Int64? {
    let instant = text.withUnsafeBufferPointer { text in
      RFC3339.instant(text, moment: moment)
    }
    guard let instant = instant?.onClock else { return nil }
    let sum = Int128(instant.seconds) * 1_000_000_000 + Int128(instant.attoseconds / 1_000_000_000)
    guard let nanoseconds = Int64(exactly: sum), nanoseconds != .min else { return nil }
    return nanoseconds
  }
}
