// Straight from CBOR to JSON text, for the CBOR that the text gives back byte by byte. No value is built.

package import StrataBase

/// Writes JSON text that means exactly the given CBOR: reading it as a document, and encoding that, gives the same
/// bytes.
///
/// There is such a text for CBOR in the core deterministic encoding (RFC 8949, 4.2.1) that consists of what JSON has:
/// integers, finite floats, text, true, false, null, arrays, and maps whose keys are text. There is none for byte
/// strings, tags, NaN, infinities and `undefined`, and none for CBOR in any other encoding, as one with longer heads,
/// unordered or duplicate keys, or more than 128 levels. The text is that of `JSONWriter`, except that the members of an
/// object are in the order of CBOR.
package enum JSONTranscoder {
  /// Appends the text. Returns false, and appends nothing, if there is none. O(n).
  package static func append(exactly cbor: UnsafeRawBufferPointer, to text: inout RawBuffer) -> Bool {
    let before = text.count
    var reader = CBORReader(cbor)
    let isExact = (try? item(&reader, depth: 0, to: &text)) ?? false
    if isExact, reader.isAtEnd { return true }
    text.count = before
    return false
  }

  /// Whether the bytes begin with the head of a map.
  package static func isMap(_ cbor: UnsafeRawBufferPointer) -> Bool {
    cbor.first.map { $0 & 0xE0 == CBORMajor.map } ?? false
  }

  /// Appends one item. False as soon as it is none that JSON gives back.
  private static func item(
    _ reader: inout CBORReader, depth: Int, to text: inout RawBuffer
  ) throws(CodecError) -> Bool {
    guard let initial = reader.nextByte else { return false }
    let start = reader.offset
    switch initial & 0xE0 {
    case CBORMajor.unsigned:
      let value = try reader.readArgument()
      guard reader.offset - start == CBORReader.headLength(value) else { return false }
      appendInteger(value, to: &text)
      return true
    case CBORMajor.negative:
      let offset = try reader.readArgument()
      guard reader.offset - start == CBORReader.headLength(offset) else { return false }
      text.append(byte: UInt8(ascii: "-"))
      // −1 − n, whose magnitude may be 2⁶⁴.
      if offset == .max {
        append("18446744073709551616", to: &text)
      } else {
        appendInteger(offset + 1, to: &text)
      }
      return true
    case CBORMajor.text: return try string(&reader, to: &text)
    case CBORMajor.array:
      guard let count = try count(&reader, unit: 1, depth: depth) else { return false }
      text.append(byte: UInt8(ascii: "["))
      for index in 0..<count {
        if index > 0 { text.append(byte: UInt8(ascii: ",")) }
        guard try item(&reader, depth: depth + 1, to: &text) else { return false }
      }
      text.append(byte: UInt8(ascii: "]"))
      return true
    case CBORMajor.map:
      guard let count = try count(&reader, unit: 2, depth: depth) else { return false }
      return try members(count, &reader, depth: depth + 1, to: &text)
    case CBORMajor.tag: return try bigInteger(&reader, to: &text)
    case CBORMajor.simple: return try simple(&reader, to: &text)
    default: return false
    }
  }

  /// The count of a container; nil if its head is not the shortest, or it is nested too deep.
  private static func count(
    _ reader: inout CBORReader, unit: Int, depth: Int
  ) throws(CodecError) -> Int? {
    let start = reader.offset
    guard depth < CodecLimits.depthMax, reader.nextByte.map({ $0 & 0x1F != CBORByte.indefinite }) ?? false
    else {
      return nil
    }
    let count = try reader.readArgument()
    guard reader.offset - start == CBORReader.headLength(count), count <= UInt64(reader.remaining / unit)
    else {
      return nil
    }
    return Int(count)
  }

  /// Appends the members of an object. Keys must ascend by their encoded bytes.
  private static func members(
    _ count: Int, _ reader: inout CBORReader, depth: Int, to text: inout RawBuffer
  ) throws(CodecError) -> Bool {
    text.append(byte: UInt8(ascii: "{"))
    var previous = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    for index in 0..<count {
      if index > 0 { text.append(byte: UInt8(ascii: ",")) }
      let start = reader.offset
      guard reader.nextByte.map({ $0 & 0xE0 == CBORMajor.text }) ?? false, try string(&reader, to: &text)
      else {
        return false
      }
      let key = UnsafeRawBufferPointer(start: reader.base + start, count: reader.offset - start)
        .assumingMemoryBound(to: UInt8.self)
      guard compareBytes(previous, key) < 0 else { return false }
      previous = key
      text.append(byte: UInt8(ascii: ":"))
      guard try item(&reader, depth: depth, to: &text) else { return false }
    }
    text.append(byte: UInt8(ascii: "}"))
    return true
  }

  private static func string(
    _ reader: inout CBORReader, to text: inout RawBuffer
  ) throws(CodecError) -> Bool {
    let start = reader.offset
    guard reader.nextByte.map({ $0 & 0x1F != CBORByte.indefinite }) ?? false else { return false }
    let count = try reader.readArgument()
    guard reader.offset - start == CBORReader.headLength(count), count <= UInt64(reader.remaining) else {
      return false
    }
    let bytes = try reader.readRaw(count: Int(count))
    return appendString(bytes, to: &text)
  }

  /// Appends an integer of more than 64 bits.
  private static func bigInteger(
    _ reader: inout CBORReader, to text: inout RawBuffer
  ) throws(CodecError) -> Bool {
    let start = reader.offset
    try reader.skip()
    let bytes = UnsafeRawBufferPointer(start: reader.base + start, count: reader.offset - start)
    guard CBORReader.isDeterministicDocument(bytes), case .bigInt(let value) = try DocumentValue(cbor: bytes)
    else { return false }
    append(value.description, to: &text)
    return true
  }

  private static func simple(
    _ reader: inout CBORReader, to text: inout RawBuffer
  ) throws(CodecError) -> Bool {
    let start = reader.offset
    switch try reader.readHead() {
    case .null: append("null", to: &text)
    case .bool(true): append("true", to: &text)
    case .bool(false): append("false", to: &text)
    case .float(let value):
      guard value.isFinite, reader.offset - start == floatLength(value) else { return false }
      append(value.description, to: &text)
    default: return false
    }
    return true
  }

  /// The number of bytes of the shortest float that keeps a value, as `CBORWriter` writes it.
  private static func floatLength(_ value: Double) -> Int {
    let single = Float(value)
    guard Double(single) == value else { return 9 }
    return single.halfBits == nil ? 5 : 3
  }
}

