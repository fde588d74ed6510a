// Reads one event line: finds its members, and checks the value of each.

internal import StrataBase
internal import StrataDocuments
internal import StrataLog

/// The members of an event line.
enum EventLineMember: UInt32, CaseIterable {
  case sequence, append, id, id64, time, committed, erasable, stream, revision, type, data, base64, codec,
    metadata
  case metadata64, salt, erased, opaque, expected, chain

  private static let texts = allCases.map { "\($0)" }
  private static let names = texts.map { Array($0.utf8) }

  /// The member of a name; nil for any other name.
  init?(_ name: UnsafeRawBufferPointer) {
    for (index, known) in Self.names.enumerated() where known.count == name.count && known[0] == name[0] {
      guard name.elementsEqual(known) else { continue }
      self.init(rawValue: UInt32(index))
      return
    }
    return nil
  }

  var name: String { Self.texts[Int(rawValue)] }

  /// Members as bits.
  struct Seen {
    private var bits: UInt32 = 0

    /// Adds a member. False if it is there already.
    mutating func insert(_ member: EventLineMember) -> Bool {
      defer { bits |= 1 << member.rawValue }
      return !contains(member)
    }

    func contains(_ member: EventLineMember) -> Bool { bits & 1 << member.rawValue != 0 }

    /// The first of some members that is there together with another one of them.
    func clash(among members: [EventLineMember]) -> EventLineMember? {
      var first: EventLineMember?
      for member in members where contains(member) {
        if let first { return first }
        first = member
      }
      return nil
    }
  }
}

/// Reads the members of one line.
struct EventLineReader {
  private let line: UnsafeRawBufferPointer
  private var event = EventLine()
  private var data: Range<Int>?
  private var base64: [UInt8]?
  private var codec: UInt64?
  private var seen = EventLineMember.Seen()

  init(_ line: UnsafeRawBufferPointer) { self.line = line }

  /// - Parameter transcoder: its memory is kept from one line to the next.
  mutating func read(_ transcoder: inout CBORTranscoder) throws(EventLineProblem) -> EventLine {
    var scanner = EventLineScanner(line)
    while let (name, value) = try scanner.next() {
      guard let member = EventLineMember(name) else {
        let name = String(decoding: name, as: UTF8.self).shortened(within: 40)
        throw problem("an event line has no member \"\(name)\"", at: value)
      }
      guard seen.insert(member) else {
        throw problem("the member \"\(member.name)\" occurs twice", at: value)
      }
      try take(member, value, &transcoder)
    }
    try finish(&transcoder)
    return event
  }

  private mutating func take(
    _ member: EventLineMember, _ value: Range<Int>, _ transcoder: inout CBORTranscoder
  ) throws(EventLineProblem) {
    let name = member.name
    switch member {
    case .sequence: event.sequence = try number(name, value, in: 1 ... .max)
    case .append:
      event.append = Int(try number(name, value, in: 1...UInt64(FormatLimits.rawLengthMax)))
    case .id: event.id = try appendID(try text(name, value), name, value)
    case .id64: event.id = try appendID(try bytes(name, value), name, value)
    case .time: event.time = try time(name, value)
    case .committed: event.committed = try time(name, value)
    case .erasable: event.isErasable = try flag(name, value)
    case .stream: event.stream = try text(name, value, lengths: 1...FormatLimits.streamLengthMax)
    case .revision: event.revision = try number(name, value, in: 1 ... .max)
    case .type: event.type = try text(name, value, lengths: 1...FormatLimits.typeLengthMax)
    case .data: data = value
    case .base64: base64 = try bytes(name, value)
    case .codec: codec = try codec(value)
    case .metadata: event.metadata = try metadata(value, &transcoder)
    case .metadata64: event.metadata = try bytes(name, value)
    case .salt:
      event.salt = try bytes(name, value)
      guard event.salt.count == FormatLimits.saltLength else {
        throw problem("a salt has \(FormatLimits.saltLength) bytes", at: value)
      }
    case .erased: event.content = try erased(value)
    case .opaque: event.content = try opaque(value)
    case .expected: event.expected = try expected(value)
    case .chain: event.chain = try hex(name, value)
    }
  }

  /// Puts the payload together, which may be in several members.
  private mutating func finish(_ transcoder: inout CBORTranscoder) throws(EventLineProblem) {
    for member in [EventLineMember.stream, .type] where !seen.contains(member) {
      throw problem("\"\(member.name)\" is missing", at: 0..<0)
    }
    for members in Self.exclusive {
      guard let one = seen.clash(among: members) else { continue }
      throw problem("\"\(one.name)\" and another member say the same", at: 0..<0)
    }
    if seen.contains(.erased) || seen.contains(.opaque) {
      guard codec == nil, event.metadata.isEmpty, event.salt.isEmpty else {
        throw problem("an event that is erased or opaque has no other content", at: 0..<0)
      }
      return
    }
    if let base64 {
      guard let codec else { throw problem("\"base64\" needs a \"codec\"", at: 0..<0) }
      event.content = .payload(codec: codec, bytes: base64)
      return
    }
    guard let data else {
      guard codec == nil else { throw problem("\"codec\" needs \"data\" or \"base64\"", at: 0..<0) }
      return
    }
    switch codec.map({ PayloadCodec(rawValue: $0) }) {
    case nil, .cbor:
      event.content = .payload(codec: PayloadCodec.cbor.rawValue, bytes: try encoded(data, &transcoder))
    case .json:
      guard data.count <= FormatLimits.rawLengthMax else {
        throw problem("the payload has more than \(FormatLimits.rawLengthMax) bytes", at: data)
      }
      // Of the four bytes of `0.1,` CBOR makes nine.
      _ = try encoded(data, &transcoder, isKept: true, lengthMax: 3 * FormatLimits.rawLengthMax)
      event.content = .payload(codec: PayloadCodec.json.rawValue, bytes: Array(line[data]))
    default: throw problem("\"data\" is JSON, so its codec is \"cbor\" or \"json\"", at: data)
    }
  }

