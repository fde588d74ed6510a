// Measures folding an application's own events into three tables, step by step, in processor time.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

extension Workload {
  /// Measures the fold of a help desk, the parts of it, and the same fold into dictionaries. The rounds take turns.
  static func helpdesk(_ bench: Bench) async throws {
    let count = bench.corpus.count
    let corpus = HelpdeskCorpus(count: count)
    let store = try await corpus.store()
    var times: [HelpdeskStep: [Double]] = [:]
    for _ in 0..<bench.rounds {
      for step in HelpdeskStep.allCases {
        times[step, default: []].append(
          try ProcessorTime.of { try step.run(store, corpus) })
      }
    }
    let limits = times[.dictionaries] ?? []
    report("an application's own events", "\(count), into three tables; ratios to dictionaries")
    for step in HelpdeskStep.allCases {
      let own = times[step] ?? []
      let each = String(format: "%.2f µs/event", median(own) / Double(count) * 1e6)
      report(
        step.rawValue,
        "\(rate(count, median(own)))   \(each)   ratio \(String(format: "%.2f", 1 / medianRatio(own, to: limits)))"
      )
    }
  }
}

/// The steps of the fold, each of which does what the one before it does and one thing more; then what it is compared
/// with.
private enum HelpdeskStep: String, CaseIterable {
  case log = "reading the log"
  case events = "log → recorded events"
  case decoded = "log → decoded events"
  case tables = "log → three tables"
  case published = "the same, published per append"
  case decodedDictionaries = "log → three dictionaries"
  case dictionaries = "decoded events → dictionaries"

  func run(_ store: EventStore, _ corpus: HelpdeskCorpus) throws {
    let last = UInt64(corpus.events.count)
    switch self {
    case .log: try Fold(store.log, .documents(only: ["nothing"])).run(through: last)
    case .events: try Fold(store.log, .own(HelpdeskProbe<False>())).run(through: last)
    case .decoded: try Fold(store.log, .own(HelpdeskProbe<True>())).run(through: last)
    case .tables:
      let fold = Fold(store.log, .own(Helpdesk()))
      try fold.run(through: last)
      precondition(fold.state.failures.count == 0 && fold.state[Helpdesk.tickets.name].count > 0)
    case .published:
      let fold = Fold(store.log, .own(Helpdesk()))
      var published = fold.state
      try fold.runByAppend(through: last) { published = $0 }
      withExtendedLifetime(published) {}
    case .decodedDictionaries:
      let rows = Lock(HelpdeskDictionaries())
      try Fold(store.log, .own(HelpdeskIntoDictionaries(rows: rows))).run(through: last)
      precondition(!rows.withLock { $0.tickets.isEmpty })
    case .dictionaries:
      var rows = HelpdeskDictionaries()
      var sequence: UInt64 = 0
      for (stream, event) in corpus.events {
        sequence += 1
        rows.apply(event, to: StreamName(stream).id, sequence, at: Timestamp(nanoseconds: Int64(sequence)))
      }
      precondition(!rows.tickets.isEmpty)
    }
  }
}

private protocol Flag: Sendable { static var isOn: Bool { get } }
private enum True: Flag { static let isOn = true }
private enum False: Flag { static let isOn = false }

/// Looks at every event, decodes it if told to, and keeps nothing.
private struct HelpdeskProbe<IsDecoding: Flag>: Projection {
  static var name: String { "probe" }
  static var version: Int { 1 }

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard IsDecoding.isOn else { return }
    let decoded = try event.decode(HelpdeskEvent.self)
    precondition(decoded != nil)
  }
}

/// The same fold by hand.
private struct HelpdeskIntoDictionaries: Projection {
  static let name = "dictionaries"
  static let version = 1
  var rows: Lock<HelpdeskDictionaries>

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard let change = try event.decode(HelpdeskEvent.self) else { return }
    rows.withLock { $0.apply(change, to: event.stream.id, event.sequence, at: event.time) }
  }
}
