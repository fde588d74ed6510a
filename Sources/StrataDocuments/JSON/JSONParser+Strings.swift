// The parsing of strings in JSON text: eight bytes at a time up to the quote, and in pieces after the first backslash.

extension JSONParser {
  /// Reads a string. The next byte is its opening quote.
  mutating func parseString() throws(Failure) -> String {
    let start = offset
    offset &+= 1
    let first = offset
    skipPlainBytes()
    guard offset < end else { throw unexpected() }
    if base[offset] == UInt8(ascii: "\"") {
      let text = try makeString(UnsafeBufferPointer(start: base + first, count: offset - first), at: start)
      offset &+= 1
      return text
    }
    return try parseEscapedString(from: first, at: start)
  }

  /// Moves to the next quote, backslash or control character, or to the end.
  @inline(__always)
  mutating func skipPlainBytes() {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    while offset &+ 8 <= end {
      let word = UInt64(
        littleEndian: UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self))
      let quotes = word ^ (ones &* 0x22)
      let slashes = word ^ (ones &* 0x5C)
      let found =
        ((word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes) & tops
      if found != 0 {
        // The lowest bit found is exact, since a borrow can affect only the bytes above it.
        offset &+= found.trailingZeroBitCount >> 3
        return
      }
      offset &+= 8
    }
    while offset < end {
      let byte = base[offset]
      if byte == 0x22 || byte == 0x5C || byte < 0x20 { return }
      offset &+= 1
    }
  }

  private func makeString(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) throws(Failure) -> String {
    guard let text = String(validatingBytes: bytes) else {
      throw Failure(reason: .notUTF8, offset: start)
    }
    return text
  }

  private mutating func parseEscapedString(from first: Int, at start: Int) throws(Failure) -> String {
    var bytes = Array(UnsafeBufferPointer(start: base + first, count: offset - first))
    while true {
      guard offset < end else { throw unexpected() }
      switch base[offset] {
      case UInt8(ascii: "\""):
        offset &+= 1
        let text = bytes.withUnsafeBufferPointer { String(validatingBytes: $0) }
        guard let text else { throw Failure(reason: .notUTF8, offset: start) }
        return text
      case UInt8(ascii: "\\"):
        try parseEscape(into: &bytes)
      case let byte where byte < 0x20:
        throw Failure(reason: .controlCharacter(byte), offset: offset)
      default:
        let plain = offset
        skipPlainBytes()
        bytes += UnsafeBufferPointer(start: base + plain, count: offset - plain)
      }
    }
  }

  private mutating func parseEscape(into bytes: inout [UInt8]) throws(Failure) {
    let start = offset
    guard offset + 1 < end else { throw Failure(reason: .truncated, offset: end) }
    let letter = base[offset + 1]
    offset += 2
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(letter)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "u"):
      var code = try parseFourDigits(at: start)
      if code & 0xFC00 == 0xD800 {
        guard offset + 1 < end, base[offset] == UInt8(ascii: "\\"), base[offset + 1] == UInt8(ascii: "u")
        else {
          throw Failure(reason: .loneSurrogate, offset: start)
        }
        offset += 2
        let low = try parseFourDigits(at: offset - 2)
        guard low & 0xFC00 == 0xDC00 else { throw Failure(reason: .loneSurrogate, offset: start) }
        code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
      }
      guard let scalar = UnicodeScalar(code) else { throw Failure(reason: .loneSurrogate, offset: start) }
      bytes += UTF8.encode(scalar).unsafelyUnwrapped
    default: throw Failure(reason: .invalidEscape, offset: start)
    }
  }

  private mutating func parseFourDigits(at start: Int) throws(Failure) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard offset < end else { throw unexpected() }
      let digit: UInt8
      switch base[offset] {
      case let byte where byte &- UInt8(ascii: "0") <= 9: digit = byte - UInt8(ascii: "0")
      case let byte where (byte | 0x20) &- UInt8(ascii: "a") < 6:
        digit = (byte | 0x20) - UInt8(ascii: "a") + 10
      default: throw Failure(reason: .invalidEscape, offset: start)
      }
      code = code << 4 | UInt32(digit)
      offset += 1
    }
    return code
  }
}
