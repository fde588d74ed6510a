// Finds the members of one line, an object of JSON, without building values.

internal import StrataBase
internal import StrataDocuments

/// Why a line is not an event line.
struct EventLineProblem: Error, Equatable {
  /// The column, from 1, in characters.
  var column: Int
  var why: String
}

/// Walks over the members of the object that a line consists of. Values are found, and checked only when they are read.
struct EventLineScanner {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0
  private var isFirst = true

  init(_ line: UnsafeRawBufferPointer) { bytes = line }

  /// The name of the next member without its quotes, and its value; nil after the last member. A name with a backslash
  /// is returned as it is in the line: no member of an event line has one.
  mutating func next() throws(EventLineProblem) -> (name: UnsafeRawBufferPointer, value: Range<Int>)? {
    skipSpace()
    if isFirst {
      try expect(UInt8(ascii: "{"), "the line is not an object")
      skipSpace()
      isFirst = false
      if peek == UInt8(ascii: "}") { return try end() }
    } else {
      if peek == UInt8(ascii: "}") { return try end() }
      try expect(UInt8(ascii: ","), "a comma or } is missing")
      skipSpace()
    }
    guard peek == UInt8(ascii: "\"") else { throw problem("the name of a member is missing") }
    let name = try string()
    skipSpace()
    try expect(UInt8(ascii: ":"), "a colon is missing")
    skipSpace()
    let start = offset
    try skipValue()
    return (
      UnsafeRawBufferPointer(rebasing: bytes[(name.lowerBound + 1)..<(name.upperBound - 1)]), start..<offset
    )
  }

  private mutating func end() throws(EventLineProblem) -> (name: UnsafeRawBufferPointer, value: Range<Int>)? {
    offset += 1
    skipSpace()
    guard offset == bytes.count else { throw problem("more text after the object") }
    return nil
  }

  private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private mutating func skipSpace() {
    while let byte = peek, byte.isJSONSpace { offset += 1 }
  }

  private mutating func expect(_ byte: UInt8, _ why: String) throws(EventLineProblem) {
    guard peek == byte else { throw problem(why) }
    offset += 1
  }

  /// Moves past a string, with its quotes.
  private mutating func string() throws(EventLineProblem) -> Range<Int> {
    let start = offset
    offset = bytes.firstQuoteOrBackslash(from: offset + 1)
    while let byte = peek {
      if byte == UInt8(ascii: "\"") {
        offset += 1
        return start..<offset
      }
      offset = bytes.firstQuoteOrBackslash(from: offset + 2)
    }
    offset = bytes.count
    throw problem("the line ends inside a string")
  }

  /// Moves past a value. Brackets are counted, whatever is between them: reading the value checks it.
  private mutating func skipValue() throws(EventLineProblem) {
    var depth = 0
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""): _ = try string()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        offset += 1
        continue
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { throw problem("a value is missing") }
        depth -= 1
        offset += 1
      case _ where depth > 0:
        offset += 1
        continue
      default:
        let start = offset
        while let byte = peek, !byte.isJSONSpace, byte != UInt8(ascii: ","), byte != UInt8(ascii: "}") {
          offset += 1
        }
        guard offset > start else { throw problem("a value is missing") }
      }
      if depth == 0 { return }
    }
    throw problem("the line ends inside a value")
  }

  private func problem(_ why: String) -> EventLineProblem { Self.problem(why, at: offset, in: bytes) }

  /// A problem at an offset.
  static func problem(_ why: String, at offset: Int, in line: UnsafeRawBufferPointer) -> EventLineProblem {
    let before = line.prefix(max(0, min(offset, line.count))).count { $0 & 0xC0 != 0x80 }
    return EventLineProblem(column: before + 1, why: why)
  }
}

extension UnsafeRawBufferPointer {
  /// The offset of the first line feed; nil if there is none.
  var firstLineFeed: Int? {
    let offset = firstOffset(from: 0, of: UInt8(ascii: "\n"), or: UInt8(ascii: "\n"))
    return offset < count ? offset : nil
  }

  /// The offset of the first quote or backslash from an offset on; at least `count` if there is none.
  fileprivate func firstQuoteOrBackslash(from start: Int) -> Int {
    firstOffset(from: start, of: UInt8(ascii: "\""), or: UInt8(ascii: "\\"))
  }

  /// The offset of the first of two bytes; at least `count` if there is none. Looks at eight bytes at a time.
  @inline(__always)
  private func firstOffset(from start: Int, of one: UInt8, or other: UInt8) -> Int {
    guard let base = baseAddress else { return start }
    let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    var index = start
    while index &+ 8 <= count {
      let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let (first, second) = (word ^ (ones &* UInt64(one)), word ^ (ones &* UInt64(other)))
      // The lowest bit found is exact, since a borrow can affect only the bytes above it.
      let found = ((first &- ones) & ~first | (second &- ones) & ~second) & tops
      if found != 0 { return index &+ found.trailingZeroBitCount >> 3 }
      index &+= 8
    }
    while index < count {
      let byte = base.load(fromByteOffset: index, as: UInt8.self)
      if byte == one || byte == other { return index }
      index &+= 1
    }
    return index
  }
}
