// The calls that a delegate receives for an update, and their order.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataViews
internal import Testing

@Suite struct DelegateTests {
  struct Animal: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var kind: String
    var age: Int
  }

  typealias AnimalList = FetchController<Animal, String>

  /// Records every call.
  final class Spy: ListChangesDelegate {
    var calls: [String] = []
    func didLoad(_ list: AnimalList, _ update: ListUpdate<Animal, String>) {
      calls.append("load \(update.after.numberOfItems)")
    }
    func willChange(_ list: AnimalList, _ update: ListUpdate<Animal, String>) { calls.append("will") }
    func didChange(_ list: AnimalList, _ update: ListUpdate<Animal, String>) { calls.append("did") }

    func didChangeSection(_ list: AnimalList, _ section: String, _ change: ListSectionChange) {
      switch change {
      case .insert(let to): calls.append("insert \(section) \(to)")
      case .delete(let from): calls.append("delete \(section) \(from)")
      case .move(let from, let to): calls.append("move \(section) \(from) → \(to)")
      case .update(let from, let to): calls.append("update \(section) \(from) → \(to)")
      }
    }

    func didChangeItem(_ list: AnimalList, _ id: String, _ change: ListItemChange) {
      switch change {
      case .insert(let to): calls.append("insert \(id) \(to)")
      case .delete(let from): calls.append("delete \(id) \(from)")
      case .move(let from, let to, let isChanged):
        calls.append("move \(id) \(from) → \(to)\(isChanged ? " changed" : "")")
      case .update(let from, let to): calls.append("update \(id) \(from) → \(to)")
      }
    }
  }

  /// Implements only the method that has no default.
  final class Quiet: ListChangesDelegate {
    var loads = 0
    func didLoad(_ list: AnimalList, _ update: ListUpdate<Animal, String>) { loads += 1 }
  }

  final class ContentSpy: ListContentDelegate {
    var contents: [[String]] = []
    var updates: [Set<String>] = []
    func didChange(
      _ list: AnimalList, _ content: ListSnapshot<Animal, String>, _ update: ListUpdate<Animal, String>
    ) {
      contents.append(content.itemIdentifiers)
      updates.append(Set(update.changes.changedItems))
    }
  }

  /// The first update, one with changes of every kind, and one with changes of content only.
  private func updates() async throws -> (AnimalList, [ListUpdate<Animal, String>]) {
    let store = EventStore.inMemory()
    let animals = store.collection("animal", of: Animal.self)
    for (id, kind, age) in [
      ("a", "bear", 1), ("b", "bear", 2), ("c", "bear", 3), ("d", "cat", 1), ("e", "cat", 2), ("f", "dog", 1),
    ] {
      try await animals.put(Animal(id: id, kind: kind, age: age))
    }
    let list = FetchController(
      ListRequest(Animal.self).sectioned(by: \.kind).sorted(by: \.age), from: animals)
    var updates = list.updates.makeAsyncIterator()
    let first = try #require(try await updates.next())
    try await store.write { batch throws(StoreError) in
      // The section of cats is removed: one cat is deleted, one becomes a bear. A lion is inserted, and the bears
      // change.
      try batch.delete("d", in: animals)
      try batch.put(Animal(id: "e", kind: "bear", age: 2), in: animals)
      try batch.put(Animal(id: "l", kind: "lion", age: 1), in: animals)
      try batch.put(Animal(id: "a", kind: "bear", age: 9), in: animals)
      try batch.delete("b", in: animals)
      try batch.put(Animal(id: "f", kind: "dog", age: 2), in: animals)
    }
    let second = try #require(try await updates.next())
    try await animals.put(Animal(id: "f", kind: "dog", age: 3))
    return (list, [first, second, try #require(try await updates.next())])
  }

  private static let told = [
    "will", "delete cat 1", "insert lion 2", "delete d [1, 0]", "delete b [0, 1]",
    "move e [1, 1] → [0, 0] changed", "move a [0, 0] → [0, 2] changed", "insert l [2, 0]",
    "update f [2, 0] → [1, 0]", "did",
  ]

  @Test
  func `R25 A delegate is told sections before items, each once, with its old and its new place`()
    async throws
  {
    let spy = Spy()
    let quiet = Quiet()
    let (list, updates) = try await updates()
    for update in updates {
      await spy.receive(list, update)
      await quiet.receive(list, update)
    }
    #expect(spy.calls == ["load 6"] + Self.told + ["will", "update f [1, 0] → [1, 0]", "did"])
    #expect(quiet.loads == 1)
  }

  @Test
  func `R25 What is told of an item is where it was and where it is`() async throws {
    for update in try await updates().1 {
      update.changes.forEachItemChange { id, change in
        if let from = change.from { #expect(update.before?.itemIdentifier(at: from) == id) }
        if let to = change.to { #expect(update.after.itemIdentifier(at: to) == id) }
        #expect((change.from == nil) == !(update.before?.contains(id) ?? false))
        #expect((change.to == nil) == !update.after.contains(id))
      }
    }
  }

  @Test
  func `R37 A delegate of the content is told the list, and which items changed in place`() async throws {
    let spy = ContentSpy()
    let (list, updates) = try await updates()
    for update in updates { await spy.receive(list, update) }
    #expect(
      spy.contents == [
        ["a", "b", "c", "d", "e", "f"], ["e", "c", "a", "f", "l"], ["e", "c", "a", "f", "l"],
      ])
    #expect(spy.updates == [[], ["e", "a", "f"], ["f"]])
  }

  @Test
  func `Where the delegate's way to be told is not known, receive(_:_:) knows it`() async throws {
    let (spy, content) = (Spy(), ContentSpy())
    let delegates: [any FetchControllerDelegate<Animal, String>] = [spy, content]
    let (list, updates) = try await updates()
    for update in updates { for delegate in delegates { await delegate.receive(list, update) } }
    #expect(spy.calls.count == 1 + Self.told.count + 3 && content.contents.count == 3)
  }

  @Test
  func `R27 An item of a deleted section is a deletion or a move, one of an inserted section an insertion`()
    async throws
  {
    let changes = try await updates().1[1].changes
    #expect(changes.sectionDeletions.map(\.from) == [1] && changes.sectionInsertions.map(\.to) == [2])
    #expect(
      changes.deletions.map(\.from) == [ListIndex(section: 1, item: 0), ListIndex(section: 0, item: 1)])
    #expect(changes.moves.map(\.from) == [ListIndex(section: 1, item: 1), ListIndex(section: 0, item: 0)])
    #expect(changes.insertions.map(\.to) == [ListIndex(section: 2, item: 0)])
    // The batch for a view has fewer operations.
    #expect(changes.batch().moves.count == 1 && changes.batch().sectionDeletions == [1])
  }

  @Test
  func `R36 Inserts are in the new list only, deletes in the old one only, updates in both`() async throws {
    for update in try await updates().1 {
      let old = Set(update.before?.itemIdentifiers ?? update.after.itemIdentifiers)
      let new = Set(update.after.itemIdentifiers)
      #expect(Set(update.changes.insertions.map(\.id)) == new.subtracting(old))
      #expect(Set(update.changes.deletions.map(\.id)) == old.subtracting(new))
      #expect(Set(update.changes.changedItems).isSubset(of: old.intersection(new)))
    }
    let changes = try await updates().1[1].changes
    #expect(changes.insertions.map(\.id) == ["l"] && Set(changes.deletions.map(\.id)) == ["b", "d"])
    #expect(Set(changes.changedItems) == ["a", "e", "f"])
  }
}
