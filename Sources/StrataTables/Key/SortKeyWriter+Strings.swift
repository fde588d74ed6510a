// Strings and bytes as keys: escaped so that they delimit themselves, and folded if the options request it.

internal import StrataBase
internal import StrataDocuments

extension SortKeyWriter {
  /// Appends UTF-8, folded as the current options require.
  @inline(__always)
  mutating func append(utf8: UnsafeRawBufferPointer) {
    if options.isDisjoint(with: [.caseInsensitive, .numeric]) {
      append(escaped: utf8, tag: SortKeyTag.string)
    } else {
      append(folded: utf8)
    }
  }

  /// Appends a tag, the bytes with each zero escaped, and an end mark.
  @inline(__always)
  mutating func append(escaped bytes: UnsafeRawBufferPointer, tag: UInt8) {
    reserve(2 &* bytes.count &+ 3)
    store(tag)
    if bytes.hasZero {
      for byte in bytes {
        store(byte)
        if byte == 0 { store(SortKeyTag.escaped) }
      }
    } else {
      store(bytes)
    }
    store(bigEndian: UInt16(SortKeyTag.end))
  }

  private mutating func append(folded utf8: UnsafeRawBufferPointer) {
    let isNumeric = options.contains(.numeric)
    guard options.contains(.caseInsensitive) else {
      return append(transformed: utf8, lowercasing: false, isNumeric: isNumeric)
    }
    if utf8.isASCII {
      append(transformed: utf8, lowercasing: true, isNumeric: isNumeric)
    } else {
      CaseFolding.folded(utf8).withUnsafeBytes {
        append(transformed: $0, lowercasing: false, isNumeric: isNumeric)
      }
    }
  }

  private mutating func append(
    transformed bytes: UnsafeRawBufferPointer, lowercasing: Bool, isNumeric: Bool
  ) {
    reserve(3 &* bytes.count &+ 3)
    store(SortKeyTag.transformedString)
    var index = 0
    while index < bytes.count {
      var byte = bytes[index]
      if isNumeric, byte.isDigit {
        index = storeDigits(bytes, at: index)
        continue
      }
      if lowercasing { byte = byte.lowercasedASCII }
      store(byte)
      if byte == 0 { store(SortKeyTag.escaped) }
      index &+= 1
    }
    store(bigEndian: UInt16(SortKeyTag.end))
  }

  /// Stores a run of digits as `0`, the number of digits after leading zeros, and those digits. Returns the end of the
  /// run. The number of digits is stored as an 0xFF for each 250 of them, then one byte with the remaining number plus
  /// one: a longer run sorts after a shorter one, and no byte is zero.
  private mutating func storeDigits(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Int {
    var first = start
    while first < bytes.count, bytes[first] == UInt8(ascii: "0") { first &+= 1 }
    var end = first
    while end < bytes.count, bytes[end].isDigit { end &+= 1 }
    assert(end > start, "a run of digits is empty")
    store(UInt8(ascii: "0"))
    var digitCount = end &- first
    while digitCount >= 250 {
      store(0xFF)
      digitCount &-= 250
    }
    store(UInt8(truncatingIfNeeded: digitCount &+ 1))
    store(UnsafeRawBufferPointer(rebasing: bytes[first..<end]))
    return end
  }

  /// Appends an instant, whose seconds must be within `RFC3339.secondsRange`.
  mutating func append(instant: Instant) {
    assert(
      RFC3339.secondsRange.contains(instant.seconds), "an instant is outside the years that keys support")
    reserve(14)
    store(SortKeyTag.instant)
    let seconds = UInt64(bitPattern: instant.seconds &+ SortKeyReader.instantBias)
    store(UInt8(truncatingIfNeeded: seconds >> 32))
    store(bigEndian: UInt32(truncatingIfNeeded: seconds))
    let (nanoseconds, rest) = instant.attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    store(bigEndian: UInt32(truncatingIfNeeded: nanoseconds) << 1 | (rest == 0 ? 0 : 1))
    if rest != 0 { store(bigEndian: UInt32(truncatingIfNeeded: rest)) }
  }
}

extension SortKeyReader {
  /// The offset that is added to an instant's seconds so that they are positive in 40 bits.
  static let instantBias: Int64 = 1 << 39

  /// Reads a string, whole and unchanged.
  mutating func readString() throws(SortKeyError) -> String {
    switch try readByte() {
    case SortKeyTag.string: break
    case SortKeyTag.transformedString: throw .notReversible
    default: throw .malformed
    }
    let bytes = try readEscaped()
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed }
    return text
  }

  /// Reads an instant.
  mutating func readInstant() throws(SortKeyError) -> Instant {
    try expect(SortKeyTag.instant)
    let high = Int64(try readByte())
    let seconds = high << 32 | Int64(try readBigEndian(UInt32.self))
    let fraction = try readBigEndian(UInt32.self)
    let rest = fraction & 1 == 0 ? 0 : try readBigEndian(UInt32.self)
    let isLeap = fraction >> 1 >= 1_000_000_000
    guard fraction >> 1 < 2_000_000_000, rest < 1_000_000_000,
      !isLeap || Instant.endsDay(seconds - Self.instantBias)
    else { throw .malformed }
    return Instant(
      seconds: seconds - Self.instantBias, attoseconds: Int64(fraction >> 1) * 1_000_000_000 + Int64(rest))
  }
}
