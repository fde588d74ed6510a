// Measures what it costs to write states: time, bytes, and the waits of appends meanwhile.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension Workload {
  /// Random changes, and the checkpoint after them, by a process that shows the kept list. No state is saved in the
  /// background meanwhile.
  static func checkpoints(_ filled: inout StateStore) async throws {
    var options = StoreOptions()
    options.savedFoldingMin = .seconds(3600)
    let store = try await EventStore.open(at: filled.path, options: options)
    try await StateList.readFirstPage(store, StateList.kept)
    for count in [100, 1000, 10_000] {
      try await store.append(filled.changes(count))
      try await StateStore.fold(store)
      var written: [StateCheckpoint] = []
      let time = try await seconds { written = try await store.checkpoint() }
      let bytes = written.map(\.byteCount).reduce(0, +)
      report("a checkpoint after \(count) random changes", "\(milliseconds(time)), \(bytes) bytes")
    }
    try await store.close()
  }

  // MARK: Appends meanwhile

  /// How long callers wait for a synced append of one event, of eight tasks at a time: while nothing else is written,
  /// and while a checkpoint writes the pages of many random changes. The two take turns. Nothing else writes: no state
  /// is saved and no segment is sealed in the background.
  static func appendsBesideCheckpoints(_ filled: inout StateStore, _ rounds: Int) async throws {
    var options = StoreOptions()
    options.sealsInBackground = false
    options.savedFoldingMin = .seconds(3600)
    let store = try await EventStore.open(at: filled.path, options: options)
    try await StateList.readFirstPage(store, StateList.kept)
    let appends = SmallAppends(store)
    var quiet: [Double] = []
    var busy: [Double] = []
    var took: [Double] = []
    var bytes: UInt64 = 0
    let changeCount = min(filled.rowCount, 100_000)
    // A checkpoint of few rows is over before there are enough appends for a 99th percentile.
    while took.count < rounds || took.count < 20 * rounds && busy.count < 5_000 {
      for _ in 0..<changeCount / 1000 { try await store.append(filled.changes(1000)) }
      try await StateStore.fold(store)
      let before = try await appends.waits { try await Task.sleep(for: .seconds(max(1, took.last ?? 1))) }
      try await StateStore.fold(store)
      var written: [StateCheckpoint] = []
      let start = now()
      let during = try await appends.waits { written = try await store.checkpoint() }
      took.append(now() - start)
      bytes = written.map(\.byteCount).reduce(0, +)
      quiet += before
      busy += during
    }
    try await store.close()
    report(
      "checkpoints of \(changeCount) random changes",
      "\(milliseconds(median(took))) beside appends, \(bytes) bytes")
    for (name, waits) in [("  an append of 8 tasks alone", quiet), ("  the same beside them", busy)] {
      report(
        name,
        "p50 \(microseconds(median(waits))), p99 \(microseconds(percentile(99, waits))), at most "
          + "\(milliseconds(waits.max() ?? .nan)), \(waits.count) appends")
    }
    aim("p99 beside checkpoints", percentile(99, busy) / percentile(99, quiet), 2, "× that without")
  }

  // MARK: Bytes

  /// The bytes that are written for states, in the background and at the close, while random rows change all the time
  /// and every append is folded, beside the bytes that the log grows by.
  static func bytesOfCheckpoints(_ filled: inout StateStore) async throws {
    let growth = try await Growth(filled.path, isListed: true) { store in
      try await StateList.readFirstPage(store, StateList.kept)
      for _ in 0..<2_000 {
        try await store.append(filled.changes(100))
        try await StateStore.fold(store)
      }
    }
    report("200000 random changes, 100 in an append", growth.figures)
    aim("bytes of states to those of the log, before the close", growth.backgroundFactor, 8, "×")
    aim("the same with the close", growth.factor, 8, "×")
  }

  /// The same for a thousand changes of a row of 1 MB, which is as large in the log each time: with states that are
  /// saved when one is due, and with a checkpoint after each change.
  static func largeRow(_ bench: Bench) async throws {
    let text = StateRow.text(1, length: 1_000_000)
    for isForced in [false, true] {
      let path = bench.scratch.fresh("large")
      let growth = try await Growth(path, isListed: false) { store in
        for number in 0..<1_000 {
          try await store.append([
            NewEvent(
              DocumentEvent.put, in: "incident/\(StateRow.id(0))",
              .object(["note": .int(Int64(number)), "text": .string(text)]))
          ])
          try await StateStore.fold(store)
          if isForced { try await store.checkpoint() }
        }
      }
      let suffix = isForced ? ", a checkpoint after each" : ""
      report("1000 changes of a row of 1 MB\(suffix)", growth.figures)
      aim("bytes of states to those of the log", growth.factor, 10, "×")
    }
  }
}