  /// Members of which a line has at most one.
  private static let exclusive: [[EventLineMember]] = [
    [.data, .base64, .erased, .opaque], [.id, .id64], [.metadata, .metadata64],
  ]

  // MARK: Values

  /// A value as CBOR, made without a document: one of a few bytes for each number would be many times as large as its line.
  ///
  /// - Parameter isKept: whether the text itself is kept, so that numbers may have any number of digits.
  private func encoded(
    _ value: Range<Int>, _ transcoder: inout CBORTranscoder, isKept: Bool = false,
    lengthMax: Int = FormatLimits.rawLengthMax
  ) throws(EventLineProblem) -> [UInt8] {
    let text = UnsafeRawBufferPointer(rebasing: line[value])
    var rounded: (column: Int, value: Double)?
    let bytes: [UInt8]
    do throws(JSONError) {
      bytes = try transcoder.cbor(json: text, lengthMax: lengthMax, rounded: &rounded)
    } catch {
      throw problem(error.explanation, at: (value.lowerBound + error.offset)..<value.upperBound)
    }
    if let rounded, !isKept {
      var problem = problem(
        "a number that a double cannot hold; the nearest one is \(rounded.value)", at: value)
      problem.column += rounded.column - 1
      throw problem
    }
    return bytes
  }

  private func metadata(
    _ value: Range<Int>, _ transcoder: inout CBORTranscoder
  ) throws(EventLineProblem) -> [UInt8] {
    let bytes = try encoded(value, &transcoder)
    guard line[value].first == UInt8(ascii: "{") else {
      throw problem("\"metadata\" is not an object", at: value)
    }
    return bytes
  }

