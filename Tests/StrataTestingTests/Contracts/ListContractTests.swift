// The contract of lists: what it accepts, and what it must refuse.

import Strata
import StrataTesting
import Synchronization
import Testing

@Suite struct ListContractTests {
  struct Row: Codable, Equatable, Identifiable, Sendable {
    var id: String
    var title: String
    var group: String
  }

  enum RowEvent: DomainEvent {
    case added(title: String, group: String), retitled(title: String), moved(group: String), gone
  }

  struct Rows: Projection {
    static let name = "rows"
    static let version = 1
    static let rows = TableKey<Row>("row")

    func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
      let id = event.stream.id
      switch try event.decode(RowEvent.self) {
      case .added(let title, let group): tables[Self.rows, id] = Row(id: id, title: title, group: group)
      case .retitled(let title): tables[Self.rows, id]?.title = title
      case .moved(let group): tables[Self.rows, id]?.group = group
      case .gone: tables[Self.rows, id] = nil
      case nil: break
      }
    }
  }

  private static let events = Gen<EventHistory>.histories(
    of: RowEvent.self, events: .decodable(GenOverride(Gen<String>.string(of: "abc", count: 0...1))),
    in: ["row/1", "row/2", "row/3"])
  private static let request = ListRequest(Row.self).sectioned(by: \.group).sorted(by: \.title)

  @Test func `a list of pure closures passes`() async throws {
    let request = Self.request.filtered { $0.title != "b" }
    let report = try await check(
      list: request, of: { $0.table(Rows.rows, of: Rows()) }, events: Self.events,
      Budget(cases: 30, size: 20, duration: .seconds(3_600)),
      seed: 1)
    #expect(report.cases == 30)
  }

  @Test func `a filter that remembers how often it was called is found within fifty cases`() async throws {
    // Impure closures have no shortest history to rely on, but each fails soon.
    for seed: UInt64 in 0..<3 {
      let counter = Counter()
      let request = Self.request.filtered { _ in counter.next() % 3 != 0 }
      let found = await #expect(throws: Counterexample.self) {
        try await check(
          list: request, of: { $0.table(Rows.rows, of: Rows()) }, events: Self.events,
          Budget(cases: 50, size: 20, duration: .seconds(3_600)), seed: seed)
      }
      #expect(found?.failure is Unfulfilled && found?.foundAt ?? .max <= 50)
    }
  }
}

/// Numbers from 1.
private final class Counter: Sendable {
  private let last = Mutex(0)

  func next() -> Int {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