/// What a store wrote while it was open: for states, and to its log.
private struct Growth {
  private let background: UInt64
  private let states: UInt64
  private let log: Int
  private let seconds: Double

  /// - Parameter isListed: whether the store has the kept list.
  init(_ path: String, isListed: Bool, _ body: (EventStore) async throws -> Void) async throws {
    var options = StoreOptions()
    // A sealed segment is shorter than what was appended to it.
    options.sealsInBackground = false
    let layout = StoreLayout(root: path)
    // What was appended before counts as growth for a process that has to fold it.
    let before = try await EventStore.open(at: path, options: options)
    if isListed { try await StateList.readFirstPage(before, StateList.kept) }
    try await before.checkpoint()
    try await before.close()
    let begin = bytesOnDisk(layout.log)
    let store = try await EventStore.open(at: path, options: options)
    let start = now()
    try await body(store)
    seconds = now() - start
    background = try await Self.savedBytesWhenIdle(store)
    try await store.close()
    states = Self.savedBytes(store)
    log = bytesOnDisk(layout.log) - begin
  }

  /// The bytes once nothing is written in the background: they are counted when a state is complete, which takes less
  /// than this time.
  private static func savedBytesWhenIdle(_ store: EventStore) async throws -> UInt64 {
    while true {
      let before = savedBytes(store)
      try await Task.sleep(for: .seconds(5))
      if savedBytes(store) == before { return before }
    }
  }

  private static func savedBytes(_ store: EventStore) -> UInt64 {
    store.projections.map(\.savedByteCount).reduce(0, +)
  }

  /// The bytes for states relative to those of the log.
  var factor: Double { Double(states) / Double(log) }

  /// The same without what the close saved, for which no proportion holds.
  var backgroundFactor: Double { Double(background) / Double(log) }

  var figures: String {
    "\(mebibytes(Double(states))) of states (\(mebibytes(Double(states - background))) by the close), "
      + "\(mebibytes(Double(log))) of log, in \(milliseconds(seconds))"
  }
}

/// Appends of one small event each, from several tasks at once.
private struct SmallAppends: Sendable {
  private static let taskCount = 8
  private let store: EventStore

  init(_ store: EventStore) { self.store = store }

  /// The time that each append took while a body ran, in seconds.
  func waits(_ body: () async throws -> Void) async throws -> [Double] {
    let isDone = Lock(false)
    return try await withThrowingTaskGroup(of: [Double].self) { group in
      for task in 0..<Self.taskCount {
        group.addTask {
          let payload = Array(StateRow.text(task, length: 200).utf8)
          var times: [Double] = []
          while !isDone.withLock({ $0 }) {
            let start = MonotonicTime.now()
            try await store.append([
              NewEvent("measured", in: StreamName("task/\(task)"), payload: .opaque(payload))
            ])
            times.append(start.seconds)
          }
          return times
        }
      }
      defer { isDone.withLock { $0 = true } }
      try await body()
      isDone.withLock { $0 = true }
      var all: [Double] = []
      for try await times in group { all += times }
      return all
    }
  }
}
