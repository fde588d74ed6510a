// Measures starts: to the first row, to the first page of a list, after a close and after a kill.

internal import Foundation
internal import StrataEvents
internal import StrataFetch
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension Workload {
  /// The time to one row, from the opening of the folder: everything that the row may depend on must be known. First
  /// without a state, so that the log is folded, then with one.
  static func firstRows(_ filled: StateStore, _ rounds: Int) async throws {
    func firstRow(_ options: StoreOptions) async throws -> Double {
      try await seconds {
        try await StateStore.fold(EventStore.open(at: filled.path, .readOnly, options: options))
      }
    }
    var plain = StoreOptions()
    plain.savesStates = false
    let folded = try await firstRow(plain)
    let store = try await EventStore.open(at: filled.path)
    let written = try await store.checkpoint()
    let rewritten = try await seconds { _ = try await store.checkpoint() }
    try await store.close()
    let bytes = bytesOnDisk(filled.layout.states)
    let log = bytesOnDisk(filled.layout.log)
    var times: [Double] = []
    for _ in 0..<rounds { times.append(try await firstRow(StoreOptions())) }
    report("\(filled.name): folded at the start", milliseconds(folded))
    report(
      "\(filled.name): with a state", "\(milliseconds(median(times)))   ratio \(ratio(median(times), folded))"
    )
    report(
      "\(filled.name): bytes of the state",
      "\(bytes), \(bytes / filled.rowCount) a row, \(ratio(Double(bytes), Double(log))) of the log, "
        + "\(written.map(\.pageCount).reduce(0, +)) pages")
    report("\(filled.name): a checkpoint of nothing new", milliseconds(rewritten))
  }

  /// The time to the first page of a list after a clean close: built from the rows, and kept. Returns the time with the
  /// kept list, from the opening of the folder.
  static func firstPages(_ filled: StateStore, _ rounds: Int) async throws -> Double {
    for request in [StateList.built, StateList.kept] {
      let store = try await EventStore.open(at: filled.path)
      try await StateList.readFirstPage(store, request)
      try await store.close()
    }
    let built = try await seconds {
      try await StateList.readFirstPage(EventStore.open(at: filled.path, .readOnly), StateList.built)
    }
    report("\(filled.name): first page of a list, built", milliseconds(built))
    return try await keptPages(
      filled.path, "\(filled.name): first page of a kept list", rounds, isAfterClose: true)
  }

  /// The time to the first page of the kept list of a store, with its files in the system's page cache and without:
  ///
  /// - from the opening of the folder, in this process;
  /// - of a whole process that does nothing else, from its start to its end, and what memory it takes;
  /// - of a whole `logreplay at --view` that prints the page, if that program was built beside this one.
  ///
  /// The programs themselves stay in the page cache.
  private static func keptPages(
    _ path: String, _ name: String, _ rounds: Int, isAfterClose: Bool
  ) async throws -> Double {
    var last = 0.0
    let logreplay = ChildProcess.beside("logreplay")
    if logreplay == nil { report("logreplay is not there", "build it: --product logreplay") }
    for isCached in [false, true] {
      let suffix = isCached ? "" : ", files not in the page cache"
      func times(_ body: () async throws -> Double) async throws -> Double {
        var times: [Double] = []
        for _ in 0..<rounds {
          if !isCached { dropFromPageCache(path) }
          times.append(try await body())
        }
        return median(times)
      }
      last = try await times {
        try await seconds {
          try await StateList.readFirstPage(EventStore.open(at: path, .readOnly), StateList.kept)
        }
      }
      report("\(name)\(suffix)", milliseconds(last))
      var memory = StateProbe.Figures()
      var processor: [Double] = []
      let whole = try await times {
        let (child, figures) = try StateProbe.firstPage(path)
        memory = figures
        processor.append(child.processorSeconds)
        return child.seconds
      }
      report(
        "  the whole process", "\(milliseconds(whole)), processor time \(milliseconds(median(processor)))")
      if isAfterClose { aim("whole process", whole * 1e3, 60, "ms") }
      if let resident = memory["resident"], let peak = memory["peak"] {
        report(
          "  its resident memory",
          "\(mebibytes(resident)) at the page, at most \(mebibytes(peak)), "
            + "\(mebibytes(memory["base"] ?? .nan)) before the store was opened")
        aim("resident memory", peak / Double(1 << 20), 100, "MiB")
      }
      guard let logreplay else { continue }
      processor = []
      let tool = try await times {
        let child = try ChildProcess(
          logreplay, ["at", path, "--view", StateList.name, "--limit", "\(StateList.pageLength)"])
        precondition(child.output.contains("PROD"), "logreplay prints the page")
        processor.append(child.processorSeconds)
        return child.seconds
      }
      report(
        "  logreplay at --view", "\(milliseconds(tool)), processor time \(milliseconds(median(processor)))")
    }
    return last
  }

  /// The time to the first page after random changes by a process that is then killed, as far as a copy of its folder
  /// shows that.
  static func kill(_ filled: inout StateStore, _ bench: Bench) async throws {
    let store = try await EventStore.open(at: filled.path)
    let list = StateList.controller(store, StateList.kept)
    try await list.performFetch()
    for _ in 0..<100 {
      try await store.append(filled.changes(100))
      try await StateStore.fold(store)
    }
    let copy = bench.scratch.fresh("killed")
    try FileManager.default.copyItem(atPath: filled.path, toPath: copy)
    let name = "\(filled.name): first page, 10000 changes after a kill"
    _ = try await keptPages(copy, name, bench.rounds, isAfterClose: false)
    let start = now()
    let next = try await EventStore.open(at: copy)
    try await StateList.readFirstPage(next, StateList.kept)
    report("  the first process that writes", milliseconds(now() - start))
    try await next.close()
    try await store.close()
    try FileManager.default.removeItem(atPath: copy)
  }

  /// The starts of an application's own projection.
  static func ownProjection(_ bench: Bench) async throws {
    let corpus = HelpdeskCorpus(count: bench.corpus.count / 2)
    let path = bench.scratch.fresh("own")
    let store = try await EventStore.open(at: path)
    try await corpus.append(to: store)
    try await store.close()
    for (name, mode) in [
      ("first start", .readWrite), ("second start", .readWrite), ("start for reading", .readOnly),
    ] as [(String, EventStore.Access)] {
      let store = try await EventStore.open(at: path, mode)
      let time = try await seconds {
        _ = try await store.projector(.own(Helpdesk())).state(reaching: .max)
      }
      report("an own projection of \(corpus.events.count) events: \(name)", milliseconds(time))
      try await store.close()
    }
  }
}
