// The kept store with a history of version 3.0: what this code reads in it is what was written, today and later.

import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

private enum GoldenHistory {
  static let golden = GoldenFiles(
    "history-3.0/keys.store",
    """
    A store with a history: a base and deltas, two tables, a document of its own record, a problem, an erased event, and \
    the keys of all rows and of a list whose sections are ordered by values of their items.
    """
  )

  /// By `n` in sections of its remainder, with rows that cannot be placed and rows that are left out.
  static let definition = StateKeptViewTests.definition(
    "by n", StateKeptViewTests.orders.first { $0.0 == "greatest" }!.1, calls: .keys)
  static let folding = Folding.documents(only: nil)
  static let folder = "derived/history/$documents-1"

  static var options: StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    options.headSyncInterval = .seconds(3_600)
    options.writesInStep = true
    options.savesStates = false
    options.history = .all
    options.runLimits.changeCountMax = 4
    options.runLimits.mergedCount = 3
    options.runLimits.baseChangeCountMin = 24
    options.runLimits.pageLength = 200
    options.runLimits.largeLength = 500
    options.runLimits.wholeInterval = 4
    options.runLimits.keyCountMax = 3
    options.runLimits.groupKeyCountMax = 8
    options.runLimits.directoryPageCountMin = 4
    options.runLimits.chunkChangeCountMin = 5
    options.runLimits.laggingCount = 1
    return options
  }

  /// Hexadecimal digits that do not compress.
  private static func digits(_ count: Int) -> String {
    var random = SeededGenerator(seed: 7)
    return String((0..<count).map { _ in "0123456789abcdef".randomElement(using: &random)! })
  }

  private static func put(_ stream: StreamName, _ document: DocumentValue) -> NewEvent {
    NewEvent(DocumentEvent.put, in: stream, document)
  }

  /// The calls that made the store.
  static func write() throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    let id = StoreID(low: 0x8877_6655_4433_2211, high: 0x00FF_EEDD_CCBB_AA99)
    let store = try EventStore.open(
      disk, path: GoldenFiles.root, .readWrite, options: options, storeID: id)
    try store.appendBlocking([
      Self.put("incident/a", ["status": "open", "time": 0]), Self.put("incident/b", ["n": 1]),
    ])
    try store.appendBlocking([Self.put("note/gone", ["text": .string(Self.digits(50))])])
    _ = try store.eraseBlocking(Erasure(streams: ["note/gone"], because: "asked to"))
    try store.appendBlocking([
      Self.put("note/long", ["text": .string(Self.digits(700))]), Self.put("note/short", ["text": "x"]),
    ])
    try store.appendBlocking([
      Self.put("incident/d", .int(5)), NewEvent(DocumentEvent.delete, in: "incident/b", .null),
    ])
    for number in 1...30 {
      try store.appendBlocking([
        NewEvent(DocumentEvent.merge, in: "incident/a", ["time": .int(Int64(number))]),
        Self.put("incident/\(number % 3)", ["n": .int(Int64(number)), "text": "the same in every version"]),
      ])
    }
    try store.appendBlocking([Self.put("note/long", ["n": 1, "text": .string(Self.digits(700))])])
    _ = try store.recordHistoriesBlocking(keeping: [("incident", Self.definition)])
    try store.closeBlocking()
    return GoldenFiles.files(of: disk)
  }

  static func manifest(_ files: [String: [UInt8]]) throws -> HistoryManifest {
    try #require(HistoryManifest(decoding: files["\(folder)/\(StoreLayout.manifestFile)"] ?? []))
  }
}

@Suite struct GoldenHistoryTests {
  @Test func `the kept history is valid, and holds what a fold of its log holds at every event`() throws {
    let store = try EventStore.open(
      GoldenFiles.disk(try GoldenHistory.golden.kept()), path: GoldenFiles.root, .readOnly,
      options: GoldenHistory.options)
    let reader = try #require(HistoryReader(store.log, GoldenHistory.folding))
    let runs = try #require(reader.runs())
    #expect(runs.end == store.head.sequence && runs.end > 65)
    #expect(runs.tables.map(\.name) == ["incident", "note"])
    let kinds = runs.runs.map(\.root.isBase)
    #expect(kinds.contains(true) && kinds.contains(false))
    let all = HistoryStore.all(of: runs)
    #expect(try HistoryStore.difference(runs, store, GoldenHistory.folding, at: all) == nil)
    let versions = try store.documentHistoryBlocking("a", of: "incident")
    #expect(versions.map { $0.item?.fields["time"] } == (0...30).map { .int($0) })
    let problem = try store.documentHistoryBlocking("d", of: "incident")
    #expect(problem.count == 1 && problem[0].item == nil && problem[0].problem != nil)
    #expect(try store.documentHistoryBlocking("b", of: "incident").map { $0.item == nil } == [false, true])
    #expect(try store.documentHistoryBlocking("gone", of: "note").isEmpty)
  }

  @Test func `the kept keys hold what a list over a fold of the log holds at every event`() throws {
    let store = try EventStore.open(
      GoldenFiles.disk(try GoldenHistory.golden.kept()), path: GoldenFiles.root, .readOnly,
      options: GoldenHistory.options)
    let (folding, definition) = (GoldenHistory.folding, GoldenHistory.definition)
    let states = try HistoryStore.replayed(store, folding)
    var (unplaced, shown) = (0, 0)
    for sequence in 1...store.head.sequence {
      let past = RunPast(store, folding, view: ("incident", definition))
      guard case .done(var state, _) = past.tablesUnread(at: sequence) else {
        Issue.record("the list is not in the history at \(sequence)")
        return
      }
      state.withTable("incident") { $0.addView(definition) }
      let view = try #require(state["incident"].view(definition.identity))
      let expected = View(definition, of: states[Int(sequence)]["incident"])
      #expect(StateKeptViewTests.content(view) == StateKeptViewTests.content(expected))
      unplaced += view.problems.count
      shown += view.count
    }
    #expect(unplaced > 0 && shown > 0)
    let lists = store.listHistoriesBlocking([("incident", definition)])
    #expect(lists == [ListHistory(table: "incident", name: "by n", firstSequence: 1)])
  }

  @Test func `the writer writes the kept history again`() throws {
    let files = try GoldenHistory.write()
    // To keep another one: set STRATA_GOLDEN, and run this test.
    if ProcessInfo.processInfo.environment["STRATA_GOLDEN"] != nil { try GoldenHistory.golden.keep(files) }
    let kept = try GoldenHistory.golden.kept()
    #expect(kept.keys.sorted() == files.keys.sorted())
    // LZ4 may pack the same pages otherwise in another version of it: then places and lengths differ too.
    func fields(_ files: [String: [UInt8]]) throws -> HistoryManifest {
      var manifest = try GoldenHistory.manifest(files)
      for index in manifest.runs.indices {
        manifest.runs[index].length = 0
        manifest.runs[index].address = RecordAddress(offset: 32, length: 13, checksum: 0)
      }
      return manifest
    }
    #expect(try fields(kept) == fields(files))
  }
}
