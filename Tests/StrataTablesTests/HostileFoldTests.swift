// Logs and projections that go wrong in the middle of a fold.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

private struct Entry: Codable, Identifiable, Sendable, Equatable { var id: String }

/// Rows whose ids are given by the events.
private struct Index: Projection {
  static let name = "index"
  static let version = 1
  static let entries = TableKey<Entry>("entry")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard case .string(let id) = try event.payload.document() else { return }
    tables[Self.entries, "last"] = Entry(id: "last")
    tables[Self.entries, id] = Entry(id: id)
    if tables[Self.entries, id] == nil { tables[Self.entries, "none"] = Entry(id: "none") }
  }
}

@Suite struct HostileFoldTests {
  private static let layout = StoreLayout(root: "/store")

  /// A store of three appends, the second of which holds an event of a kind that this version does not know.
  private func storeFromTheFuture() throws -> EventStore {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    var random = SeededGenerator(seed: 1)
    for number in 1...3 {
      try store.appendBlocking(
        (0..<3).map { index in
          // Noise, so that the block is not compressed.
          let noise = (0..<300).map { _ in UInt8.random(in: 0...255, using: &random) }
          let payload = EventPayload(["noise": .bytes(noise)])
          return NewEvent(DocumentEvent.put, in: "doc/\(number)-\(index)", payload: payload)
        })
    }
    try store.closeBlocking()
    let path = Self.layout.segment(1)
    var bytes = try #require(disk.contents(path))
    var blocks: [BlockHeader] = []
    let file = try disk.open(path, .read)
    _ = try TailRule.assess(
      file: file, name: "", segment: try SegmentHandle.readHeader(of: file, first: 1, storeID: nil), head: nil
    ) { block, _ in blocks.append(block) }
    file.close()
    var header = try #require(blocks.first { $0.firstSequence == 4 && !$0.isControl })
    let start = Int(header.ownOffset) + BlockHeader.length
    let stored = start..<start + Int(header.storedLength)
    try #require(header.codec == BlockCodec.none, "the block must not be compressed")
    let name = Array("doc/2-1".utf8)
    let place = try #require(
      stored.first { bytes[$0..<min($0 + name.count, bytes.count)].elementsEqual(name) })
    // Before the name are its length, the revision, the flags and the kind.
    bytes[place - 11] = 5
    header.payloadChecksum = bytes[stored].withUnsafeBytes { CRC32C.of($0) }
    bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress! + Int(header.ownOffset)) }
    disk.replace(path, bytes)
    return try EventStore.open(disk, path: "/store", .readOnly, options: StoreOptions())
  }

  @Test
  func `An event that cannot be read stops the fold for good: asking again skips nothing`() async throws {
    let store = try storeFromTheFuture()
    let docs = store.collection("doc", of: Entry.self)
    for _ in 0..<3 {
      await #expect { try await docs.table.state(at: .head) } throws: { error in
        (error as? StoreError)?.reason == .unsupported
      }
    }
    // The state that was published before is one at the end of an append.
    let published = store.projector(.documents(only: nil)).published
    #expect([0, 3].contains(published.sequence))
    #expect(published["doc"].count == Int(published.sequence))
    let fold = Fold(store.log, .documents(only: nil))
    for _ in 0..<3 { #expect(throws: StoreError.self) { try fold.run(through: 9) } }
    #expect(fold.state.sequence <= 4)
    for _ in 0..<2 { #expect(throws: StoreError.self) { try fold.runByAppend(through: 9) { _ in } } }
    // The state before the event can be read.
    #expect(try await docs.table.state(at: .sequence(3))["doc"].count == 3)
    await #expect(throws: StoreError.self) { try await docs.table.state(at: .sequence(8)) }
  }

  @Test
  func `A row id that is too long fails the event, and the fold goes on`() async throws {
    let store = EventStore.inMemory()
    let entries = store.table(Index.entries, of: Index())
    let ids = ["a", String(repeating: "x", count: 70_000), "", String(repeating: "\0", count: 30_000), "b"]
    for id in ids { try await store.append([NewEvent("t", in: "s/1", payload: EventPayload(.string(id)))]) }
    let set = try await entries.table.state(at: .head)
    #expect(set["entry"].count == 5)
    #expect(set.failures.count == 1 && set.failures.listed.first?.sequence == 2)
    #expect(try await store.failures(of: Index()) == set.failures)
    #expect(try await entries[ids[1]] == nil)
    #expect(try await entries[ids[3]]?.id == ids[3])
    #expect(try await entries[""]?.id == "")
  }

  @Test
  func `Projections with other tables or other types of one name share no fold`() {
    let store = EventStore.inMemory()
    let all = store.projector(.documents(only: nil))
    #expect(store.projector(.documents(only: ["a"])) !== all)
    #expect(store.projector(.documents(only: ["a"])) === store.projector(.documents(only: ["a"])))
  }

  @Test
  func `A view that nobody holds is taken out, unless an equal one was asked for meanwhile`() async throws {
    let store = EventStore.inMemory()
    let projector = store.projector(.documents(only: nil))
    func definition() -> ViewDefinition {
      ViewDefinition(identity: ViewIdentity("all"), sectionOrder: .key) { _, _ in PlacedLengths(section: 0) }
    }
    for round in 1...50 {
      var lease: ViewLease? = projector.lease(definition(), of: "doc")
      _ = try await projector.state(reaching: .max, with: lease!)
      try store.appendBlocking([
        NewEvent(DocumentEvent.put, in: "doc/\(round)", payload: EventPayload(["n": 1]))
      ])
      async let folding = projector.state(reaching: .max)
      lease = nil
      let next = projector.lease(definition(), of: "doc")
      let set = try await projector.state(reaching: .max, with: next)
      #expect(set["doc"].view(next.definition.identity)?.count == round)
      _ = try await folding
    }
    try store.appendBlocking([NewEvent("t", in: "s/1", payload: EventPayload(.null))])
    #expect(try await projector.state(reaching: .max)["doc"].views.isEmpty)
  }
}
