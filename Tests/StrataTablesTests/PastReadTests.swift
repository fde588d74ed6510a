// Rows at points of the past, and the fields of a table.

import StrataDocuments
import StrataEvents
import StrataLog
@testable internal import StrataPast
import StrataSimulation
import Testing

@testable import StrataTables

@Suite struct PastReadTests {
  private static func store(_ random: inout StrataSimulation.SeededGenerator) async throws -> EventStore {
    var options = StoreOptions()
    options.segmentSizeTarget = [1, 5_000, 5_000, 1 << 20].randomElement(using: &random)!
    options.blockSizeTarget = [1, 300, 4_000].randomElement(using: &random)!
    options.sealsInBackground = false
    let store = EventStore.inMemory(options: options)
    for number in 0..<Int.random(in: 1...15, using: &random) {
      var events: [NewEvent] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let stream = StreamName("doc/\(Int.random(in: 0..<4, using: &random))")
        let value = DocumentValue.int(Int64.random(in: 0..<5, using: &random))
        let event =
          switch Int.random(in: 0..<8, using: &random) {
          case 0...2: NewEvent("$put", in: stream, ["a": value, "o": ["b": value, "c": .null]])
          case 3...4:
            NewEvent("$merge", in: stream, ["a": value, "o": ["b": .null], "n": .int(Int64(number))])
          case 5: NewEvent("$delete", in: stream, .null)
          case 6: NewEvent("$merge", in: stream, .int(3))
          default: NewEvent("note", in: "other/1", .null)
          }
        events.append(event)
      }
      try await store.append(events)
    }
    if Int.random(in: 0..<10, using: &random) == 0 {
      let sequence = UInt64.random(in: 1...store.head.sequence, using: &random)
      try await store.erase(Erasure(sequences: [sequence...sequence], because: "a test"))
    }
    return store
  }

  @Test(arguments: UInt64(0)..<500)
  func `a document at a point is its row in the state at that point`(seed: UInt64) async throws {
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let store = try await Self.store(&random)
    let documents = store.documents("doc")
    for _ in 0..<4 {
      let sequence = UInt64.random(in: 0...store.head.sequence, using: &random)
      let append = try await store.append(holding: max(1, sequence))
      let points: [LogPoint] = [.sequence(sequence), .head, .time(try #require(append).time), .beginning]
      let point = points.randomElement(using: &random)!
      let all = try await documents.all(at: point)
      for id in 0..<4 {
        #expect(
          try await documents["\(id)", at: point] == all.first { $0.id == "\(id)" }, "\(id) at \(point)")
      }
    }
    let end = store.head.sequence
    await #expect(throws: StoreError.position(.beyondEnd(sequence: end + 1, last: end))) {
      try await documents["1", at: .sequence(end + 1)]
    }
  }

  @Test(arguments: UInt64(0)..<500)
  func `the fields of a table are those of its rows`(seed: UInt64) async throws {
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let store = try await Self.store(&random)
    let documents = store.documents("doc")
    let point: LogPoint = Bool.random(using: &random) ? .head : .sequence(store.head.sequence / 2)
    var values: [String: [DocumentValue]] = [:]
    func walk(_ object: DocumentObject, _ path: String) {
      for (key, value) in object {
        if case .object(let inner) = value, !inner.isEmpty {
          walk(inner, "\(path)\(key).")
        } else {
          values["\(path)\(key)", default: []].append(value)
        }
      }
    }
    for row in try await documents.all(at: point) { walk(row.fields, "") }
    let fields = try await documents.fields(at: point)
    #expect(fields.map(\.path) == values.keys.sorted())
    for field in fields {
      let all = try #require(values[field.path])
      #expect(field.rowCount == all.count && field.nullCount == all.filter { $0 == .null }.count)
      let counts = Dictionary(all.filter { $0 != .null }.map { ($0, 1) }, uniquingKeysWith: +)
      #expect(
        Dictionary(uniqueKeysWithValues: field.commonestValues.map { ($0.value, $0.rowCount) }) == counts)
      #expect(field.commonestValues.map(\.rowCount) == counts.values.sorted(by: >))
      #expect(field.differentValueCount == counts.count)
      #expect(field.types[.null, default: 0] == field.nullCount)
      #expect(field.types.values.reduce(0, +) >= field.rowCount)
    }
  }

  @Test func `a common value is found among many different ones`() async throws {
    let store = EventStore.inMemory()
    try await store.append(
      (0..<6_000).map { number in
        let value: DocumentValue = number >= 3_000 && number % 100 == 0 ? "often" : .int(Int64(number))
        let long: DocumentValue = .string(String(repeating: "x", count: number % 2 == 0 ? 300 : 3))
        return NewEvent("$put", in: "doc/\(number)", ["v": value, "long": long])
      })
    let fields = try await store.documents("doc").fields(commonest: 2)
    #expect(fields.map(\.path) == ["long", "v"])
    #expect(
      fields[0].rowCount == 6_000 && fields[0].commonestValues == [.init(value: "xxx", rowCount: 3_000)])
    #expect(fields[1].commonestValues.first == .init(value: "often", rowCount: 30))
    #expect(fields[1].types == [.integer: 5_970, .string: 30] && fields[0].types == [.string: 6_000])
    #expect(fields.map(\.differentValueCount) == [nil, nil])
  }

  @Test func `a row of a projection is read at a point too`() async throws {
    struct Counts: Projection {
      struct Count: Codable, Identifiable, Equatable {
        var id: String
        var count = 0
      }
      static let name = "counts"
      static let version = 1
      static let table = TableKey<Count>("count")
      func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
        let count = tables[Self.table, event.stream.id]?.count ?? 0
        tables[Self.table, event.stream.id] = Count(id: event.stream.id, count: count + 1)
      }
    }
    let store = EventStore.inMemory()
    for _ in 0..<5 { try await store.append([NewEvent("t", in: "a/x", .null)]) }
    let table = store.table(Counts.table, of: Counts())
    #expect(try await table["x"]?.count == 5)
    #expect(try await table["x", at: .sequence(3)]?.count == 3)
    #expect(try await table.all(at: .sequence(2)).map(\.count) == [2])
    #expect(try await table["y", at: .sequence(3)] == nil)
  }
}
