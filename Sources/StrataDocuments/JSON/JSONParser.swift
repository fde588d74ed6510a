// A parser from JSON text to documents: strict RFC 8259, on bytes, in one pass.

extension DocumentValue {
  /// Reads JSON text that contains one value and otherwise only white space.
  ///
  /// The text must follow RFC 8259 strictly: UTF-8 without a byte order mark, no lone surrogates, no duplicate keys,
  /// and no nesting deeper than 128 levels.
  ///
  /// A number without fraction and exponent is an integer, which is kept exactly, up to the limit
  /// 4,096 bytes. The exception is `-0`, which is the double −0.0, the only value that it can
  /// mean. Every other number becomes the nearest double, which may be another number where the text has more digits than
  /// a double keeps; a number beyond the range of a double is an error. So `1` and `1.0` stay distinct.
  ///
  /// O(n), and O(k log k) for an object of k keys.
  public init(json text: UnsafeRawBufferPointer) throws(JSONError) {
    let bytes = text.assumingMemoryBound(to: UInt8.self)
    var parser = JSONParser(bytes)
    do {
      self = try parser.parseDocument()
    } catch {
      throw JSONError(error.reason, at: error.offset, in: bytes)
    }
  }

  /// Reads JSON text as `init(json:)` does, and says where the first number is that was not kept.
  ///
  /// A number with a fraction or an exponent is kept if its double gives it back: if it is the shortest text of the
  /// double, or the double's value rounded to as many digits as the text has. So `0.1`, `0.10000000000000001` and
  /// `0.1000000000000000055511151231257827` are kept, all as one double, whichever program printed it with how many
  /// digits; `0.123456789012345678` and `9007199254740993.0` are not.
  ///
  /// - Parameter rounded: set to the column of the first number that is not kept, from 1, and the double that it became.
  package init(
    json text: UnsafeRawBufferPointer, rounded: inout (column: Int, value: Double)?
  ) throws(JSONError) {
    let bytes = text.assumingMemoryBound(to: UInt8.self)
    var parser = JSONParser(bytes, noticesRounding: true)
    do {
      self = try parser.parseDocument()
    } catch {
      throw JSONError(error.reason, at: error.offset, in: bytes)
    }
    rounded = parser.firstRounded.map { first in
      (JSONError(.numberOutOfRange, at: first.offset, in: bytes).column, first.value)
    }
  }

  /// Reads JSON text that contains one value and otherwise only white space.
  public init(json text: [UInt8]) throws(JSONError) {
    self = try text.withUnsafeBufferPointer { (buffer) throws(JSONError) in
      try DocumentValue(json: UnsafeRawBufferPointer(buffer))
    }
  }

  /// Reads JSON text that contains one value and otherwise only white space.
  public init(json text: String) throws(JSONError) {
    self = try text.withUTF8Bytes { buffer in
      Result { () throws(JSONError) in try DocumentValue(json: UnsafeRawBufferPointer(buffer)) }
    }.get()
  }
}

/// A recursive descent parser of one text.
struct JSONParser: ~Copyable {
  /// A reason and its offset. Line and column are computed only for an error that is thrown to the caller.
  struct Failure: Error {
    var reason: JSONError.Reason
    var offset: Int
  }

  let base: UnsafePointer<UInt8>
  let end: Int
  var offset = 0
  /// Whether numbers are looked for that their double does not give back.
  let noticesRounding: Bool
  /// The first of these: where it begins, and its double.
  var firstRounded: (offset: Int, value: Double)?
  /// How many bytes a value may take where it is encoded at once.
  var encodedLengthMax = Int.max
  private var builder = DocumentBuilder()

  init(_ text: UnsafeBufferPointer<UInt8>, noticesRounding: Bool = false) {
    self.noticesRounding = noticesRounding
    base = text.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped
    end = text.count
  }

  mutating func parseDocument() throws(Failure) -> DocumentValue {
    skipSpace()
    let value = try parseValue(depth: 0)
    skipSpace()
    if offset < end { throw Failure(reason: .trailingBytes, offset: offset) }
    return value
  }

  /// The error at an offset where something else was expected.
  func unexpected() -> Failure {
    if offset >= end { return Failure(reason: .truncated, offset: end) }
    return Failure(reason: .unexpectedByte(base[offset]), offset: offset)
  }

  private mutating func parseValue(depth: Int) throws(Failure) -> DocumentValue {
    guard offset < end else { throw unexpected() }
    switch base[offset] {
    case UInt8(ascii: "\""): return .string(try parseString())
    case UInt8(ascii: "{"): return .object(try parseObject(depth: depth))
    case UInt8(ascii: "["): return .array(try parseArray(depth: depth))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber()
    case UInt8(ascii: "t"): try parseWord("true"); return .bool(true)
    case UInt8(ascii: "f"): try parseWord("false"); return .bool(false)
    case UInt8(ascii: "n"): try parseWord("null"); return .null
    default: throw unexpected()
    }
  }

  private mutating func parseObject(depth: Int) throws(Failure) -> DocumentObject {
    guard depth < CodecLimits.depthMax else { throw Failure(reason: .tooDeep, offset: offset) }
    offset &+= 1
    let start = builder.objectStart
    skipSpace()
    if try !skip(UInt8(ascii: "}")) {
      repeat {
        skipSpace()
        guard offset < end, base[offset] == UInt8(ascii: "\"") else { throw unexpected() }
        let keyOffset = offset
        let key = try parseString()
        skipSpace()
        guard try skip(UInt8(ascii: ":")) else { throw unexpected() }
        skipSpace()
        let value = try parseValue(depth: depth + 1)
        builder.append(value, forKey: key, at: keyOffset)
        skipSpace()
      } while try skip(UInt8(ascii: ","))
      guard try skip(UInt8(ascii: "}")) else { throw unexpected() }
    }
    switch builder.object(from: start) {
    case .success(let object): return object
    case .failure(let duplicate):
      throw Failure(reason: .duplicateKey(duplicate.key), offset: duplicate.offset)
    }
  }

  private mutating func parseArray(depth: Int) throws(Failure) -> DocumentArray {
    guard depth < CodecLimits.depthMax else { throw Failure(reason: .tooDeep, offset: offset) }
    offset &+= 1
    let start = builder.arrayStart
    skipSpace()
    if try !skip(UInt8(ascii: "]")) {
      repeat {
        skipSpace()
        let value = try parseValue(depth: depth + 1)
        builder.append(value)
        skipSpace()
      } while try skip(UInt8(ascii: ","))
      guard try skip(UInt8(ascii: "]")) else { throw unexpected() }
    }
    return builder.array(from: start)
  }

  mutating func parseWord(_ word: StaticString) throws(Failure) {
    for index in 0..<word.utf8CodeUnitCount {
      guard offset < end, base[offset] == word.utf8Start[index] else { throw unexpected() }
      offset &+= 1
    }
  }

  /// Moves past a byte if it is the next one. Throws at the end of the text.
  @inline(__always)
  mutating func skip(_ byte: UInt8) throws(Failure) -> Bool {
    guard offset < end else { throw unexpected() }
    guard base[offset] == byte else { return false }
    offset &+= 1
    return true
  }

  @inline(__always)
  mutating func skipSpace() {
    while offset < end {
      switch base[offset] {
      case 0x20, 0x0A, 0x0D, 0x09: offset &+= 1
      default: return
      }
    }
  }
}
