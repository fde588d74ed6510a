// The kept store with a state of version 1.0: what this code reads in it is what was written, today and later.

import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// `Tests/Golden/states-1.0/documents.store`: hex lines with their offsets, and zeros left out.
private enum GoldenState {
  static let golden = GoldenFiles(
    "states-1.0/documents.store",
    "A store with two states: two tables, a row with a page of its own, a problem, an erased event, a kept list."
  )

  static var options: StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    options.headSyncInterval = .seconds(3_600)
    return options
  }

  /// Rows by status, descending, then by time.
  static var definition: ViewDefinition {
    ViewDefinition(
      identity: ViewIdentity("by status"), sectionOrder: .keyDescending,
      kept: KeptView(name: "by status", identity: "status descending, time", fingerprint: 1)
    ) { (row, writer) throws(RowProblem) in
      guard let document = try? DocumentValue(cbor: row.document) else { return nil }
      guard case .int(let time) = document["time"] else { throw RowProblem(what: "no time") }
      if case .string(let status) = document["status"] { writer.append(status) } else { return nil }
      let section = writer.count
      writer.append(time)
      return PlacedLengths(section: section)
    }
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
  static func write() async throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    let id = StoreID(low: 0x8877_6655_4433_2211, high: 0x00FF_EEDD_CCBB_AA99)
    let store = try EventStore.open(disk, path: GoldenFiles.root, .readWrite, options: options, storeID: id)
    try store.appendBlocking([
      put("incident/a", ["status": "open", "time": 30]), put("incident/b", ["status": "closed", "time": 29]),
      put("incident/c", ["status": "open", "time": 28]),
    ])
    try store.appendBlocking([put("note/gone", ["text": .string(digits(50))])])
    _ = try store.eraseBlocking(Erasure(streams: ["note/gone"], because: "asked to"))
    try store.appendBlocking([
      put("note/long", ["text": .string(digits(2_000))]), put("note/short", ["text": "x"]),
    ])
    try store.appendBlocking([put("incident/d", .int(5)), put("incident/e", ["status": "open"])])
    let projector = store.projector(.documents(only: nil))
    let lease = projector.lease(definition, of: "incident")
    _ = try await projector.state(reaching: store.head.sequence, with: lease)
    try store.checkpointBlocking()
    try store.appendBlocking([
      put("incident/a", ["status": "closed", "time": 31]),
      NewEvent(DocumentEvent.delete, in: "incident/b", .null),
    ])
    try store.checkpointBlocking()
    try store.closeBlocking()
    withExtendedLifetime(lease) {}
    return GoldenFiles.files(of: disk)
  }

  /// The ids that the kept list shows.
  static func shown(_ view: View) -> [String] {
    var ids: [String] = []
    for place in 0..<view.sectionCount {
      view.withSection(at: place) { section, _ in
        let start = view.start(of: section)
        view.forEachItem(in: start..<start + view.itemCount(of: section)) { item in
          ids.append(String(decoding: item.id, as: UTF8.self))
        }
      }
    }
    return ids
  }
}

@Suite struct GoldenStateTests {
  private static let folding = Folding.documents(only: nil)

  @Test func `a kept state is valid, and holds what a fold of its log holds`() throws {
    let disk = try GoldenFiles.disk(try GoldenState.golden.kept())
    let store = try EventStore.open(
      disk, path: GoldenFiles.root, .readOnly, options: GoldenState.options)
    let checkpoints = try #require(Checkpoints(store.log, Self.folding))
    let restored = try #require(checkpoints.restore())
    #expect(checkpoints.savedSequence == store.head.sequence)
    let fold = Fold(store.log, Self.folding)
    try fold.run(through: .max)
    let (tables, folded) = (restored.tables, fold.state)
    #expect(tables.sequence == folded.sequence && tables.chain == folded.chain)
    #expect(tables.appendCount == folded.appendCount && tables.time == folded.time)
    #expect(tables.stateHash == folded.stateHash)
    #expect(tables.tables.map(\.name) == ["incident", "note"])
    let incidents = tables["incident"]
    #expect(incidents.problems.count == 1 && tables["note"].count == 2)
    let saved = try #require(incidents.savedViews.first)
    #expect(incidents.savedViews.count == 1 && saved.kept == GoldenState.definition.kept)
    let view = try #require(saved.view(GoldenState.definition, over: incidents.rows))
    #expect(GoldenState.shown(view) == ["c", "a"] && view.checkInvariants() == nil)
    #expect(view.problems.count == 1)
  }

  @Test func `the writer writes the kept state again`() async throws {
    let files = try await GoldenState.write()
    // To keep another one: set STRATA_GOLDEN, and run this test.
    if ProcessInfo.processInfo.environment["STRATA_GOLDEN"] != nil { try GoldenState.golden.keep(files) }
    let kept = try GoldenState.golden.kept()
    #expect(kept.keys.sorted() == files.keys.sorted())
    // LZ4 may pack the same pages otherwise in another version of it: then lengths and checksums differ too.
    func fields(_ files: [String: [UInt8]]) throws -> [[UInt8]] {
      let state = try #require(files["derived/state/$documents-1/STATE"])
      return StateSlot.offsets.map { Array(state[$0..<$0 + 108]) }
    }
    #expect(try fields(kept) == fields(files))
  }
}
