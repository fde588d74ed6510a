// Rows that hold the time of their event.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct TimestampRowTests {
  private struct Visit: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var seen: Timestamp
    var left: Timestamp?
  }

  @Test func `A row holds the time of its event, and lists sort by it to the nanosecond`() async throws {
    let store = EventStore.inMemory()
    let visits = store.collection("visit", of: Visit.self)
    let moments: [Int64] = [.min + 1, -1, 0, 1_763_900_000_000_000_001, 1_763_900_000_000_000_002, .max]
    let rows = moments.enumerated().map { index, nanoseconds in
      Visit(
        id: "v\(index)", seen: Timestamp(nanoseconds: nanoseconds),
        left: index % 2 == 0 ? nil : Timestamp(nanoseconds: -nanoseconds))
    }
    try await visits.put(rows.shuffled())
    let snapshot = try await FetchController(ListRequest(Visit.self).sorted(by: \.seen), from: visits)
      .performFetch()
    #expect(snapshot.itemIdentifiers == rows.map(\.id))
    #expect(rows.allSatisfy { row in snapshot.row(for: row.id) == row })
    let fields = try ListRequest(DocumentRow.self).sorted(byField: FieldPath("seen"), .reverse)
    let byField = try await FetchController(fields, from: store.documents("visit")).performFetch()
    #expect(byField.itemIdentifiers == rows.map(\.id).reversed())
  }

  @Test func `A filter compares the time that a row holds with a moment, to the nanosecond`() async throws {
    let store = EventStore.inMemory()
    let visits = store.collection("visit", of: Visit.self)
    let moments: [Int64] = [
      .min, -1_000_000_001, -1_000_000_000, -1, 0, 1, 1_763_900_000_000_000_001, .max,
    ]
    try await visits.put(
      moments.enumerated().map { Visit(id: "v\($0)", seen: Timestamp(nanoseconds: $1)) })
    for (place, moment) in moments.enumerated() {
      let time = Timestamp(nanoseconds: moment)
      func ids(_ filter: FilterTemplate) async throws -> [String] {
        try await visits.all(where: filter).map(\.id).sorted()
      }
      let all = moments.indices.map { "v\($0)" }
      #expect(try await ids("seen == \(time)") == [all[place]])
      #expect(try await ids("seen < \(time)") == Array(all[..<place]))
      #expect(try await ids("seen >= \(time)") == Array(all[place...]))
      #expect(try await ids("seen != \(time) && left == null").count == moments.count - 1)
    }
    // Also with a date that is written.
    let late = try await visits.all(where: "seen > @'2025-01-01'")
    #expect(late.map(\.id).sorted() == ["v6", "v7"])
  }

  @Test func `The codec of a time is its nanoseconds`() throws {
    let time = Timestamp(nanoseconds: 1_763_900_000_000_000_001)
    #expect(try JSONDecoder().decode(Timestamp.self, from: JSONEncoder().encode(time)) == time)
    #expect(try DocumentValue(encoding: [time]) == [.int(time.nanoseconds)])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Timestamp.self, from: Data("\"now\"".utf8))
    }
  }
}
