// What stays the same: ids for the lifetime of a row, and batches at every run.

internal import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct IdentityTests {
  @Test
  func `R63 Items keep their ids across writes, a restart, and a copy of the log's bytes`() async throws {
    let folder = NSTemporaryDirectory() + "strata-ids-\(UUID().uuidString)"
    let copy = folder + "-copy"
    defer {
      try? FileManager.default.removeItem(atPath: folder)
      try? FileManager.default.removeItem(atPath: copy)
    }
    func list(_ store: EventStore) -> FetchController<ScenarioEvent, String> {
      FetchController(ScenarioTests.request, from: store.collection("event", of: ScenarioEvent.self))
    }
    let store = try await EventStore.open(at: folder)
    let events = store.collection("event", of: ScenarioEvent.self)
    var random = SeededGenerator(seed: 63)
    var ids: [UUID] = []
    for index in 0..<60 {
      let event = ScenarioEvent(
        id: UUID(uuid: ScenarioTests.bytes(&random)), sectionName: ["a", "b", "c"][index % 3],
        timestamp: Date(timeIntervalSince1970: Double(index)))
      ids.append(event.id)
      try await events.put(event)
    }
    let before = try await list(store).performFetch()
    #expect(Set(before.itemIdentifiers) == Set(ids))
    // A row whose other properties all change is the same item.
    try await events.update(ids[4]) {
      $0.timestamp = Date(timeIntervalSince1970: 1_000)
      $0.sectionName = "z"
    }
    let after = try await list(store).performFetch()
    #expect(Set(after.itemIdentifiers) == Set(ids))
    let change = try await list(store).changes(from: .sequence(60), to: .head)
    #expect(change.moves.map(\.id) == [ids[4]] && change.insertions.isEmpty && change.deletions.isEmpty)
    try await store.close()

    try FileManager.default.copyItem(atPath: folder, toPath: copy)
    for path in [folder, copy] {
      let again = try await EventStore.open(at: path)
      let reopened = list(again)
      #expect(try await reopened.performFetch().itemIdentifiers == after.itemIdentifiers)
      #expect(try await reopened.snapshot(at: .sequence(60)).itemIdentifiers == before.itemIdentifiers)
      #expect(try await reopened.changes(from: .sequence(60), to: .head) == change)
      #expect(try await reopened.performFetch().row(for: ids[4])?.sectionName == "z")
      try await again.close()
    }
  }

  @Test
  func `R72 The batches of one log are the same bytes at every run, in every process`() async throws {
    var random = SeededGenerator(seed: 72)
    var bytes: [UInt8] = []
    for _ in 0..<6 {
      let log = try RandomLog(appends: 12, rows: 30, &random)
      for _ in 0..<4 {
        var request = ModelRequest.random(section: "s", &random)
        if case .keyDescending = request.order { request.order = .key }
        let list = log.controller(request)
        let scrubber = try list.scrubber()
        _ = try await scrubber.move(to: .beginning)
        var last: UInt64 = 0
        for end in log.ends {
          // The changes are found over two kinds of trees: replayed at once, and step by step.
          let changes = try await list.changes(from: .sequence(last), to: .sequence(end))
          let step = try await scrubber.move(to: .sequence(end)).changes
          try #require(changes == step)
          Self.encode(changes, to: &bytes)
          last = end
        }
        Self.encode(try await list.changes(from: .head, to: .sequence(log.head / 2)), to: &bytes)
      }
    }
    // The order of sets and dictionaries differs in every process; this number must not.
    #expect(XXH64.of(bytes) == 13_356_660_208_220_106_072, "\(bytes.count) bytes")
  }

  private static func encode(_ changes: ListChanges<String, DocumentValue>, to bytes: inout [UInt8]) {
    changes.encode(to: &bytes, item: { Array($0.utf8) }, section: { $0.cbor() })
  }
}
