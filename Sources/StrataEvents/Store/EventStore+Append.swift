// Appending: encoded on the caller, decided by the committer.

internal import StrataBase
internal import StrataDocuments
public import StrataLog

extension EventStore {
  /// Appends events as one append: all of them are in the log, or none.
  ///
  /// - Parameters:
  ///   - events: at least one; several streams are fine.
  ///   - id: 1 to 64 bytes of UTF-8, unique in the store. Appending again with the same id and content
  ///     appends nothing and returns the first append's sequences.
  ///   - time: the time to record in place of the clock's. It is raised to the last append's where it is
  ///     earlier, and both are kept.
  ///   - expecting: what streams must hold. All are checked before anything is appended.
  /// - Returns: when the append is as durable as the store was opened for.
  /// - Throws: `StoreError`, of which `conflict`, `idReused`, `full` and `invalid` are about this append;
  ///   `CancellationError` where the task was cancelled before a group had it. Then nothing was appended.
  @discardableResult
  public func append(
    _ events: [NewEvent], id: String? = nil, time: Timestamp? = nil,
    expecting: [StreamName: ExpectedVersion] = [:]
  ) async throws -> AppendReceipt {
    try await append(try draft(events, id: id, time: time, expecting: expecting))
  }

  /// Appends events of an application's own to one stream.
  @discardableResult
  public func append<Value: Event>(
    _ events: [Value], to stream: StreamName, id: String? = nil, metadata: DocumentObject = [:],
    expecting version: ExpectedVersion = .any
  ) async throws -> AppendReceipt {
    try await append(
      try newEvents(events, to: stream, metadata: metadata), id: id, expecting: [stream: version])
  }

  /// The same as `append` for a thread that may block. Never on the cooperative pool.
  @discardableResult
  public func appendBlocking(
    _ events: [NewEvent], id: String? = nil, time: Timestamp? = nil,
    expecting: [StreamName: ExpectedVersion] = [:]
  ) throws(StoreError) -> AppendReceipt {
    let draft = try draft(events, id: id, time: time, expecting: expecting)
    return AppendReceipt(try log.appendBlocking(draft), in: log.storeID)
  }

  /// Appends what the body gathers as one append. The body runs once, on the caller, and a body that gathers
  /// nothing appends nothing. What it may append is what `append` may.
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
    AppendReceipt(try await log.append(draft), in: log.storeID)
  }

  func newEvents<Value: Event>(
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

  /// Encodes events in the bytes of the format. `isOwn` is true for events that the application made, which
  /// may be neither Strata's own types nor among documents.
  package func draft(
    _ events: [NewEvent], id: String?, time: Timestamp?, expecting: [StreamName: ExpectedVersion],
    isOwn: Bool = true
  ) throws(StoreError) -> AppendDraft {
    guard !events.isEmpty else { throw .invalid(what: "an append needs at least one event") }
    let draft = AppendDraft(bytesHint: events.reduce(64) { $0 + $1.payload.bytes.count + 96 })
    if let id {
      let bytes = Array(id.utf8)
      guard (1...FormatLimits.appendIDLengthMax).contains(bytes.count) else {
        throw .tooLarge(what: "the append's id", actual: bytes.count, limit: FormatLimits.appendIDLengthMax)
      }
      draft.id = bytes
    }
    draft.given = time?.nanoseconds
    draft.isErasable = log.options.saltsEvents
    for event in events { try add(event, to: draft, isOwn: isOwn) }
    for (stream, version) in expecting where version != .any {
      try stream.check()
      // One way to say it, also in the error.
      let version = version == .exactly(0) ? .noStream : version
      draft.expectations.append(.init(stream: Array(stream.text.utf8), version: version))
    }
    return draft
  }

  private func add(_ event: NewEvent, to draft: AppendDraft, isOwn: Bool) throws(StoreError) {
    let options = log.options
    try event.stream.check()
    guard (1...FormatLimits.typeLengthMax).contains(event.type.utf8.count) else {
      throw .tooLarge(
        what: "the type's name", actual: event.type.utf8.count, limit: FormatLimits.typeLengthMax)
    }
    if isOwn { try checkOwn(event) }
    // Bytes that were put in its place since are what is meant.
    if let depth = event.payload.depthRefused, event.payload.bytes.isEmpty {
      throw Self.tooDeep("the payload of \(event.stream)", depth)
    }
    let metadataDepth = DocumentValue.object(event.metadata).depth
    guard metadataDepth <= CodecLimits.depthMax else {
      throw Self.tooDeep("the metadata of \(event.stream)", metadataDepth)
    }
    guard event.payload.bytes.count <= options.payloadSizeMax else {
      throw .tooLarge(
        what: "the payload of \(event.stream)", actual: event.payload.bytes.count,
        limit: options.payloadSizeMax)
    }
    let metadata = event.metadata.isEmpty ? [] : DocumentValue.object(event.metadata).cbor()
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

  private static func tooDeep(_ what: String, _ depth: Int) -> StoreError {
    .tooLarge(what: "the nesting of \(what)", actual: depth, limit: CodecLimits.depthMax)
  }

  private func checkOwn(_ event: NewEvent) throws(StoreError) {
    guard event.stream != ErasureEvent.stream else {
      throw .invalid(what: "\(event.stream) holds what was erased, and \(event.type) does not go there")
    }
    guard event.type.utf8.first == UInt8(ascii: "$") else {
      let category = event.stream.category
      guard !documentCategories.withLock({ $0.contains(category) }) else {
        throw .invalid(
          what: "\(event.stream) is in a category of documents, and events of other types do not go there")
      }
      return
    }
    guard DocumentEvent.all.contains(event.type) else {
      throw .invalid(what: "types that begin with $ are Strata's own, and \(event.type) is none of them")
    }
  }
}

extension AppendReceipt {
  init(_ outcome: AppendOutcome, in store: StoreID) {
    self.init(
      sequences: outcome.first...outcome.last, time: Timestamp(nanoseconds: outcome.time),
      wasKnown: outcome.isKnown, storeID: store)
  }
}
