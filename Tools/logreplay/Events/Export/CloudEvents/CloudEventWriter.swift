// Writes events as CloudEvents 1.0 in the JSON format, a line each.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// Writes the lines of one export into a buffer, block by block.
struct CloudEventWriter: ~Copyable {
  /// Why an event has no CloudEvent.
  struct Problem: Error {
    var sequence: UInt64
    var what: String
  }

  /// The lines that are not taken yet.
  var text = RawBuffer(capacity: 1 << 20)
  private(set) var eventCount: UInt64 = 0
  /// The events whose content was erased, and those of kinds that this version cannot read.
  private(set) var erasedCount: UInt64 = 0
  private(set) var opaqueCount: UInt64 = 0
  private let selection: ExportSelection?
  /// The source as JSON.
  private let source: [UInt8]
  private var lastTime: (nanoseconds: Int64, text: [UInt8])?

  init(source: String, _ selection: ExportSelection?) {
    self.source = DocumentValue.string(source).jsonBytes()
    self.selection = selection
  }

  /// Writes the events of a block that are in the range, without those of Strata's own streams.
  mutating func write(_ block: DecodedBlock, after: UInt64, through: UInt64) throws {
    var cursor = BlockCursor(block)
    while let append = try cursor.nextAppend() {
      guard cursor.appendEnd > after else { continue }
      guard cursor.nextSequence <= through else { break }
      for _ in 0..<append.eventCount {
        let sequence = cursor.nextSequence
        let event = try cursor.nextEvent()
        guard sequence > after, sequence <= through, event.stream.first != UInt8(ascii: "$") else { continue }
        if let selection, !selection.contains(event, sequence, append.ownTime) { continue }
        switch event.kind {
        case EventKind.event: try line(event, sequence, append.ownTime)
        case EventKind.erased: erasedCount += 1
        default: opaqueCount += 1
        }
      }
      try cursor.endAppend()
    }
  }

  private mutating func line(_ event: borrowing EventView, _ sequence: UInt64, _ time: Int64) throws {
    eventCount += 1
    let metadata = try metadata(of: event, sequence)
    JSONTranscoder.append(#"{"specversion":"1.0","id":""#, to: &text)
    JSONTranscoder.appendInteger(sequence, to: &text)
    JSONTranscoder.append(#"","source":"#, to: &text)
    append(source)
    try name("type", event.type, sequence)
    try name("subject", event.stream, sequence)
    JSONTranscoder.append(#","time":""#, to: &text)
    if lastTime?.nanoseconds != time {
      lastTime = (time, Array(Timestamp(nanoseconds: time).description.utf8))
    }
    append(lastTime?.text ?? [])
    JSONTranscoder.append(#"","#, to: &text)
    JSONTranscoder.append("\"\(CloudEvent.sequence)\":\"", to: &text)
    let digits = String(sequence)
    JSONTranscoder.append(
      String(repeating: "0", count: CloudEvent.sequenceLength - digits.utf8.count) + digits, to: &text)
    JSONTranscoder.append("\"", to: &text)
    try name(CloudEvent.stream, event.stream, sequence)
    member(CloudEvent.revision, .string(String(event.revision)))
    for (name, value) in metadata { member(name, value) }
    try data(of: event, sequence)
    JSONTranscoder.append("}\n", to: &text)
  }

  // MARK: Attributes

  /// What is an attribute of its own, and the rest in one.
  private func metadata(
    of event: borrowing EventView, _ sequence: UInt64
  ) throws -> [(name: String, value: DocumentValue)] {
    guard !event.metadata.isEmpty else { return [] }
    guard case .object(let object)? = try? DocumentValue(cbor: event.metadata),
      DocumentValue.object(object).cbor().elementsEqual(event.metadata)
    else { throw Problem(sequence: sequence, what: "its metadata are no object in deterministic CBOR") }
    var attributes: [(name: String, value: DocumentValue)] = []
    var rest = DocumentObject()
    for (name, value) in object {
      if CloudEvent.isAttribute(name, value) {
        attributes.append((name, value))
      } else {
        rest[name] = value
      }
    }
    guard rest.count > 0 else { return attributes }
    var base64 = RawBuffer(capacity: 64)
    DocumentValue.object(rest).cbor().withUnsafeBytes { Base64.append($0, to: &base64) }
    return attributes + [(CloudEvent.metadata, .string(String(decoding: base64.bytes, as: UTF8.self)))]
  }

  private mutating func member(_ name: String, _ value: DocumentValue) {
    JSONTranscoder.append(",\"\(name)\":", to: &text)
    append(value.jsonBytes())
  }

  /// Writes the name of a stream or a type, which may have characters that a CloudEvent's text has not.
  private mutating func name(
    _ member: String, _ bytes: UnsafeRawBufferPointer, _ sequence: UInt64
  ) throws {
    guard let name = String(validating: bytes, as: UTF8.self), !name.isEmpty, CloudEvent.isString(name) else {
      throw Problem(
        sequence: sequence,
        what: "its \(member) has a control character, which no attribute of a CloudEvent has")
    }
    JSONTranscoder.append(",\"\(member)\":", to: &text)
    _ = JSONTranscoder.appendString(bytes, to: &text)
  }

  // MARK: Data

  private mutating func data(of event: borrowing EventView, _ sequence: UInt64) throws {
    let codec = PayloadCodec(rawValue: event.codec)
    if codec == .cbor {
      // No payload at all is a CloudEvent without data.
      if event.payload.isEmpty { return }
      let before = text.count
      JSONTranscoder.append(#","datacontenttype":"application/json","data":"#, to: &text)
      if JSONTranscoder.append(exactly: event.payload, to: &text) { return }
      text.count = before
    }
    let type =
      switch codec {
      case .cbor: CloudEvent.cbor
      // As bytes: its text would be another one with other white space.
      case .json: CloudEvent.json
      case .bytes: CloudEvent.bytes
      case nil:
        throw Problem(sequence: sequence, what: "its payload has the codec \(event.codec), which is unknown")
      }
    JSONTranscoder.append(",\"datacontenttype\":\"\(type)\",\"data_base64\":\"", to: &text)
    Base64.append(event.payload, to: &text)
    JSONTranscoder.append("\"", to: &text)
  }

  private mutating func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { text.append($0) } }
}
