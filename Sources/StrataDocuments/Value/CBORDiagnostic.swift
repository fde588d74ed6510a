// CBOR as readable text: the diagnostic notation of RFC 8949, section 8.

extension CBORReader {
  /// Returns the diagnostic notation of bytes that are exactly one item: `{1: h'01ff', "a": 32("x"), "b": [_ 1]}`.
  ///
  /// It shows every well-formed item, including those that a document cannot hold. O(n).
  package static func diagnosticNotation(of bytes: UnsafeRawBufferPointer) throws(CodecError) -> String {
    var reader = CBORReader(bytes)
    var text = ""
    try reader.describe(into: &text, depth: 0)
    guard reader.isAtEnd else { throw CodecError(.trailingBytes, at: reader.offset) }
    return text
  }

  /// Returns the diagnostic notation of bytes that are exactly one item.
  package static func diagnosticNotation(of bytes: [UInt8]) throws(CodecError) -> String {
    try bytes.withUnsafeBufferPointer { (buffer) throws(CodecError) in
      try diagnosticNotation(of: UnsafeRawBufferPointer(buffer))
    }
  }

  private mutating func describe(into text: inout String, depth: Int) throws(CodecError) {
    let start = offset
    guard depth <= CodecLimits.depthMax else { throw CodecError(.tooDeep, at: start) }
    switch try readHead() {
    case .unsigned(let value): text += "\(value)"
    case .negative(let value): text += "\(-1 - Int128(value))"
    case .bytes(let count?): text += Self.hex(try readRaw(count: count))
    case .text(let count?): text += DocumentValue.string(try readText(count: count, at: start)).json()
    case .bytes(nil): try describeChunks(major: CBORMajor.bytes, into: &text)
    case .text(nil): try describeChunks(major: CBORMajor.text, into: &text)
    // An empty container counts as a level of nesting too, as in every other reader.
    case .array where depth == CodecLimits.depthMax, .map where depth == CodecLimits.depthMax:
      throw CodecError(.tooDeep, at: start)
    case .array(let count):
      try describeMembers(count, "[", "]", into: &text) { (reader, text) throws(CodecError) in
        try reader.describe(into: &text, depth: depth + 1)
      }
    case .map(let count):
      try describeMembers(count, "{", "}", into: &text) { (reader, text) throws(CodecError) in
        try reader.describe(into: &text, depth: depth + 1)
        text += ": "
        try reader.describe(into: &text, depth: depth + 1)
      }
    case .tag(let tag):
      text += "\(tag)("
      try describe(into: &text, depth: depth + 1)
      text += ")"
    case .bool(let value): text += "\(value)"
    case .null: text += "null"
    case .undefined: text += "undefined"
    case .simple(let value): text += "simple(\(value))"
    case .float(let value):
      text += value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
    case .breakCode: throw CodecError(.malformed, at: start)
    }
  }

  private mutating func describeMembers(
    _ count: Int?,
    _ open: String,
    _ close: String,
    into text: inout String,
    member: (inout CBORReader, inout String) throws(CodecError) -> Void
  ) throws(CodecError) {
    text += count == nil ? "\(open)_ " : open
    var index = 0
    while true {
      if let count, index == count { break }
      if count == nil, try readBreak() { break }
      if index > 0 { text += ", " }
      try member(&self, &text)
      index += 1
    }
    text += close
  }

  private mutating func describeChunks(major: UInt8, into text: inout String) throws(CodecError) {
    text += "(_ "
    var separator = ""
    while !(try readBreak()) {
      text += separator
      separator = ", "
      let start = offset
      let count = try readChunkHead(major: major)
      if major == CBORMajor.bytes {
        text += Self.hex(try readRaw(count: count))
      } else {
        text += DocumentValue.string(try readText(count: count, at: start)).json()
      }
    }
    text += ")"
  }

  private static func hex(_ bytes: UnsafeRawBufferPointer) -> String {
    let digits = Array("0123456789abcdef")
    return "h'" + String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }) + "'"
  }
}
