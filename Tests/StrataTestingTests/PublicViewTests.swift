// A list on a mock view as an application tests its screen, with public names alone.

import Strata
import StrataTesting
import StrataViews
import Testing

@Suite struct ChoreScreenTests {
  struct Chore: Codable, Hashable, Identifiable, Sendable {
    var id: String
    var room: String
    var title: String
  }

  typealias Screen = MockListView<String, String>

  /// What the screen's data source returns for a list. A version is a number that differs if the content differs.
  private func data(_ list: ListSnapshot<Chore, String>) throws -> Screen.Data {
    Screen.Data(
      try DiffableSnapshot(list), version: { list.row(for: $0).hashValue }, sectionVersion: { _ in 0 })
  }

  @Test func `the screen shows the list after every change`() async throws {
    let chores = EventStore.inMemory().collection("chore", of: Chore.self)
    try await chores.put(Chore(id: "1", room: "Kitchen", title: "Dishes"))
    let request = ListRequest(Chore.self).sectioned(by: \.room).sorted(by: \.title)
    var updates = FetchController(request, from: chores).updates(.everyCommit).makeAsyncIterator()
    let first = try #require(try await updates.next())
    var screen = Screen(data: try data(first.after))

    try await chores.put(Chore(id: "2", room: "Kitchen", title: "Bin"))
    try await chores.update("1") { $0.room = "Attic" }
    try await chores.update("2") { $0.title = "Bins" }
    try await chores.delete("1")
    for _ in 0..<4 {
      let update = try #require(try await updates.next())
      try screen.show(update.changes.batch(), data(update.after))
      #expect(screen.staleCells.isEmpty && screen.staleSections.isEmpty)
      #expect(screen.shown == screen.data)
    }
    #expect(screen.shown.sections.map(\.id) == ["Kitchen"])
  }
}
