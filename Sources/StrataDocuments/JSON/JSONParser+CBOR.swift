// From JSON text to CBOR in one pass, without a document in between: a third of the time where all is encoded again.

extension CBORWriter {
  /// Writes the object that JSON text contains, as `write(_:)` writes the document that `DocumentValue(json:)` reads.
  ///
  /// - Returns: false if the text is not valid, or no object; nothing was written then, and to read the document says
  ///   why.
  /// - Parameter rounded: set to the column of the first number that is not kept, from 1, and the double that it became.
  package mutating func writeObject(
    json text: UnsafeRawBufferPointer, _ maps: inout CBOROpenMaps,
    rounded: inout (column: Int, value: Double)?
  ) -> Bool {
    let bytes = text.assumingMemoryBound(to: UInt8.self)
    let position = count
    var parser = JSONParser(bytes, noticesRounding: true)
    do throws(JSONParser.Failure) { try parser.transcodeObject(to: &self, &maps) } catch {
      maps.removeAll()
      removeAll(from: position)
      return false
    }
    rounded = parser.firstRounded.map { first in
      (JSONError(.numberOutOfRange, at: first.offset, in: bytes).column, first.value)
    }
    return true
  }
}

extension JSONParser {
  /// Reads a text that is one value.
  mutating func transcodeDocument(
    to writer: inout CBORWriter, _ maps: inout CBOROpenMaps
  ) throws(Failure) {
    skipSpace()
    try transcodeValue(depth: 0, to: &writer, &maps)
    guard writer.count <= encodedLengthMax else {
      throw Failure(reason: .tooLarge(limit: encodedLengthMax), offset: offset)
    }
    skipSpace()
    if offset < end { throw Failure(reason: .trailingBytes, offset: offset) }
  }

  /// Reads a text that is an object.
  fileprivate mutating func transcodeObject(
    to writer: inout CBORWriter, _ maps: inout CBOROpenMaps
  ) throws(Failure) {
    skipSpace()
    guard offset < end, base[offset] == UInt8(ascii: "{") else { throw unexpected() }
    try transcodeMembers(depth: 0, to: &writer, &maps)
    skipSpace()
    if offset < end { throw Failure(reason: .trailingBytes, offset: offset) }
  }

  private mutating func transcodeValue(
    depth: Int, to writer: inout CBORWriter, _ maps: inout CBOROpenMaps
  ) throws(Failure) {
    guard offset < end else { throw unexpected() }
    guard writer.count <= encodedLengthMax else {
      throw Failure(reason: .tooLarge(limit: encodedLengthMax), offset: offset)
    }
    switch base[offset] {
    case UInt8(ascii: "\""): try transcodeString(to: &writer)
    case UInt8(ascii: "{"): try transcodeMembers(depth: depth, to: &writer, &maps)
    case UInt8(ascii: "["): try transcodeElements(depth: depth, to: &writer, &maps)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): writer.write(try parseNumber())
    case UInt8(ascii: "t"): try parseWord("true"); writer.writeBool(true)
    case UInt8(ascii: "f"): try parseWord("false"); writer.writeBool(false)
    case UInt8(ascii: "n"): try parseWord("null"); writer.writeNull()
    default: throw unexpected()
    }
  }

  private mutating func transcodeMembers(
    depth: Int, to writer: inout CBORWriter, _ maps: inout CBOROpenMaps
  ) throws(Failure) {
    guard depth < CodecLimits.depthMax else { throw Failure(reason: .tooDeep, offset: offset) }
    let start = offset
    offset &+= 1
    let map = writer.beginMap(maps)
    skipSpace()
    if try !skip(UInt8(ascii: "}")) {
      repeat {
        skipSpace()
        guard offset < end, base[offset] == UInt8(ascii: "\"") else { throw unexpected() }
        let pair = maps.count
        try transcodeKey(to: &writer, &maps)
        skipSpace()
        guard try skip(UInt8(ascii: ":")) else { throw unexpected() }
        skipSpace()
        try transcodeValue(depth: depth + 1, to: &writer, &maps)
        writer.endPair(pair, &maps)
        skipSpace()
      } while try skip(UInt8(ascii: ","))
      guard try skip(UInt8(ascii: "}")) else { throw unexpected() }
    }
    // Which key it is does not matter: to read the document says it.
    guard writer.endMap(map, &maps) else { throw Failure(reason: .duplicateKey(""), offset: start) }
  }

  private mutating func transcodeElements(
    depth: Int, to writer: inout CBORWriter, _ maps: inout CBOROpenMaps
  ) throws(Failure) {
    guard depth < CodecLimits.depthMax else { throw Failure(reason: .tooDeep, offset: offset) }
    offset &+= 1
    let array = writer.beginArray()
    var count = 0
    skipSpace()
    if try !skip(UInt8(ascii: "]")) {
      repeat {
        skipSpace()
        try transcodeValue(depth: depth + 1, to: &writer, &maps)
        count += 1
        skipSpace()
      } while try skip(UInt8(ascii: ","))
      guard try skip(UInt8(ascii: "]")) else { throw unexpected() }
    }
    writer.endArray(at: array, count: count)
  }

  private mutating func transcodeKey(
    to writer: inout CBORWriter, _ maps: inout CBOROpenMaps
  ) throws(Failure) {
    let start = offset
    if let plain = try plainString() {
      writer.beginPair(key: plain, &maps)
    } else {
      offset = start
      let key = try parseString()
      key.withUTF8Bytes { writer.beginPair(key: $0, &maps) }
    }
  }

  private mutating func transcodeString(to writer: inout CBORWriter) throws(Failure) {
    let start = offset
    if let plain = try plainString() {
      writer.writeText(utf8: UnsafeRawBufferPointer(plain))
    } else {
      offset = start
      writer.writeText(try parseString())
    }
  }

  /// Reads a string without escapes; nil, at another offset, if it has some. The next byte is its opening quote.
  @inline(__always)
  private mutating func plainString() throws(Failure) -> UnsafeBufferPointer<UInt8>? {
    let start = offset
    offset &+= 1
    let first = offset
    skipPlainBytes()
    guard offset < end else { throw unexpected() }
    guard base[offset] == UInt8(ascii: "\"") else { return nil }
    let text = UnsafeBufferPointer(start: base + first, count: offset - first)
    guard UTF8Validation.isValid(UnsafeRawBufferPointer(text)) else {
      throw Failure(reason: .notUTF8, offset: start)
    }
    offset &+= 1
    return text
  }
}