// MARK: Text

extension JSONTranscoder {
  /// Appends text that needs no quotes and no escapes.
  @inline(__always)
  package static func append(_ plain: StaticString, to text: inout RawBuffer) {
    text.append(UnsafeRawBufferPointer(start: plain.utf8Start, count: plain.utf8CodeUnitCount))
  }

  @inline(__always)
  package static func append(_ plain: String, to text: inout RawBuffer) {
    plain.withUTF8Bytes { text.append(UnsafeRawBufferPointer($0)) }
  }

  /// Appends a number in decimal digits.
  package static func appendInteger(_ value: UInt64, to text: inout RawBuffer) {
    if value < 10 { return text.append(byte: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value)) }
    var count = 1
    var limit: UInt64 = 10
    while count < 20, value >= limit {
      count &+= 1
      let (next, isTooLarge) = limit.multipliedReportingOverflow(by: 10)
      if isTooLarge { break }
      limit = next
    }
    let digits = text.reserve(count)
    var rest = value
    var index = count
    while index > 0 {
      index &-= 1
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      digits.storeBytes(
        of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit), toByteOffset: index, as: UInt8.self)
      rest = quotient
    }
    text.count += count
  }

  /// Appends a string in quotes. Returns false, with a part of it appended, if the bytes are not UTF-8.
  package static func appendString(_ bytes: UnsafeRawBufferPointer, to text: inout RawBuffer) -> Bool {
    text.append(byte: UInt8(ascii: "\""))
    defer { text.append(byte: UInt8(ascii: "\"")) }
    guard let base = bytes.baseAddress else { return true }
    var plain = 0
    var index = 0
    var isASCII = true
    while true {
      index = skipPlain(base, from: index, count: bytes.count, &isASCII)
      text.append(UnsafeRawBufferPointer(start: base + plain, count: index - plain))
      guard index < bytes.count else { break }
      appendEscape(base.load(fromByteOffset: index, as: UInt8.self), to: &text)
      index += 1
      plain = index
    }
    return isASCII || UTF8Validation.isValid(bytes)
  }

  /// The offset of the next byte that needs an escape, or the end. Notes if there is a byte that is not ASCII.
  @inline(__always)
  private static func skipPlain(
    _ base: UnsafeRawPointer, from first: Int, count: Int, _ isASCII: inout Bool
  ) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops: UInt64 = 0x8080_8080_8080_8080
    var index = first
    while index &+ 8 <= count {
      let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let (quotes, slashes) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5C))
      let found =
        ((word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes) & tops
      if word & tops != 0 { isASCII = false }
      // The lowest bit found is exact, since a borrow can affect only the bytes above it.
      if found != 0 { return index &+ found.trailingZeroBitCount >> 3 }
      index &+= 8
    }
    while index < count {
      let byte = base.load(fromByteOffset: index, as: UInt8.self)
      if byte == 0x22 || byte == 0x5C || byte < 0x20 { return index }
      if byte >= 0x80 { isASCII = false }
      index &+= 1
    }
    return index
  }

  private static func appendEscape(_ byte: UInt8, to text: inout RawBuffer) {
    text.append(byte: UInt8(ascii: "\\"))
    switch byte {
    case 0x08: text.append(byte: UInt8(ascii: "b"))
    case 0x09: text.append(byte: UInt8(ascii: "t"))
    case 0x0A: text.append(byte: UInt8(ascii: "n"))
    case 0x0C: text.append(byte: UInt8(ascii: "f"))
    case 0x0D: text.append(byte: UInt8(ascii: "r"))
    case 0x00..<0x20:
      append("u00", to: &text)
      appendHex(UInt64(byte), digits: 2, to: &text)
    default: text.append(byte: byte)
    }
  }

  /// Appends a number in lower-case hex digits, with leading zeros.
  package static func appendHex(_ value: UInt64, digits: Int, to text: inout RawBuffer) {
    for place in stride(from: digits - 1, through: 0, by: -1) {
      let digit = UInt8(truncatingIfNeeded: value >> UInt64(4 * place)) & 0xF
      text.append(byte: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}
