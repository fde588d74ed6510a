// The metrics of one store, as swift-metrics takes them.

#if Observability
  internal import CoreMetrics
  internal import StrataBase
  internal import StrataEvents
  internal import StrataLog
  internal import StrataPast

  /// Sends counters, gauges and times to a factory. Every label is of a fixed set: the name of the store, and the names of
  /// its projections, kept lists and consumers.
  final class StoreMeters: Sendable {
    private typealias Dimensions = [(String, String)]

    private struct State {
      /// What was reported last.
      var reported = StoreStatistics()
      /// The readers whose lags were reported, so that one that is gone is reported as having none.
      var lags: Set<StoreLag> = []
    }

    private let factory: any MetricsFactory
    private let base: [(String, String)]
    private let state = Lock(State())
    private let timers: Lock<[String: Timer]> = Lock([:])
    private let commit: Timer
    private let sync: Timer
    private let fetch: Timer
    private let past: Timer
    private let appends: Recorder

    init(_ factory: any MetricsFactory, store: String?) {
      self.factory = factory
      let base = store.map { [("strata.store", $0)] } ?? []
      self.base = base
      func timer(_ metric: StoreMetric) -> Timer {
        Timer(label: metric.rawValue, dimensions: base, factory: factory)
      }
      (commit, sync) = (timer(.commitDuration), timer(.syncDuration))
      (fetch, past) = (timer(.fetchDuration), timer(.pastDuration))
      appends = Recorder(
        label: StoreMetric.commitAppends.rawValue, dimensions: base, aggregate: true, factory: factory)
    }

    // MARK: As it happens

    func note(_ activity: StoreActivity) {
      switch activity {
      case .discarded(let kind, let projection, _):
        let named = projection.map { [("strata.projection", $0)] } ?? []
        add(1, .derivedDiscarded, [("strata.kind", kind.rawValue)] + named)
      case .halted(let kind, let name, _, _):
        add(1, .readerHalted, [("strata.reader.kind", kind.rawValue), ("strata.reader.name", name)])
      case .damage(let finding): add(1, .damageFound, [("strata.kind", finding.class.rawValue)])
      case .poisoned: add(1, .poisoned)
      default: break
      }
    }

    func note(_ step: StoreStep) {
      let time = step.duration.wholeNanoseconds
      switch step.work {
      case .commit(let count, _, _, let syncTime):
        commit.recordNanoseconds(time)
        appends.record(count)
        if syncTime > .zero { sync.recordNanoseconds(syncTime.wholeNanoseconds) }
      case .fold(let projection, _): timer(ofFold: projection).recordNanoseconds(time)
      case .fetch: fetch.recordNanoseconds(time)
      case .past: past.recordNanoseconds(time)
      default: break
      }
    }

    private func timer(ofFold projection: String) -> Timer {
      timers.withLock { timers in
        if let timer = timers[projection] { return timer }
        let timer = Timer(
          label: StoreMetric.foldDuration.rawValue, dimensions: base + [("strata.projection", projection)],
          factory: factory)
        timers[projection] = timer
        return timer
      }
    }

    // MARK: From time to time

    /// Adds what was counted since the last report.
    func report(_ statistics: StoreStatistics) {
      let last = state.withLock { state in
        defer { state.reported = statistics }
        return state.reported
      }
      let counters: [(StoreMetric, KeyPath<StoreStatistics, UInt64>)] = [
        (.appendsWritten, \.appendCount), (.appendsKnown, \.knownCount), (.appendConflicts, \.conflictCount),
        (.eventsWritten, \.eventCount), (.logWritten, \.byteCount), (.logSealed, \.sealCount),
        (.logGroups, \.groupCount), (.logSyncs, \.syncCount), (.logCutTails, \.cutTailCount),
        (.statesSaved, \.savedStateCount), (.statesFailed, \.failedStateCount),
        (.observationsDropped, \.droppedCount),
      ]
      for (metric, path) in counters {
        // A monitor that knows a counter at 0 notices when it moves.
        add(statistics[keyPath: path] - last[keyPath: path], metric)
      }
    }

    func report(_ gauges: StoreGauges) {
      set(Double(gauges.pendingAppendCount), .appendsPending)
      set(Double(gauges.pendingByteCount), .appendsPendingSize)
      set(Double(gauges.segmentCount), .logSegments)
      set(Double(gauges.logByteCount), .logSize)
      set(Double(gauges.derivedByteCount), .derivedSize)
    }

    func report(_ lags: [StoreLag]) {
      let names = Set(lags.map { StoreLag($0.kind, name: $0.name, eventCount: 0) })
      let gone = state.withLock { state in
        defer { state.lags = names }
        return state.lags.subtracting(names)
      }
      for lag in lags + gone {
        set(
          Double(lag.eventCount), .readerLag,
          [("strata.reader.kind", lag.kind.rawValue), ("strata.reader.name", lag.name)])
      }
    }

    private func add(_ amount: UInt64, _ metric: StoreMetric, _ dimensions: [(String, String)] = []) {
      Counter(label: metric.rawValue, dimensions: base + dimensions, factory: factory)
        .increment(by: Int64(clamping: amount))
    }

    private func set(_ value: Double, _ metric: StoreMetric, _ dimensions: [(String, String)] = []) {
      Meter(label: metric.rawValue, dimensions: base + dimensions, factory: factory).set(value)
    }
  }
#endif
