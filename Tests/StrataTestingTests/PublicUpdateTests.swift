// A double of a live list, as an application tests what consumes updates, with public names alone.

import Strata
import Testing

@Suite struct PublicUpdateTests {
  struct Chore: Codable, Hashable, Identifiable, Sendable {
    var id: String
    var title: String
  }

  typealias Update = ListUpdate<Chore, Unsectioned>

  /// What an application has between its screen and its store.
  protocol Chores {
    func updates() -> AsyncStream<Update>
  }

  /// Gives updates that a test makes.
  struct ChoresDouble: Chores {
    let made: [Update]
    func updates() -> AsyncStream<Update> {
      AsyncStream { stream in
        for update in made { stream.yield(update) }
        stream.finish()
      }
    }
  }

  /// Counts what a screen would be shown.
  private func shown(by chores: some Chores) async -> [String] {
    var shown: [String] = []
    for await update in chores.updates() {
      if update.before == nil { shown = update.after.itemIdentifiers }
      for deletion in update.changes.deletions { shown.removeAll { $0 == deletion.id } }
      for insertion in update.changes.insertions { shown.insert(insertion.id, at: insertion.to.item) }
    }
    return shown
  }

  @Test func `a test makes the updates of a list without a live list`() async throws {
    let store = EventStore.inMemory()
    let chores = store.collection("chore", of: Chore.self)
    let list = FetchController(ListRequest(Chore.self).sorted(by: \.title), from: chores)
    try await chores.put([Chore(id: "1", title: "b"), Chore(id: "2", title: "c")])
    let old = try await list.performFetch()
    try await chores.put(Chore(id: "3", title: "a"))
    try await chores.delete("2")
    let new = try await list.performFetch()
    let double = ChoresDouble(made: [
      Update(reason: .initial, before: nil, after: old, changes: ListChanges()),
      Update(reason: .changed, before: old, after: new, changes: ListChanges(from: old, to: new)),
    ])
    #expect(await shown(by: double) == ["3", "1"])
    #expect(old.sectionIdentifier(at: 0) == Unsectioned())
    #expect(double.made[1].sequence == new.sequence && double.made[1].changes.insertions.count == 1)
    try await store.close()
  }
}
