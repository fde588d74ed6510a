// Gathers writes to one append, as long as they fit into one.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// The events of one append, and what their streams must be before it.
///
/// The version that a write expects is that of its stream just before it. So it means the same in whichever append the
/// write is, and of the writes of one append each counts for those after it.
struct ShellAppend: ~Copyable {
  /// What the writes of one stream need.
  private struct Track {
    /// How many of the events are of this stream.
    var count: UInt64 = 0
    /// What the stream must be before the append.
    var base = ExpectedVersion.any
    /// The write that needs it: its line, what it expects, and how many events of the append come before it.
    var source: (line: UInt64, expected: ExpectedVersion, before: UInt64) = (0, .any, 0)
  }

  private let draft = AppendDraft()
  private let options: StoreOptions
  private var tracks: [StreamName: Track] = [:]

  init(_ options: StoreOptions) { self.options = options }

  var eventCount: Int { draft.eventCount }

  /// Adds a write. Throws, and is of no use any longer, if it does not fit.
  mutating func add(_ write: ShellWrite, line: UInt64 = 0) throws(WriteRefusal) {
    try expect(write, line)
    guard draft.eventCount < options.appendEventsMax else {
      throw Self.tooLarge("the append would have more than \(options.appendEventsMax) events")
    }
    let payload = try encoded(write.payload, "the payload of \(write.stream)", options.payloadSizeMax)
    let metadata =
      write.metadata.isEmpty
      ? [] : try encoded(.object(write.metadata), "the metadata of \(write.stream)", options.metadataSizeMax)
    var (stream, type) = (write.stream.text, write.type)
    stream.withUTF8 { stream in
      type.withUTF8 { type in
        metadata.withUnsafeBytes { metadata in
          payload.withUnsafeBytes { payload in
            draft.add(
              stream: UnsafeRawBufferPointer(stream), type: UnsafeRawBufferPointer(type),
              codec: PayloadCodec.cbor.rawValue, metadata: metadata, payload: payload)
          }
        }
      }
    }
    guard draft.encodedLengthMax <= options.appendSizeMax else {
      throw Self.tooLarge("the append would have more than \(options.appendSizeMax) bytes")
    }
  }

  /// The draft of everything that was added.
  func draft(id: [UInt8], given: Int64?) -> AppendDraft {
    draft.id = id
    draft.given = given
    for (stream, track) in tracks where track.base != .any {
      draft.expectations.append(.init(stream: Array(stream.text.utf8), version: track.base))
    }
    return draft
  }

  /// The line, what it expects, and the version that its stream would have before it, of a conflict.
  func conflict(of stream: String, actual: UInt64) -> (
    line: UInt64, expected: ExpectedVersion, version: UInt64
  )? {
    tracks[StreamName(stream)].map { ($0.source.line, $0.source.expected, actual + $0.source.before) }
  }

  private static func tooLarge(_ what: String) -> WriteRefusal {
    WriteRefusal(what, next: "write it in several appends: write --each N makes one of every N lines")
  }

  private func encoded(
    _ value: DocumentValue, _ what: String, _ lengthMax: Int
  ) throws(WriteRefusal) -> [UInt8] {
    if let refusal = value.refusal {
      throw WriteRefusal("\(what) holds \(refusal)", next: "store it as text")
    }
    let bytes = value.cbor()
    guard bytes.count <= lengthMax else {
      throw WriteRefusal(
        "\(what) has \(bytes.count) bytes, and at most \(lengthMax) are allowed", next: "split it")
    }
    return bytes
  }

  // MARK: Expectations

  /// Counts a write, and turns what it expects into what its stream must be before the append.
  private mutating func expect(_ write: ShellWrite, _ line: UInt64) throws(WriteRefusal) {
    var track = tracks[write.stream] ?? Track()
    let (before, old) = (track.count, track)
    track.count += 1
    let needed: ExpectedVersion
    switch write.expected {
    case .any: needed = .any
    case .exists: needed = before > 0 ? .any : .exists
    case .noStream: needed = try Self.base(0, before, write, line)
    case .exactly(let version): needed = try Self.base(version, before, write, line)
    }
    if needed != .any {
      guard let base = Self.both(track.base, needed) else {
        throw WriteRefusal(
          "version \(write.expected.shellText) of \(write.stream) is expected, which is not what line "
            + "\(old.source.line) expects of it, with \(counted(before - old.source.before, "event")) in between",
          next: "an expected version is that just before the line")
      }
      // The error about a conflict names the stricter one.
      if base != track.base { track.source = (line, write.expected, before) }
      track.base = base
    }
    tracks[write.stream] = track
  }

  private static func base(
    _ version: UInt64, _ before: UInt64, _ write: ShellWrite, _ line: UInt64
  ) throws(WriteRefusal) -> ExpectedVersion {
    guard version >= before else {
      throw WriteRefusal(
        "version \(write.expected.shellText) of \(write.stream) is expected, and \(counted(before, "event")) of it "
          + "\(before == 1 ? "is" : "are") written before",
        next: "an expected version is that just before the line")
    }
    return version == before ? .noStream : .exactly(version - before)
  }

  /// What meets both; nil if nothing does.
  private static func both(_ a: ExpectedVersion, _ b: ExpectedVersion) -> ExpectedVersion? {
    switch (a, b) {
    case (.any, _): b
    case (_, .any): a
    case (.exists, .exactly): b
    case (.exactly, .exists): a
    default: a == b ? a : nil
    }
  }
}
