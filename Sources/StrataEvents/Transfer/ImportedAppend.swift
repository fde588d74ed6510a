// One append of an import, from its first line until it is appended.

internal import StrataBase
internal import StrataDocuments
internal import StrataLog

/// An append whose lines are read one after another.
struct ImportedAppend {
  let draft: AppendDraft
  /// The line on which it begins.
  let line: UInt64
  /// The sequence of its first event where it was exported.
  let first: UInt64
  /// That of its last event so far.
  private(set) var last: UInt64
  /// How many of its events are on lines that were not read yet.
  private(set) var remaining: Int
  /// The sequences of its events, if they may have gaps: those of a selection.
  private var sequences: [UInt64]?
  /// Whether its names and lengths are those that an application may append.
  var isChecked = false
  /// The times on the first line.
  let time: Int64?
  let committed: Int64?
  /// How many of its events are in Strata's own streams, and how many others are erased.
  private(set) var ownCount: UInt64 = 0
  private(set) var erasedCount: UInt64 = 0
  /// The consumers of which it has an event, and whether the last one deletes the consumer.
  private(set) var consumers: [(name: String, isDeleted: Bool)] = []
  /// The difference that it makes to the number of open orders to erase.
  private(set) var orders = 0

  init(_ event: borrowing EventLine, line: UInt64, sequence: UInt64, hasGaps: Bool) {
    sequences = hasGaps ? [] : nil
    draft = AppendDraft()
    draft.id = event.id ?? []
    draft.isErasable = event.isErasable
    self.line = line
    first = sequence
    last = sequence &- 1
    remaining = event.append ?? 1
    time = event.time
    committed = event.committed
  }

  /// Adds an event.
  mutating func add(_ event: borrowing EventLine) {
    let (stream, type) = (event.stream, event.type)
    let isOwn = stream.first == UInt8(ascii: "$")
    if isOwn { ownCount += 1 }
    stream.withUnsafeBytes { stream in
      type.withUnsafeBytes { type in
        switch event.content {
        case .payload(let codec, let bytes):
          event.salt.withUnsafeBytes { salt in
            event.metadata.withUnsafeBytes { metadata in
              bytes.withUnsafeBytes { payload in
                draft.add(
                  stream: stream, type: type, codec: codec, salt: salt, metadata: metadata, payload: payload)
              }
            }
          }
        case .erased(let hash, let length):
          if !isOwn { erasedCount += 1 }
          draft.addErased(stream: stream, type: type, contentHash: hash, contentLength: length)
        case .opaque(let kind, let hash, let bytes):
          bytes.withUnsafeBytes { rest in
            draft.addOpaque(kind: kind, stream: stream, type: type, contentHash: hash, rest: rest)
          }
        }
      }
    }
    draft.setRevision(event.revision ?? 1, of: draft.marks[draft.marks.count - 1])
    if let version = event.expected, version != .any {
      draft.expectations.append(.init(stream: stream, version: version))
    }
    if isOwn, stream.starts(with: Self.consumerPrefix) {
      let name = String(decoding: stream.dropFirst(Self.consumerPrefix.count), as: UTF8.self)
      consumers.append((name, type.elementsEqual(ConsumerState.deleted.utf8)))
    }
    if isOwn, stream.elementsEqual(ErasureEvent.stream.text.utf8) {
      if type.elementsEqual(ErasureEvent.order.utf8) { orders += 1 }
      if type.elementsEqual(ErasureEvent.done.utf8) { orders -= 1 }
    }
    last = event.sequence ?? last &+ 1
    sequences?.append(last)
    remaining -= 1
  }

  private static let consumerPrefix = Array("\(StreamName.consumerCategory)/".utf8)

  var leftOutCount: UInt64 { ownCount + erasedCount }

  /// The chain after this append, where the one before it is known, if it has the times of its lines.
  func chain(after previous: UInt64) -> UInt64 {
    let head = AppendDraft.headHash(
      commitTime: committed ?? time ?? 0, given: time ?? 0, id: draft.id, isErasable: draft.isErasable,
      count: draft.eventCount)
    guard let sequences else { return draft.chain(after: previous, first: first, head: head) }
    return draft.chain(after: previous, sequences: sequences, head: head)
  }

  /// The append as its log had it, with both of its times.
  func exact() -> AppendDraft {
    draft.given = time
    draft.committed = committed ?? time
    draft.expectedFirst = first
    return draft
  }

  /// The append for another log: without Strata's own events and those without content. Nil if nothing is left.
  ///
  /// - Parameter salts: whether events without a salt get one.
  func added(id: [UInt8], salts: Bool) throws(DecodingProblem) -> AppendDraft? {
    let added: AppendDraft
    if leftOutCount == 0, !salts {
      added = draft
    } else {
      added = try rebuilt(salts: salts)
      guard added.eventCount > 0 else { return nil }
    }
    added.id = id
    added.given = time
    return added
  }

  private func rebuilt(salts: Bool) throws(DecodingProblem) -> AppendDraft {
    let other = AppendDraft(bytesHint: draft.byteCount + 64)
    other.isErasable = draft.isErasable || salts
    other.expectations = draft.expectations
    defer { withExtendedLifetime(draft) {} }
    let bytes = draft.events.bytes
    var cursor = ByteCursor(UnsafeRawPointer(draft.events.base), count: bytes.count)
    for _ in 0..<draft.eventCount {
      let event = try cursor.nextEvent()
      guard event.stream.first != UInt8(ascii: "$"), event.kind != EventKind.erased else { continue }
      guard event.kind == EventKind.event else {
        other.addOpaque(
          kind: event.kind, stream: event.stream, type: event.type, contentHash: event.writtenContentHash,
          rest: event.payload)
        continue
      }
      var fresh = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
      withUnsafeBytes(of: &fresh) { fresh in
        other.add(
          stream: event.stream, type: event.type, codec: event.codec,
          salt: event.salt.isEmpty && salts ? fresh : event.salt, metadata: event.metadata,
          payload: event.payload)
      }
    }
    return other
  }
}
