// A store as a service: closed when the group of services shuts down.

#if Observability
  internal import StrataBase
  public import ServiceLifecycle
  public import StrataEvents

  /// Closes a store when its group of services shuts down, or is cancelled.
  ///
  /// ```text
  /// let group = ServiceGroup(
  ///   services: [StoreService(store), ConsumerService(store.consumer("mailer"), mail), server],
  ///   gracefulShutdownSignals: [.sigterm], logger: logger)
  /// try await group.run()
  /// ```
  ///
  /// A group ends its services in the reverse of their order. So name the store first: what uses it has ended before it is
  /// closed. A close commits what was accepted, ends feeds and lists, saves the states of projections, and stops to ship or
  /// follow. Whatever does not end in time is left to the end of the process, as after a kill: nothing acknowledged is lost.
  ///
  /// A signal that comes before `run` closes the store at once.
  public struct StoreService: Service {
    private let store: EventStore
    private let timeout: Duration

    /// - Parameter timeout: how long the close may take.
    public init(_ store: EventStore, timeout: Duration = .seconds(10)) {
      (self.store, self.timeout) = (store, timeout)
    }

    /// Waits for the shutdown, and closes the store.
    ///
    /// - Throws: what `EventStore.close` throws, and `StoreServiceError.timedOut`.
    public func run() async throws {
      // A cancelled group closes its stores, too.
      try? await gracefulShutdown()
      // What was cancelled must not cancel the close.
      try await Task { [self] in try await close() }.value
    }

    private func close() async throws {
      let (results, continuation) = AsyncStream<Result<Void, any Error>>.makeStream()
      Task { [store] in continuation.yield(await Task { try await store.close() }.result) }
      let timer = Task { [timeout] in
        try await Task.sleep(for: timeout)
        continuation.yield(.failure(StoreServiceError.timedOut(after: timeout)))
      }
      defer { timer.cancel() }
      for await result in results { return try result.get() }
    }
  }

  /// Why a service of a store has not ended as it should.
  public enum StoreServiceError: Error, Sendable, Equatable {
    /// The store was not closed in time. Nothing acknowledged is lost; the next open takes longer.
    case timedOut(after: Duration)
  }

  /// Runs a consumer until its group of services shuts down. What it has handled by then is saved.
  ///
  /// The append that it handles at that moment is cancelled, and handled again by the next run.
  public struct ConsumerService: Service {
    private let consumer: Consumer
    private let handle: @Sendable (RecordedAppend, inout WriteBatch) async throws -> Void

    public init(
      _ consumer: Consumer,
      _ handle: @escaping @Sendable (RecordedAppend, inout WriteBatch) async throws -> Void
    ) {
      (self.consumer, self.handle) = (consumer, handle)
    }

    /// Runs the consumer as `Consumer.run` does, and throws what it throws.
    public func run() async throws {
      let (consumer, handle) = (consumer, handle)
      try await cancelWhenGracefulShutdown { try await consumer.run(until: .never, handle) }
    }
  }
#endif
