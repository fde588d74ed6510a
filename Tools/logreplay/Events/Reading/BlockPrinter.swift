// Prints blocks as lines of text or as JSON objects.

package import LogreplayShell
internal import StrataEvents
package import StrataLog

/// Prints the headers of blocks, and the content of control blocks.
package final class BlockPrinter {
  private let isJSON: Bool
  /// Whether JSON is one array instead of one object per line.
  private let isArray: Bool
  private let people: PeopleText
  private let withPayload: Bool
  private var output = OutputWriter()
  private var isFirst = true

  package init(_ options: OutputOptions, withPayload: Bool) {
    isJSON = options.format.isJSON
    isArray = options.format == .json
    people = PeopleText(zone: options.zone, isColored: options.isColored)
    self.withPayload = withPayload
  }

  package func begin() {
    if isArray { output.bytes.append(UInt8(ascii: "[")) }
  }

  package func finish() throws {
    if isArray { output.bytes += (isFirst ? "]\n" : "\n]\n").utf8 }
    try output.flush()
  }

  package func flushIfLarge() throws { try output.flushIfLarge() }

  /// Prints a segment's heading for people; in JSON every block names its segment instead.
  package func add(_ header: SegmentHeader, size: UInt64) {
    guard !isJSON else { return }
    var text = "\(header.segment.path): \(counted(size, "byte")), epoch \(header.epoch), "
    text += "created \(people.time(Timestamp(nanoseconds: header.created)))"
    if header.isRewritten { text += ", revision \(header.revision)" }
    output.bytes += (people.colored(text, .cyan) + "\n").utf8
  }

  /// Prints a valid block.
  ///
  /// - Returns: why its payload does not decode; nil if it does.
  package func add(_ block: BlockHeader, _ stored: UnsafeRawBufferPointer) -> ContentProblem? {
    var problem: ContentProblem?
    var decoded: DecodedBlock?
    do throws(ContentProblem) {
      let content = try DecodedBlock(header: block, stored: stored)
      decoded = content
      if block.kind == BlockKind.events { try content.verifyContent() }
    } catch { problem = error }
    let note = BlockNote(block, decoded)
    let payload = withPayload ? decoded.map { Array($0.raw) } ?? Array(stored) : nil
    if isJSON {
      if isArray { output.bytes += (isFirst ? "\n" : ",\n").utf8 }
      isFirst = false
      output.bytes += json(block, note, problem, payload)
      if !isArray { output.bytes.append(UInt8(ascii: "\n")) }
    } else {
      output.bytes += text(block, note, problem).utf8
      if let payload { output.bytes += Self.hexDump(payload).utf8 }
    }
    return problem
  }

  private func json(
    _ block: BlockHeader, _ note: BlockNote, _ problem: ContentProblem?, _ payload: [UInt8]?
  ) -> [UInt8] {
    var line = JSONLine.document()
    line.field("segment", block.segment.firstSequence)
    line.field("offset", block.ownOffset)
    line.field("kind", block.kindName)
    line.field("codec", block.codecName)
    line.field("headerLength", UInt64(block.headerLength))
    line.field("storedLength", UInt64(block.storedLength))
    line.field("rawLength", UInt64(block.rawLength))
    line.field("span", block.span)
    line.field("flags", UInt64(block.flags))
    line.field("events", UInt64(block.eventCount))
    line.field("appends", UInt64(block.appendCount))
    line.field("first", block.firstSequence)
    line.field("last", block.nextSequence &- 1)
    line.field("appendsBefore", block.appendsBefore)
    line.field(
      "firstTime", block.firstTime == FormatLimits.noTime ? nil : "\(Timestamp(nanoseconds: block.firstTime))"
    )
    line.field(
      "lastTime", block.lastTime == FormatLimits.noTime ? nil : "\(Timestamp(nanoseconds: block.lastTime))")
    line.field("epoch", block.epoch)
    line.field("syncedThrough", block.syncedThrough)
    line.field("chainBefore", LogPosition.hex(block.chainBefore))
    line.field("chainAfter", LogPosition.hex(block.chainAfter))
    note.add(to: &line)
    if let problem { line.field("problem", problem.what) }
    if let payload { line.field("payload", Self.hex(payload)) }
    return line.finish()
  }

  private func text(_ block: BlockHeader, _ note: BlockNote, _ problem: ContentProblem?) -> String {
    var parts = [people.colored("@\(block.ownOffset)", .yellow), people.colored(block.kindName, .green)]
    parts.append("\(block.codecName) \(block.storedLength)/\(block.rawLength) bytes, span \(block.span)")
    if block.eventCount > 0 {
      parts.append(
        "seq \(block.firstSequence)…\(block.nextSequence &- 1) in \(counted(block.appendCount, "append"))")
    } else {
      parts.append("before seq \(block.firstSequence)")
    }
    let times = [block.firstTime, block.lastTime].map { people.time(Timestamp(nanoseconds: $0)) }
    parts.append(times[0] == times[1] ? times[0] : "\(times[0]) … \(times[1])")
    parts.append("epoch \(block.epoch)")
    parts.append("synced \(block.syncedThrough)")
    parts.append("chain \(LogPosition.hex(block.chainBefore)) → \(LogPosition.hex(block.chainAfter))")
    var text = parts.joined(separator: "  ") + "\n"
    for line in note.lines(people) { text += "    \(line)\n" }
    if let problem { text += "    " + people.colored(PeopleText.printable(problem.what), .red) + "\n" }
    return text
  }

  // MARK: Bytes

  package static func hex(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count)
    for byte in bytes { appendHex(byte, to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func appendHex(_ byte: UInt8, to text: inout [UInt8]) {
    for digit in [byte >> 4, byte & 15] {
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  /// Lines with an offset, sixteen bytes in hex, and the same bytes as text.
  package static func hexDump(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 16) {
      let row = bytes[start..<min(start + 16, bytes.count)]
      for shift in [24, 16, 8, 0] { appendHex(UInt8(truncatingIfNeeded: start >> shift), to: &text) }
      text += "  ".utf8
      for index in 0..<16 {
        if index < row.count {
          appendHex(row[start + index], to: &text)
        } else {
          text += "  ".utf8
        }
        text += (index == 7 ? "  " : " ").utf8
      }
      text += " |".utf8
      text += row.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }
      text += "|\n".utf8
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The content of a control block.
enum BlockNote {
  case none
  case recovery(RecoveryNote)
  case footer([BlockAddress])
  /// An unknown kind of block that may be skipped.
  case unknown

  init(_ block: BlockHeader, _ decoded: DecodedBlock?) {
    self = .none
    if block.kind >= BlockKind.firstSkippable { self = .unknown }
    guard let decoded else { return }
    defer { withExtendedLifetime(decoded) {} }
    if block.kind == BlockKind.recovery, let note = RecoveryNote(decoding: decoded.raw) {
      self = .recovery(note)
    } else if block.kind == BlockKind.footer, let places = FooterIndex.decoding(decoded.raw) {
      self = .footer(places)
    }
  }

  func add(to line: inout JSONLine) {
    switch self {
    case .none: break
    case .unknown: line.field("skippable", true)
    case .recovery(let note):
      var object = JSONLine()
      object.field("cutOffset", note.cutOffset)
      object.field("cutLength", note.cutLength)
      object.field("time", "\(Timestamp(nanoseconds: note.time))")
      object.field("checksum", String(note.checksum, radix: 16))
      object.field("reason", UInt64(note.reason))
      object.field("path", note.path)
      line.raw("recovery", object.finish())
    case .footer(let places):
      line.array(
        "footer",
        places.map { place in
          var object = JSONLine()
          object.field("first", place.firstSequence)
          object.field("firstTime", "\(Timestamp(nanoseconds: place.firstTime))")
          object.field("appendsBefore", place.appendsBefore)
          object.field("offset", place.offset)
          return object.finish()
        })
    }
  }

  func lines(_ people: PeopleText) -> [String] {
    switch self {
    case .none: []
    case .unknown: ["a kind of block that this version does not know and may skip"]
    case .recovery(let note):
      [
        "cut \(counted(note.cutLength, "byte")) at \(note.cutOffset) on \(people.time(Timestamp(nanoseconds: note.time))); "
          + "kept in \(PeopleText.printable(note.path))"
      ]
    case .footer(let places):
      places.map { place in
        "@\(place.offset)  seq \(place.firstSequence)  \(people.time(Timestamp(nanoseconds: place.firstTime)))"
      }
    }
  }
}

extension BlockHeader {
  var kindName: String {
    switch kind {
    case BlockKind.events: "events"
    case BlockKind.recovery: "recovery"
    case BlockKind.footer: "footer"
    default: "kind \(kind)"
    }
  }

  var codecName: String {
    switch codec {
    case BlockCodec.none: "none"
    case BlockCodec.lz4: "lz4"
    default: "codec \(codec)"
    }
  }
}

extension ContentProblem {
  var what: String {
    switch self {
    case .damaged(let what), .unsupported(let what): what
    }
  }
}
