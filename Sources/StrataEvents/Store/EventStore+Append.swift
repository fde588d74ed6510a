// Appending: the calling task encodes the events, and the committer decides whether they are appended.

internal import StrataBase
internal import StrataDocuments
public import StrataLog

extension EventStore {
  /// Appends events as one append: all of them are in the log, or none.
  ///
  /// - Parameters:
  ///   - events: at least one; they may belong to several streams.
  ///   - id: 1 to 64 bytes of UTF-8, unique in the store. Appending again with the same id and content
  ///     appends nothing and returns the first append's sequences.
  ///   - time: the time to record instead of the clock's. If it is earlier than the time of the last append, the
  ///     commit time is raised to that, and both times are recorded; points by time go by this one.
  ///   - expecting: the versions that streams must have. All are checked before anything is appended.
  /// - Returns: the receipt, once the append is as durable as the store's options require.
  /// - Throws: `StoreError`, of which `conflict`, `idReused`, `full` and `invalid` are about this append;
  ///   `CancellationError` if the task was cancelled before a commit group had taken the append. Nothing was appended
  ///   then, except with the reason `poisoned`: the append may or may not be in the log after the next open. There,
  ///   repeat it with the same id, or read the version of its stream first.
  @discardableResult
  public func append(
    _ events: [NewEvent], id: String? = nil, time: Timestamp? = nil,
    expecting: [StreamName: ExpectedVersion] = [:]
  ) async throws -> AppendReceipt {
    try await append(try draft(events, id: id, time: time, expecting: expecting))
  }

  /// Appends an application's own events to one stream, as one append.
  @discardableResult
  public func append<Value: DomainEvent>(
    _ events: [Value], to stream: StreamName, id: String? = nil, metadata: DocumentObject = [:],
    expecting version: ExpectedVersion = .any
  ) async throws -> AppendReceipt {
    try await append(
      try newEvents(events, to: stream, metadata: metadata), id: id, expecting: [stream: version])
  }

  /// Appends events as `append` does, and blocks the calling thread. Do not call it on the cooperative pool.
  @discardableResult
  public func appendBlocking(
    _ events: [NewEvent], id: String? = nil, time: Timestamp? = nil,
    expecting: [StreamName: ExpectedVersion] = [:]
  ) throws(StoreError) -> AppendReceipt {
    let draft = try draft(events, id: id, time: time, expecting: expecting)
    let call = log.observation.beginCall(isTraced: true)
    defer { log.observation.end(call, .append(eventCount: draft.eventCount)) }
    return AppendReceipt(try log.appendBlocking(draft), in: log.storeID)
  }

  /// Appends everything that the body adds to its batch as one append.
  ///
  /// The body runs once, in the calling task. If it adds nothing, nothing is appended and the result is nil. It may
  /// append the same events as `append`.
  @discardableResult
  public nonisolated(nonsending) func write(
    id: String? = nil, time: Timestamp? = nil, _ body: (inout WriteBatch) throws -> Void
  ) async throws -> AppendReceipt? {
    var batch = WriteBatch(store: self)
    try body(&batch)
    guard !batch.events.isEmpty else { return nil }
    return try await append(
      draft(batch.events, id: id, time: time, expecting: batch.expectations))
  }

  package func append(_ draft: AppendDraft) async throws -> AppendReceipt {
    let call = log.observation.beginCall(isTraced: true)
    defer { log.observation.end(call, .append(eventCount: draft.eventCount)) }
    return AppendReceipt(try await log.append(draft), in: log.storeID)
  }

  func newEvents<Value: DomainEvent>(
    _ events: [Value], to stream: StreamName, metadata: DocumentObject
  ) throws(StoreError) -> [NewEvent] {
    var encoded: [NewEvent] = []
    encoded.reserveCapacity(events.count)
    for event in events {
      let (type, payload) = try event.encoded()
      encoded.append(NewEvent(type, in: stream, payload: payload, metadata: metadata))
    }
    return encoded
  }

