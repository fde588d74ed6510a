// Feeds of the events whose payload or metadata pass a filter.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTesting
internal import Testing

@Suite struct EventFilterTests {
  private func sequences(_ store: EventStore, _ selection: EventSelection) async throws -> [UInt64] {
    var sequences: [UInt64] = []
    for try await append in store.feed(of: selection, until: .caughtUp) {
      sequences += append.events.map(\.sequence)
    }
    return sequences
  }

  /// An event as the filter language sees it, with its payload or its metadata as the document.
  private func row(_ event: RecordedEvent, _ document: DocumentValue) -> SampleRow {
    SampleRow(id: event.stream.id, revision: event.sequence, time: event.time, document: document)
  }

  @Test func `a filtered feed is what a naive evaluator takes of the whole feed`() async throws {
    var filters = RandomFilters(random: SeededGenerator(seed: SeededGenerator.testSeed()))
    var taken = 0
    for round in 0..<500 {
      let store = EventStore.inMemory()
      for number in 0..<8 {
        let document = filters.row().document
        let payload =
          switch number % 4 {
          case 0: EventPayload(codec: .json, bytes: document.jsonBytes())
          case 1 where number > 4: EventPayload.opaque([1, 2, 3])
          default: EventPayload(document)
          }
        var metadata: DocumentObject = [:]
        if case .object(let object) = filters.row().document { metadata = object }
        try await store.append([NewEvent("t", in: "s/\(number)", payload: payload, metadata: metadata)])
      }
      if round % 10 == 0 { try await store.erase(Erasure(sequences: [3...3], because: "a test")) }
      let filter = RowFilter(filters.expression())
      var (byPayload, byMetadata): ([UInt64], [UInt64]) = ([], [])
      for try await append in store.feed(until: .caughtUp) {
        for event in append.events where event.state == .whole {
          let metadata = DocumentValue.object(try event.metadata())
          if NaiveEvaluator(row: row(event, metadata)).holds(filter.expression) {
            byMetadata.append(event.sequence)
          }
          guard event.payload.codec != .bytes else { continue }
          let document = try event.document()
          if NaiveEvaluator(row: row(event, document)).holds(filter.expression) {
            byPayload.append(event.sequence)
          }
        }
      }
      try #require(try await sequences(store, .all.matching(filter)) == byPayload, "\(filter)")
      try #require(try await sequences(store, .all.matching(metadata: filter)) == byMetadata, "\(filter)")
      taken += byPayload.count
    }
    #expect((500..<3_000).contains(taken), "the random filters take too few or too many events: \(taken)")
  }

  @Test func `a selection narrows with each condition, and arguments are literals`() async throws {
    let store = EventStore.inMemory()
    for number in 0..<10 {
      try await store.append([
        NewEvent(
          number % 2 == 0 ? "even" : "odd", in: "n/\(number)", ["number": .int(Int64(number))],
          metadata: ["by": number < 5 ? "O'Hara || true" : "b"])
      ])
    }
    let name = "O'Hara || true"
    let selection = try EventSelection.category("n").types("odd").matching("number > \(1)").matching(
      metadata: "by == \(name)")
    #expect(try await sequences(store, selection) == [4])
    #expect(throws: FilterError.self) { try EventSelection.all.matching("number >") }
  }
}
