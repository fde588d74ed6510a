// Measures the first fetch of a list through the public interface, from a closed store to a fetched list.

internal import Foundation
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataTables
internal import StrataSimulation

extension Workload {
  /// Opens a store and fetches its list. Nothing of it is in memory except the system's file cache.
  static func firstFetches(_ bench: Bench) async throws {
    for size in [5_000, 1_000_000] {
      let path = bench.scratch.fresh("lists-\(size)")
      try await ListedEvent.store(of: size, at: path).close()
      var (decoded, byFields, again, sorting): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
      for _ in 0..<(size > 100_000 ? min(3, bench.rounds) : bench.rounds) {
        let store = try await EventStore.open(at: path)
        let events = store.collection("event", of: ListedEvent.self)
        let list = FetchController(ListedEvent.request, from: events)
        decoded.append(
          try await seconds {
            let snapshot = try await list.performFetch()
            precondition(snapshot.numberOfItems == size)
          })
        // A second, equal list shares the table and view of the first.
        let second = FetchController(ListedEvent.request, from: events)
        again.append(try await seconds { _ = try await second.performFetch() })
        try await store.close()

        let other = try await EventStore.open(at: path)
        let fields = FetchController(ListedEvent.requestByFields, from: other.documents("event"))
        byFields.append(
          try await seconds {
            let snapshot = try await fields.performFetch()
            precondition(snapshot.numberOfItems == size)
          })
        try await other.close()

        let rows = ListedEvent.rows(size).shuffled()
        sorting.append(
          seconds {
            let sorted = rows.sorted {
              ($0.sectionName, $1.timestamp) < ($1.sectionName, $0.timestamp)
            }
            precondition(sorted.count == size)
          })
      }
      report("first fetch of \(size), decoded", milliseconds(median(decoded)))
      report(
        "  of documents, by fields",
        "\(milliseconds(median(byFields))), \(ratio(medianRatio(byFields, to: decoded), 1)) ×")
      report(
        "  again, by a second list",
        "\(microseconds(median(again))), \(String(format: "%.5f", medianRatio(again, to: decoded))) ×")
      report(
        "  for comparison: sorting an array",
        "\(milliseconds(median(sorting))), \(ratio(medianRatio(sorting, to: decoded), 1)) ×")
    }
  }
}
