// Optional properties as keys, instead of force-unwraps that stop the process: every row has a position.

internal import Foundation
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
@testable internal import StrataFetch
internal import StrataTables
internal import Testing

private struct Visit: Codable, Identifiable, Sendable, Equatable {
  struct Place: Codable, Sendable, Equatable { var city: String? }

  var id: String
  var name: String?
  var place: Place?
  var time: Date?
}

@Suite struct OptionalKeyTests {
  private func visits() async throws -> DocumentCollection<Visit> {
    let visits = EventStore.inMemory().collection("visit", of: Visit.self)
    try await visits.put(
      Visit(id: "a", name: "x", place: .init(city: "Bonn"), time: .init(timeIntervalSince1970: 1)))
    try await visits.put(Visit(id: "b", name: nil, place: nil, time: nil))
    try await visits.put(
      Visit(id: "c", name: "y", place: .init(city: nil), time: .init(timeIntervalSince1970: 2)))
    return visits
  }

  @Test func `rows without a section are one section, nil, by an optional property or a chain of them`()
    async throws
  {
    let visits = try await visits()
    let byName = DiffableFetchController(
      visits, sectionKey: \.name, sortKeys: [.init(\.time, .reverse, .nilsLast)])
    let names = try await byName.performFetch()
    #expect(names.sectionIdentifiers == ["y", "x", nil] && names.itemIdentifiers == ["c", "a", "b"])
    let byCity = DiffableFetchController(visits, sectionKey: \.place?.city, sortKeys: [.init(\.name)])
    let cities = try await byCity.performFetch()
    #expect(cities.sectionIdentifiers == [nil, "Bonn"] && cities.itemIdentifiers == ["b", "c", "a"])
    #expect(names.numberOfProblems == 0 && cities.numberOfProblems == 0)
  }

  @Test func `rows without a section that they need are left out and reported`() async throws {
    let list = FetchController(
      ListRequest(Visit.self).sectioned(by: \.place?.city, nils: .required), from: try await visits())
    let snapshot = try await list.performFetch()
    #expect(snapshot.sectionIdentifiers == ["Bonn"] && snapshot.itemIdentifiers == ["a"])
    #expect(snapshot.problems.map(\.id) == ["b", "c"])
  }

  @Test func `a closure that compares an optional passes no row without a value`() async throws {
    let list = FetchController(
      ListRequest(Visit.self).filtered(id: "named") { $0.name == "y" }, from: try await visits())
    #expect(try await list.performFetch().itemIdentifiers == ["c"])
  }

  @Test func `a key path that force-unwraps ends the process at the first row without a value, as is said`()
    async throws
  {
    await #expect(processExitsWith: .failure) {
      let visits = EventStore.inMemory().collection("visit", of: Visit.self)
      try await visits.put(Visit(id: "b"))
      let list = FetchController(ListRequest(Visit.self).sectioned(by: \.name!), from: visits)
      _ = try await list.performFetch()
    }
  }
}
