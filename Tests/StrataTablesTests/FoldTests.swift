// Folds: the same state, however it is reached.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct FoldTests {
  /// A store with random document events in random appends, and the naive state after each event.
  private struct History {
    var store: EventStore
    /// After each sequence: table → id → (document, revision).
    var states: [[String: [String: Row]]] = [[:]]

    struct Row: Equatable {
      var document: DocumentValue
      var revision: UInt64
    }
  }

  private func history(_ random: inout SeededGenerator) async throws -> History {
    var options = StoreOptions()
    if Bool.random(using: &random) {
      options.readAhead.eventCountMin = 1
      options.readAhead.processorCountMin = 1
      options.readAhead.byteCount = Int.random(in: 1...500, using: &random)
    }
    var history = History(store: .inMemory(clock: .fixed, options: options))
    var state: [String: [String: Row]] = [:]
    typealias Row = History.Row
    var sequence: UInt64 = 0
    for _ in 0..<Int.random(in: 1...40, using: &random) {
      var events: [NewEvent] = []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let table = ["a", "b", "$view"].randomElement(using: &random)!
        let id = "\(Int.random(in: 0..<6, using: &random))" + (Bool.random(using: &random) ? "/x" : "")
        let stream = StreamName(category: table, id: id)
        sequence += 1
        let old = state[table]?[id]
        let patch: DocumentValue = .object([
          "f\(Int.random(in: 0..<3, using: &random))":
            [.null, .int(1), .double(1), .string("é"), ["n": .int(sequence % 2 == 0 ? 1 : 2)]]
            .randomElement(using: &random)!
        ])
        var new = old?.document
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          events.append(NewEvent(DocumentEvent.delete, in: stream, payload: EventPayload(.null)))
          new = nil
        case 1, 2:
          events.append(NewEvent(DocumentEvent.merge, in: stream, payload: EventPayload(patch)))
          new = (old?.document ?? [:]).applying(mergePatch: patch)
        case 3:
          let json = EventPayload(codec: .json, bytes: Array(patch.json().utf8))
          events.append(NewEvent(DocumentEvent.put, in: stream, payload: json))
          new = patch
        case 4:
          events.append(NewEvent("note", in: "log/\(id)", payload: EventPayload(.null)))
        default:
          events.append(NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(patch)))
          new = patch
        }
        if new != old?.document {
          state[table, default: [:]][id] = new.map { Row(document: $0, revision: sequence) }
        }
        history.states.append(state)
      }
      let draft = try history.store.draft(events, id: nil, time: nil, expecting: [:], isOwn: false)
      _ = try await history.store.append(draft)
    }
    return history
  }

  private func content(_ set: TableSet) throws -> [String: [String: History.Row]] {
    var content: [String: [String: History.Row]] = [:]
    for table in set.tables {
      try table.forEachRow { row in
        content[table.name, default: [:]][row.idText] = History.Row(
          document: try DocumentValue(cbor: row.document), revision: row.revision)
      }
    }
    return content
  }

  @Test
  func `The state at every sequence is the naive one, in whatever steps the log is folded`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<20 {
      let history = try await history(&random)
      let last = UInt64(history.states.count - 1)
      let whole = Fold(history.store.log, .documents(only: nil))
      try whole.run(through: last)
      let stepped = Fold(history.store.log, .documents(only: nil))
      var hashes: [UInt64] = []
      for sequence in 0...last {
        try TreeCheck.$isOn.withValue(true) { _ = try stepped.run(through: sequence) }
        #expect(stepped.state.sequence == sequence)
        let expected = history.states[Int(sequence)].filter { !$0.value.isEmpty }
        #expect(try content(stepped.state) == expected)
        hashes.append(stepped.state.stateHash)
      }
      #expect(whole.state.stateHash == hashes.last)
      #expect(try content(whole.state) == content(stepped.state))
      // Random stops, each time from the beginning.
      for _ in 0..<5 {
        let leaping = Fold(history.store.log, .documents(only: nil))
        let stops = (0..<4).map { _ in UInt64.random(in: 0...last, using: &random) }.sorted()
        for stop in stops {
          try leaping.run(through: stop)
          #expect(leaping.state.stateHash == hashes[Int(stop)])
        }
      }
      // By appends, and at several points at once.
      let byAppend = Fold(history.store.log, .documents(only: nil))
      try byAppend.runByAppend(through: last) { #expect($0.stateHash == hashes[Int($0.sequence)]) }
      let points = (0..<4).map { _ in UInt64.random(in: 0...last, using: &random) }
      let states = try history.store.statesBlocking(
        at: points.map { .sequence($0) }, .documents(only: nil))
      #expect(states.map(\.stateHash) == points.map { hashes[Int($0)] })
    }
  }

  @Test func `The hash tells states apart that differ in one byte, one id, one table or one revision`() throws
  {
    func hash(_ table: String, _ id: String, _ document: DocumentValue, _ sequence: UInt64) -> UInt64 {
      var set = TableSet()
      let scratch = FoldScratch()
      var id = id
      id.withUTF8 { id in
        document.cbor().withUnsafeBytes { document in
          set.withTable(table) {
            $0.put(
              id: UnsafeRawBufferPointer(id), document: document, at: Stamp(sequence: sequence, time: 0),
              scratch)
          }
        }
      }
      return set.stateHash
    }
    let base = hash("t", "id", ["a": 1], 3)
    #expect(base == hash("t", "id", ["a": 1], 3))
    #expect(base != hash("t", "id", ["a": 2], 3))
    #expect(base != hash("t", "ie", ["a": 1], 3))
    #expect(base != hash("u", "id", ["a": 1], 3))
    #expect(base != hash("t", "id", ["a": 1], 4))
    #expect(hash("ti", "d", ["a": 1], 3) != base, "fields must be distinguished by their lengths")
  }

  @Test
  func `A document that is put in another encoding is kept in the deterministic one`() async throws {
    let store = EventStore.inMemory()
    // {"b": 1, "a": 2} with keys in the wrong order and a long head.
    let bytes: [UInt8] = [0xB8, 0x02, 0x61, 0x62, 0x01, 0x61, 0x61, 0x18, 0x02]
    try await store.append([
      NewEvent(DocumentEvent.put, in: "t/1", payload: EventPayload(codec: .cbor, bytes: bytes)),
      NewEvent(DocumentEvent.put, in: "t/2", payload: EventPayload(["a": 2, "b": 1])),
    ])
    let fold = Fold(store.log, .documents(only: nil))
    try fold.run(through: 2)
    var documents: [[UInt8]] = []
    fold.state["t"].forEachRow { documents.append(Array($0.document)) }
    #expect(documents.count == 2 && documents[0] == documents[1])
  }

  @Test
  func `An event that cannot be applied takes the row out and says why, until the next one mends it`()
    async throws
  {
    let store = EventStore.inMemory()
    let good = EventPayload(["a": 1])
    for payload in [
      EventPayload(.int(1)), .opaque([0]), EventPayload(codec: .json, bytes: [0x7B]),
      EventPayload(codec: .cbor, bytes: [0xA1, 0x61]),
    ] {
      try await store.append([
        NewEvent(DocumentEvent.put, in: "t/1", payload: good),
        NewEvent(DocumentEvent.put, in: "t/1", payload: payload),
      ])
      let fold = Fold(store.log, .documents(only: nil))
      try fold.run(through: .max)
      #expect(fold.state["t"].count == 0)
      #expect(fold.state["t"].problems.count == 1)
      try await store.append([NewEvent(DocumentEvent.put, in: "t/1", payload: good)])
      try fold.run(through: .max)
      #expect(fold.state["t"].count == 1)
      #expect(fold.state["t"].problems.count == 0)
    }
  }
}