  /// Encodes events in the format's bytes.
  ///
  /// `isOwn` is true for events that the application made. Those may neither have types reserved for Strata nor go
  /// into a category of documents.
  package func draft(
    _ events: [NewEvent], id: String?, time: Timestamp?, expecting: [StreamName: ExpectedVersion],
    isOwn: Bool = true
  ) throws(StoreError) -> AppendDraft {
    guard !events.isEmpty else { throw .invalid(what: "an append needs at least one event") }
    let draft = AppendDraft(bytesHint: events.reduce(64) { $0 + $1.payload.bytes.count + 96 })
    if let id {
      let bytes = Array(id.utf8)
      guard (1...FormatLimits.appendIDLengthMax).contains(bytes.count) else {
        throw .outsideFormat(
          what: "the append's id", actual: bytes.count, limit: FormatLimits.appendIDLengthMax)
      }
      draft.id = bytes
    }
    draft.given = time?.nanoseconds
    draft.isErasable = log.options.saltsEvents
    for event in events { try add(event, to: draft, isOwn: isOwn) }
    for (stream, version) in expecting where version != .any {
      try stream.check()
      // The error has this spelling, too.
      draft.expectations.append(.init(stream: Array(stream.text.utf8), version: version.inOneSpelling))
    }
    return draft
  }

  private func add(_ event: NewEvent, to draft: AppendDraft, isOwn: Bool) throws(StoreError) {
    let options = log.options
    try event.stream.check()
    guard (1...FormatLimits.typeLengthMax).contains(event.type.utf8.count) else {
      throw .outsideFormat(
        what: "the type's name", actual: event.type.utf8.count, limit: FormatLimits.typeLengthMax)
    }
    if isOwn { try checkOwn(event) }
    // If the caller has set `bytes` since the document was refused, those bytes are appended.
    if let refusal = event.payload.refusal, event.payload.bytes.isEmpty {
      throw Self.refused("the payload of \(event.stream)", refusal)
    }
    let object = metadata(of: event)
    if let refusal = DocumentValue.object(object).refusal {
      throw Self.refused("the metadata of \(event.stream)", refusal)
    }
    guard event.payload.bytes.count <= options.payloadSizeMax else {
      throw .tooLarge(
        what: "the payload of \(event.stream)", actual: event.payload.bytes.count,
        limit: options.payloadSizeMax)
    }
    let metadata = object.isEmpty ? [] : DocumentValue.object(object).cbor()
    guard metadata.count <= options.metadataSizeMax else {
      throw .tooLarge(
        what: "the metadata of \(event.stream)", actual: metadata.count, limit: options.metadataSizeMax)
    }
    var stream = event.stream.text
    var type = event.type
    var salt = options.saltsEvents ? (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)) : (0, 0)
    withUnsafeBytes(of: &salt) { random in
      let salt = UnsafeRawBufferPointer(rebasing: random[..<(options.saltsEvents ? random.count : 0)])
      stream.withUTF8 { stream in
        type.withUTF8 { type in
          metadata.withUnsafeBytes { metadata in
            event.payload.bytes.withUnsafeBytes { payload in
              draft.add(
                stream: UnsafeRawBufferPointer(stream), type: UnsafeRawBufferPointer(type),
                codec: event.payload.codec.rawValue, salt: salt, metadata: metadata, payload: payload)
            }
          }
        }
      }
    }
  }

  private static func refused(_ what: String, _ refusal: DocumentRefusal) -> StoreError {
    guard case .tooDeep(let depth) = refusal else {
      return .invalid(
        what: "\(what) holds \(refusal), and could not be read back",
        next: "store it as bytes or as text")
    }
    return .outsideFormat(what: "the nesting of \(what)", actual: depth, limit: CodecLimits.depthMax)
  }

  /// Throws if an application may not append an event.
  func checkOwn(_ event: NewEvent) throws(StoreError) {
    guard event.stream != ErasureEvent.stream else {
      throw .invalid(
        what: "\(event.stream) is reserved for the records of erasures, and \(event.type) is not one of them")
    }
    guard event.stream != LossEvent.stream else {
      throw .invalid(what: "\(event.stream) is reserved for what a recovery appends in place of lost events")
    }
    guard event.stream.category != StreamName.consumerCategory else {
      throw .invalid(what: "\(event.stream) is reserved for the position of a consumer")
    }
    guard event.type.utf8.first == UInt8(ascii: "$") else {
      let stream = event.stream
      guard !documentCategories.withLock({ !$0.isEmpty && $0.contains(Array(stream.category.utf8)) }) else {
        throw .invalid(
          what: "\(event.stream) is in a category of documents, which takes no events of other types")
      }
      return
    }
    guard DocumentEvent.all.contains(event.type) else {
      throw .invalid(what: "types that begin with $ are reserved for Strata, and \(event.type) is unknown")
    }
  }
}
