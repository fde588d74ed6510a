// Writes events as lines of JSON, straight from the bytes of the log.

internal import StrataBase
internal import StrataDocuments
internal import StrataLog

/// Writes the lines of one export into a buffer, block by block.
///
/// The chain of an export is that of the store, if it has every event of its range: it is known at the end of each
/// block, and costs nothing. If events are left out, it is that of the appends as the export has them, from 0, and is
/// computed.
struct EventLineWriter: ~Copyable {
  /// The lines that are not taken yet.
  var text = RawBuffer(capacity: 1 << 20)
  private(set) var eventCount: UInt64 = 0
  private(set) var appendCount: UInt64 = 0
  private let selection: ExportSelection?
  /// The chain after the last line.
  private var chain: UInt64
  private var times = EventTimeText()

  /// - Parameter chain: that of the log before the range.
  init(_ selection: ExportSelection?, chain: UInt64) {
    self.selection = selection
    self.chain = selection == nil ? chain : 0
  }

  // MARK: The first and the last line

  mutating func begin(store: String, after: UInt64, through: UInt64) {
    put(#"{"strata":"events","version":"#)
    JSONTranscoder.appendInteger(EventLineFormat.version, to: &text)
    put(#","store":""#)
    JSONTranscoder.append(store, to: &text)
    put(#"","after":"#)
    JSONTranscoder.appendInteger(after, to: &text)
    put(#","through":"#)
    JSONTranscoder.appendInteger(through, to: &text)
    if let selection {
      put(#","selection":{"#)
      for (index, part) in selection.description.enumerated() {
        if index > 0 { text.append(byte: UInt8(ascii: ",")) }
        string(part.name)
        put(":[")
        for (index, value) in part.values.enumerated() {
          if index > 0 { text.append(byte: UInt8(ascii: ",")) }
          string(value)
        }
        text.append(byte: UInt8(ascii: "]"))
      }
      text.append(byte: UInt8(ascii: "}"))
    }
    putChain()
  }

  mutating func end() {
    put(#"{"strata":"end","events":"#)
    JSONTranscoder.appendInteger(eventCount, to: &text)
    put(#","appends":"#)
    JSONTranscoder.appendInteger(appendCount, to: &text)
    putChain()
  }

  /// Ends a line with the chain after it.
  private mutating func putChain() {
    put(#","chain":""#)
    JSONTranscoder.appendHex(chain, digits: 16, to: &text)
    put("\"}\n")
  }

  // MARK: Blocks

  /// Writes the appends of a block that are in the range, which begins and ends between two appends.
  mutating func write(_ block: DecodedBlock, after: UInt64, through: UInt64) throws(ContentProblem) {
    let before = eventCount
    var cursor = BlockCursor(block)
    var last = after
    while let append = try cursor.nextAppend() {
      guard cursor.appendEnd > after else { continue }
      guard cursor.nextSequence <= through else { break }
      last = cursor.appendEnd
      try write(append, &cursor)
    }
    guard eventCount > before else { return }
    if selection == nil {
      let isWhole = last == block.header.nextSequence &- 1
      chain = isWhole ? block.header.chainAfter : try block.chain(after: last)
    }
    // In place of the end of the last line.
    text.count -= 2
    putChain()
  }

  private mutating func write(_ append: AppendView, _ cursor: inout BlockCursor) throws(ContentProblem) {
    let count = append.eventCount
    guard let selection else {
      appendCount += 1
      for index in 0..<count {
        let sequence = cursor.nextSequence
        try line(try cursor.nextEvent(), sequence, of: append, count: index == 0 ? count : nil)
      }
      return try cursor.endAppend()
    }
    var selected: [(event: EventView, sequence: UInt64)] = []
    for _ in 0..<count {
      let sequence = cursor.nextSequence
      let event = try cursor.nextEvent()
      if selection.contains(event, sequence, append.ownTime) { selected.append((event, sequence)) }
    }
    try cursor.endAppend()
    guard !selected.isEmpty else { return }
    appendCount += 1
    let head = append.headHash(count: selected.count)
    for (index, (event, sequence)) in selected.enumerated() {
      try line(event, sequence, of: append, count: index == 0 ? selected.count : nil)
      chain = Chain.next(
        after: chain, sequence: sequence, revision: event.revision, head: head,
        names: XXH64.of(event.names), content: event.contentHash)
    }
  }

  // MARK: Events

  /// - Parameter count: the number of events of the append, for its first one.
  private mutating func line(
    _ event: borrowing EventView, _ sequence: UInt64, of append: borrowing AppendView, count: Int?
  ) throws(ContentProblem) {
    eventCount += 1
    put(#"{"sequence":"#)
    JSONTranscoder.appendInteger(sequence, to: &text)
    if let count { begin(append, count: count) }
    put(#","time":""#)
    let committed = append.commitTime
    times.append(append.given ?? committed, to: &text)
    put(#"","stream":"#)
    var isText = JSONTranscoder.appendString(event.stream, to: &text)
    put(#","revision":"#)
    JSONTranscoder.appendInteger(event.revision, to: &text)
    put(#","type":"#)
    isText = JSONTranscoder.appendString(event.type, to: &text) && isText
    guard isText else { throw .damaged("the stream or type of event \(sequence) is not UTF-8") }
    switch event.kind {
    case EventKind.event: content(of: event)
    case EventKind.erased: erased(event)
    default: opaque(event)
    }
    put("}\n")
  }

  private mutating func begin(_ append: borrowing AppendView, count: Int) {
    put(#","append":"#)
    JSONTranscoder.appendInteger(UInt64(count), to: &text)
    if !append.id.isEmpty {
      let before = text.count
      put(#","id":"#)
      if !JSONTranscoder.appendString(append.id, to: &text) {
        text.count = before
        base64("id64", append.id)
      }
    }
    if append.given != nil {
      put(#","committed":""#)
      times.append(append.commitTime, to: &text)
      text.append(byte: UInt8(ascii: "\""))
    }
    if append.flags & AppendFlag.erasable != 0 { put(#","erasable":true"#) }
  }

  private mutating func content(of event: borrowing EventView) {
    payload(of: event)
    if !event.metadata.isEmpty {
      let before = text.count
      put(#","metadata":"#)
      let length = event.metadata.count
      let isObject =
        JSONTranscoder.isMap(event.metadata)
        ? JSONTranscoder.append(exactly: event.metadata, to: &text) : false
      if !isObject || isSpacious(since: before, length: length) {
        text.count = before
        base64("metadata64", event.metadata)
      }
    }
    if !event.salt.isEmpty { base64("salt", event.salt) }
  }

  private mutating func payload(of event: borrowing EventView) {
    if event.codec == PayloadCodec.cbor.rawValue {
      // No payload at all, as that of a deleted row, is CBOR without a value.
      if event.payload.isEmpty { return }
      let before = text.count
      put(#","data":"#)
      let length = event.payload.count
      if JSONTranscoder.append(exactly: event.payload, to: &text), !isSpacious(since: before, length: length)
      {
        return
      }
      text.count = before
    }
    put(#","codec":"#)
    switch PayloadCodec(rawValue: event.codec) {
    case .cbor: put(#""cbor""#)
    case .json: put(#""json""#)
    case .bytes: put(#""bytes""#)
    case nil: JSONTranscoder.appendInteger(event.codec, to: &text)
    }
    if event.codec == PayloadCodec.json.rawValue, Self.isOneLine(event.payload) {
      put(#","data":"#)
      text.append(event.payload)
    } else {
      base64("base64", event.payload)
    }
  }

  /// Whether the text that was written is so much longer than its bytes that base 64 is written in its place: a
  /// control character takes six bytes, and a line has a limit.
  private func isSpacious(since before: Int, length: Int) -> Bool {
    let written = text.count - before
    return written > EventLineFormat.spaciousLengthMax && written > 2 * length
  }

  /// Whether bytes are one value of JSON that can be in a line as they are, and are found there again.
  private static func isOneLine(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = bytes.first, let last = bytes.last, !first.isJSONSpace, !last.isJSONSpace,
      !bytes.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
    else { return false }
    var transcoder = CBORTranscoder()
    var rounded: (column: Int, value: Double)?
    return (try? transcoder.cbor(json: bytes, lengthMax: 3 * bytes.count + 16, rounded: &rounded)) != nil
  }

  private mutating func erased(_ event: borrowing EventView) {
    put(#","erased":{"length":"#)
    JSONTranscoder.appendInteger(UInt64(event.contentLength), to: &text)
    hash(of: event)
    text.append(byte: UInt8(ascii: "}"))
  }

  private mutating func opaque(_ event: borrowing EventView) {
    put(#","opaque":{"kind":"#)
    JSONTranscoder.appendInteger(UInt64(event.kind), to: &text)
    hash(of: event)
    base64("base64", event.payload)
    text.append(byte: UInt8(ascii: "}"))
  }

  private mutating func hash(of event: borrowing EventView) {
    put(#","hash":""#)
    JSONTranscoder.appendHex(event.writtenContentHash, digits: 16, to: &text)
    text.append(byte: UInt8(ascii: "\""))
  }

  private mutating func base64(_ name: StaticString, _ bytes: UnsafeRawBufferPointer) {
    put(#",""#)
    put(name)
    put(#"":""#)
    Base64.append(bytes, to: &text)
    text.append(byte: UInt8(ascii: "\""))
  }

  @inline(__always)
  private mutating func put(_ plain: StaticString) { JSONTranscoder.append(plain, to: &text) }

  private mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { _ = JSONTranscoder.appendString(UnsafeRawBufferPointer($0), to: &text) }
  }
}

extension UInt8 {
  /// Whether it is white space in JSON.
  var isJSONSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

extension AppendView {
  /// The hash of this append's head, as the chain has it, if the append had another number of events.
  func headHash(count: Int) -> UInt64 {
    if count == eventCount { return XXH64.of(head) }
    return AppendDraft.headHash(
      commitTime: commitTime, given: given ?? commitTime, id: Array(id),
      isErasable: flags & AppendFlag.erasable != 0, count: count)
  }
}
