// Reading items that must be of a certain kind.

extension CBORReader {
  /// Reads an integer that fits in an `Int64`. Any other item throws `.unexpectedKind`, and so does a larger integer:
  /// use `readHead()` for those.
  package mutating func readInteger() throws(CodecError) -> Int64 {
    let start = offset
    let head = try readHead()
    switch head {
    case .unsigned(let value) where value <= UInt64(Int64.max): return Int64(value)
    case .negative(let offset) where offset <= UInt64(Int64.max): return -1 - Int64(offset)
    default: throw CodecError(.unexpectedKind(head.kind), at: start)
    }
  }

  /// Reads a float of any width.
  package mutating func readDouble() throws(CodecError) -> Double {
    let start = offset
    let head = try readHead()
    guard case .float(let value) = head else { throw CodecError(.unexpectedKind(head.kind), at: start) }
    return value
  }

  /// Reads true or false.
  package mutating func readBool() throws(CodecError) -> Bool {
    let start = offset
    let head = try readHead()
    guard case .bool(let value) = head else { throw CodecError(.unexpectedKind(head.kind), at: start) }
    return value
  }

  /// Moves past a null if there is one.
  package mutating func readNullIfPresent() -> Bool {
    guard nextByte == CBORByte.null else { return false }
    offset += 1
    return true
  }

  /// Reads the head of an array, and returns the number of items; nil if they continue up to a break.
  package mutating func readArrayHead() throws(CodecError) -> Int? {
    let start = offset
    let head = try readHead()
    guard case .array(let count) = head else { throw CodecError(.unexpectedKind(head.kind), at: start) }
    return count
  }

  /// Reads the head of a map, and returns the number of pairs; nil if they continue up to a break.
  package mutating func readMapHead() throws(CodecError) -> Int? {
    let start = offset
    let head = try readHead()
    guard case .map(let count) = head else { throw CodecError(.unexpectedKind(head.kind), at: start) }
    return count
  }

  /// Reads a text string, whole or in chunks. O(bytes).
  package mutating func readText() throws(CodecError) -> String {
    let start = offset
    let head = try readHead()
    guard case .text(let count) = head else { throw CodecError(.unexpectedKind(head.kind), at: start) }
    return try readText(count: count, at: start)
  }

  /// Reads a byte string, whole or in chunks. O(bytes).
  package mutating func readBytes() throws(CodecError) -> [UInt8] {
    let start = offset
    let head = try readHead()
    guard case .bytes(let count) = head else { throw CodecError(.unexpectedKind(head.kind), at: start) }
    return try readBytes(count: count)
  }

  /// Moves past `count` bytes of a string whose head was just read, and returns them without copying.
  package mutating func readRaw(count: Int) throws(CodecError) -> UnsafeRawBufferPointer {
    guard count >= 0, count <= remaining else { throw CodecError(.truncated, at: end) }
    defer { offset &+= count }
    return UnsafeRawBufferPointer(start: base + offset, count: count)
  }

  /// Reads what follows the head of a text string that began at `start`. Each chunk must be valid UTF-8 by itself
  /// (RFC 8949, 3.2.3).
  @inline(__always)
  mutating func readText(count: Int?, at start: Int) throws(CodecError) -> String {
    if let count { return try readChunk(count: count, at: start) }
    var text = ""
    while !(try readBreak()) {
      let chunkStart = offset
      text += try readChunk(count: try readChunkHead(major: CBORMajor.text), at: chunkStart)
    }
    return text
  }

  @inline(__always)
  private mutating func readChunk(count: Int, at start: Int) throws(CodecError) -> String {
    let raw = try readRaw(count: count)
    guard let text = String(validatingBytes: raw.assumingMemoryBound(to: UInt8.self)) else {
      throw CodecError(.notUTF8, at: start)
    }
    return text
  }

  /// Reads what follows the head of a byte string.
  mutating func readBytes(count: Int?) throws(CodecError) -> [UInt8] {
    if let count { return Array(try readRaw(count: count)) }
    var bytes: [UInt8] = []
    while !(try readBreak()) {
      bytes += try readRaw(count: try readChunkHead(major: CBORMajor.bytes))
    }
    return bytes
  }
}
