// The context of a trace in the metadata of events, so that what handles them later goes on with the trace.

#if Observability
  public import StrataDocuments
  public import StrataEvents
  public import Tracing

  extension EventStore {
    /// The member of an event's metadata in which the context of a trace is: an object with what the instrument injects,
    /// such as `traceparent`.
    public static let traceKey = "trace"

    /// Runs an operation, all of whose appends get the current context of the task in their metadata, under `traceKey`.
    ///
    /// ```text
    /// func place(_ order: NewEvent, in store: EventStore) async throws {
    ///   try await withSpan("place an order") { _ in
    ///     try await EventStore.withTrace { _ = try await store.append([order]) }
    ///   }
    /// }
    /// ```
    ///
    /// Without a context, or if the instrument injects nothing, appends get nothing. The metadata is part of an append's
    /// content: an append with an id that is repeated in another trace is refused as `idReused`, so leave appends with ids
    /// outside, or give them the metadata of the first try.
    ///
    /// - Parameter instrument: what injects the context; nil for the one of the process.
    public static nonisolated(nonsending) func withTrace<Result>(
      by instrument: (any Instrument)? = nil, operation: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
      try await attributing(traceMetadata(by: instrument), operation: operation)
    }

    /// The current context of the task as metadata for an event: for effects of a consumer, which are appended after its
    /// handler has returned. Empty without a context.
    public static func traceMetadata(by instrument: (any Instrument)? = nil) -> DocumentObject {
      guard let context = ServiceContext.current else { return [:] }
      var carrier: [String: String] = [:]
      (instrument ?? InstrumentationSystem.instrument).inject(context, into: &carrier, using: TextInjector())
      guard !carrier.isEmpty else { return [:] }
      var members: DocumentObject = [:]
      for (key, value) in carrier { members[key] = .string(value) }
      return [traceKey: .object(members)]
    }
  }

  extension RecordedEvent {
    /// The context of the trace in which the event was appended; nil if its metadata has none.
    public func traceContext(by instrument: (any Instrument)? = nil) -> ServiceContext? {
      guard case .object(let members) = try? metadata()[EventStore.traceKey] else { return nil }
      var carrier: [String: String] = [:]
      for (key, value) in members { if case .string(let text) = value { carrier[key] = text } }
      var context = ServiceContext.topLevel
      (instrument ?? InstrumentationSystem.instrument).extract(
        carrier, into: &context, using: TextExtractor())
      return context.isEmpty ? nil : context
    }
  }

  extension RecordedAppend {
    /// The context of the trace in which the append was made: that of its first event that has one.
    ///
    /// ```text
    /// func mail(_ store: EventStore) async throws {
    ///   try await store.consumer("mailer").run { append, batch in
    ///     try await withSpan("mail", context: append.traceContext() ?? .topLevel, ofKind: .consumer) { _ in }
    ///   }
    /// }
    /// ```
    public func traceContext(by instrument: (any Instrument)? = nil) -> ServiceContext? {
      for event in events { if let context = event.traceContext(by: instrument) { return context } }
      return nil
    }
  }

  private struct TextInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
      carrier[key] = value
    }
  }

  private struct TextExtractor: Extractor {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
  }
#endif