  private func number(
    _ name: String, _ value: Range<Int>, in range: ClosedRange<UInt64>
  ) throws(EventLineProblem) -> UInt64 {
    let digits = line[value]
    var number: UInt64 = 0
    for byte in digits {
      let digit = byte &- UInt8(ascii: "0")
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, carries) = product.addingReportingOverflow(UInt64(digit))
      guard digit < 10, !isTooLarge, !carries else { throw notNumber(name, value, range) }
      number = sum
    }
    let hasZero = digits.count > 1 && digits.first == UInt8(ascii: "0")
    guard !digits.isEmpty, !hasZero, range.contains(number) else { throw notNumber(name, value, range) }
    return number
  }

  private func notNumber(_ name: String, _ value: Range<Int>, _ range: ClosedRange<UInt64>)
    -> EventLineProblem
  {
    problem("\"\(name)\" is not an integer from \(range.lowerBound) to \(range.upperBound)", at: value)
  }

  private func flag(_ name: String, _ value: Range<Int>) throws(EventLineProblem) -> Bool {
    guard line[value].elementsEqual("true".utf8) || line[value].elementsEqual("false".utf8) else {
      throw problem("\"\(name)\" is neither true nor false", at: value)
    }
    return line[value].first == UInt8(ascii: "t")
  }

  private func text(
    _ name: String, _ value: Range<Int>, lengths: ClosedRange<Int> = 1 ... .max
  ) throws(EventLineProblem) -> [UInt8] {
    let bytes: [UInt8]
    if let plain = plainText(value) {
      bytes = Array(plain)
    } else {
      let text = UnsafeRawBufferPointer(rebasing: line[value])
      guard text.first == UInt8(ascii: "\"") else {
        throw problem("\"\(name)\" is not a string", at: value)
      }
      do throws(JSONError) {
        guard case .string(let text) = try DocumentValue(json: text) else { return [] }
        bytes = Array(text.utf8)
      } catch {
        throw problem(error.explanation, at: (value.lowerBound + error.offset)..<value.upperBound)
      }
    }
    guard lengths.contains(bytes.count) else {
      throw problem(
        "\"\(name)\" has \(bytes.count) bytes, and \(lengths.lowerBound) to \(lengths.upperBound) are allowed",
        at: value)
    }
    return bytes
  }

  /// The text of a string that is in the line as it is: without escapes. Nil for anything else.
  private func plainText(_ value: Range<Int>) -> UnsafeRawBufferPointer? {
    guard value.count >= 2, line[value.lowerBound] == UInt8(ascii: "\"") else { return nil }
    let text = UnsafeRawBufferPointer(rebasing: line[(value.lowerBound + 1)..<(value.upperBound - 1)])
    guard text.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\\") }), UTF8Validation.isValid(text) else {
      return nil
    }
    return text
  }

  private func bytes(_ name: String, _ value: Range<Int>) throws(EventLineProblem)
    -> [UInt8]
  {
    let text = try text(name, value, lengths: 0 ... .max)
    guard let bytes = text.withUnsafeBytes({ Base64.decoded($0) }) else {
      throw problem("\"\(name)\" is not base 64 with padding", at: value)
    }
    return bytes
  }

  private func hex(_ name: String, _ value: Range<Int>) throws(EventLineProblem) -> UInt64 {
    let text = line[value]
    var number: UInt64 = 0
    for byte in text.dropFirst().dropLast() {
      let letter = (byte | 0x20) &- UInt8(ascii: "a")
      let digit = byte &- UInt8(ascii: "0") < 10 ? byte - UInt8(ascii: "0") : letter < 6 ? letter + 10 : 16
      guard digit < 16 else { throw problem("\"\(name)\" is not 16 hex digits", at: value) }
      number = number << 4 | UInt64(digit)
    }
    guard text.count == 18, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else {
      throw problem("\"\(name)\" is not 16 hex digits", at: value)
    }
    return number
  }

  private func time(_ name: String, _ value: Range<Int>) throws(EventLineProblem) -> Int64 {
    let found =
      if let plain = plainText(value), !plain.isEmpty { Timestamp(utf8: plain) } else {
        Timestamp(String(decoding: try text(name, value), as: UTF8.self))
      }
    guard let time = found else {
      throw problem(
        "\"\(name)\" is not a time with an offset (RFC 3339) from 1677-09-21 to 2262-04-11", at: value)
    }
    return time.nanoseconds
  }

  private func appendID(
    _ id: [UInt8], _ name: String, _ value: Range<Int>
  ) throws(EventLineProblem) -> [UInt8] {
    guard (1...FormatLimits.appendIDLengthMax).contains(id.count) else {
      throw problem(
        "\"\(name)\" has \(id.count) bytes, and 1 to \(FormatLimits.appendIDLengthMax) are allowed",
        at: value
      )
    }
    return id
  }

  private func codec(_ value: Range<Int>) throws(EventLineProblem) -> UInt64 {
    switch String(decoding: line[value].prefix(16), as: UTF8.self) {
    case "\"cbor\"": return PayloadCodec.cbor.rawValue
    case "\"json\"": return PayloadCodec.json.rawValue
    case "\"bytes\"": return PayloadCodec.bytes.rawValue
    case let text where text.hasPrefix("\""):
      throw problem("\"codec\" is cbor, json, bytes or a number", at: value)
    default: return try number("codec", value, in: 0 ... .max)
    }
  }

  private func expected(_ value: Range<Int>) throws(EventLineProblem) -> ExpectedVersion {
    switch String(decoding: line[value].prefix(16), as: UTF8.self) {
    case "\"any\"": return .any
    case "\"none\"": return .noStream
    case "\"exists\"": return .exists
    case let text where text.hasPrefix("\""):
      throw problem("\"expected\" is any, none, exists or a number of events", at: value)
    default: return .exactly(try number("expected", value, in: 0 ... .max))
    }
  }

  // MARK: Events without content

  private func members(
    _ name: String, _ value: Range<Int>, of wanted: [String]
  ) throws(EventLineProblem) -> [String: Range<Int>] {
    let object = UnsafeRawBufferPointer(rebasing: line[value])
    var scanner = EventLineScanner(object)
    var found: [String: Range<Int>] = [:]
    while let (member, range) = try scanner.next() {
      let whole = (range.lowerBound + value.lowerBound)..<(range.upperBound + value.lowerBound)
      found[String(decoding: member, as: UTF8.self)] = whole
    }
    guard found.count == wanted.count, wanted.allSatisfy({ found[$0] != nil }) else {
      throw problem("\"\(name)\" has the members \(wanted.joined(separator: ", ")), and no others", at: value)
    }
    return found
  }

  private func erased(_ value: Range<Int>) throws(EventLineProblem) -> EventLine.Content {
    let members = try members("erased", value, of: ["length", "hash"])
    return .erased(
      hash: try hex("hash", members["hash"] ?? value),
      length: try number("length", members["length"] ?? value, in: 0 ... .max))
  }

  private func opaque(_ value: Range<Int>) throws(EventLineProblem) -> EventLine.Content {
    let members = try members("opaque", value, of: ["kind", "hash", "base64"])
    let kinds = UInt64(EventKind.firstOpaque)...UInt64(UInt8.max)
    return .opaque(
      kind: UInt8(try number("kind", members["kind"] ?? value, in: kinds)),
      hash: try hex("hash", members["hash"] ?? value), bytes: try bytes("base64", members["base64"] ?? value))
  }

  private func problem(_ why: String, at range: Range<Int>) -> EventLineProblem {
    EventLineScanner.problem(why, at: range.lowerBound, in: line)
  }
}
