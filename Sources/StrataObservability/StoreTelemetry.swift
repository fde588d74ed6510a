// What a store does, for the logs, metrics and traces of a service.

#if Observability
  public import CoreMetrics
  public import Logging
  public import StrataEvents
  public import StrataLog
  internal import StrataPast
  public import Tracing

  /// Sends what a store does to swift-log, swift-metrics and swift-distributed-tracing.
  ///
  /// ```text
  /// func serve(_ path: String) async throws {
  ///   let telemetry = StoreTelemetry(logger: Logger(label: "desk"))
  ///   var options = StoreOptions()
  ///   options.observer = telemetry
  ///   let store = try await EventStore.open(at: path, options: options)
  ///   async let reports: Void = telemetry.report(store)
  ///   // …
  ///   try await store.close()
  ///   await reports
  /// }
  /// ```
  ///
  /// Everything is sent on the store's thread for its observer, or by the task that reports. A backend that blocks holds up
  /// nothing but this: what finds no room meanwhile is dropped and counted.
  public final class StoreTelemetry: StoreCallObserver {
    private let log: ActivityLog?
    private let meters: StoreMeters?
    private let spans: StoreSpans?

    /// - Parameters:
    ///   - store: a name for the store, as label of each metric and value of each line; for a process with several stores.
    ///   - logger: receives activities; nil for none.
    ///   - metrics: receives metrics; nil for none. The factory of the process unless given.
    ///   - tracer: receives spans; nil for none. That of the process unless given.
    ///   - logsContents: whether lines say what the program's code and findings said, which may hold content of events and
    ///     names of streams.
    ///   - tracesBackground: whether folds and commits get spans too, which have no parent.
    public init(
      store: String? = nil, logger: Logger? = nil, metrics: (any MetricsFactory)? = MetricsSystem.factory,
      tracer: (any Tracer)? = InstrumentationSystem.tracer, logsContents: Bool = false,
      tracesBackground: Bool = false
    ) {
      log = logger.map { ActivityLog(logger: $0, store: store, logsContents: logsContents) }
      meters = metrics.map { StoreMeters($0, store: store) }
      spans = tracer.map { StoreSpans(tracer: $0, store: store, tracesBackground: tracesBackground) }
    }

    public func store(did activity: StoreActivity) {
      log?.write(activity)
      meters?.note(activity)
    }

    public func store(took step: StoreStep) {
      meters?.note(step)
      spans?.record(step)
    }

    public func contextOfCall() -> (any Sendable)? { spans == nil ? nil : ServiceContext.current }

    /// Reports counters and gauges from time to time, until the store is closed or the task cancelled; then once more. The
    /// gauges cost O(segments + derived files + consumers).
    public func report(_ store: EventStore, every interval: Duration = .seconds(10)) async {
      guard meters != nil else { return }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { for await _ in store.activities {} }
        group.addTask { [self] in
          while !Task.isCancelled {
            await reportNow(store)
            try? await Task.sleep(for: max(interval, .milliseconds(1)))
          }
        }
        await group.next()
        group.cancelAll()
      }
      meters?.report(store.statistics)
    }

    /// Reports counters and gauges now. What cannot be read is left out.
    public func reportNow(_ store: EventStore) async {
      guard let meters else { return }
      meters.report(store.statistics)
      if let gauges = try? await store.gauges() { meters.report(gauges) }
      if let lags = try? await store.lags() { meters.report(lags) }
    }
  }
#endif
