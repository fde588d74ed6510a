// Which fields a change names, and updates for selected fields only.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct ChangedFieldsTests {
  private func fields(_ old: [UInt8], _ new: [UInt8]) -> [String] {
    old.withUnsafeBytes { old in new.withUnsafeBytes { ChangedFields.between(old, $0) } }
  }

  private func document(_ random: inout SeededGenerator, _ names: [String]) -> DocumentObject {
    var object: DocumentObject = [:]
    for name in names where Int.random(in: 0..<4, using: &random) > 0 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: object[name] = .null
      case 1:
        object[name] = .string(["x", "longer than a short one", ""].randomElement(using: &random) ?? "")
      case 2: object[name] = .array([.int(Int64.random(in: 0...1, using: &random)), .bool(true)])
      case 3: object[name] = .object(["in": .int(Int64.random(in: 0...1, using: &random))])
      default: object[name] = .int(Int64.random(in: 0...2, using: &random))
      }
    }
    return object
  }

  @Test
  func `R65 The fields of an update are those that differ, by their UTF-8, whatever the documents hold`() {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let names = [
      "a", "b", "bb", "é", "e\u{301}", "a long name of a field, of more than twenty-three bytes", "z", "",
    ]
    for _ in 0..<3_000 {
      let (old, new) = (document(&random, names), document(&random, names))
      let expected = names.filter { old[$0] != new[$0] }
        .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      let found = fields(DocumentValue.object(old).cbor(), DocumentValue.object(new).cbor())
      #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "seed \(seed)")
    }
  }

  @Test
  func `R65 Damaged documents name no fields that are not theirs, and do no harm`() {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      let old = DocumentValue.object(document(&random, ["a", "b", "c"])).cbor()
      var new = DocumentValue.object(document(&random, ["a", "b", "c"])).cbor()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: if !new.isEmpty { new.removeLast(Int.random(in: 0...new.count, using: &random)) }
        case 1: new.insert(UInt8.random(in: 0...255, using: &random), at: 0)
        default:
          if let place = new.indices.randomElement(using: &random) {
            new[place] = UInt8.random(in: 0...255, using: &random)
          }
        }
      }
      _ = fields(old, new)
      _ = fields(new, old)
    }
    // Nothing, a value that is not an object, keys that are not text or out of order, a duplicate key, indefinite
    // lengths.
    let object = DocumentValue.object(["a": 1]).cbor()
    for bytes: [UInt8] in [
      [], [0x80], [0xA1, 0x01, 0x01], [0xA2, 0x61, 0x62, 0x01, 0x61, 0x61, 0x02],
      [0xA2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02], [0xBF, 0x61, 0x61, 0x02, 0xFF], [0xA1, 0x61],
      [0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ] {
      #expect(fields(object, bytes) == [] && fields(bytes, object) == [])
    }
  }

  @Test
  func `R65 Moves name their fields too, and an item that came or went none`() async throws {
    let home = try await Household("abcd")
    let before = try await home.list.performFetch()
    try await home.chores.put([
      Chore(id: 0, title: "z"), Chore(id: 1, title: "b", owner: nil), Chore(id: 9, title: "n"),
    ])
    let changes = ListChanges(from: before, to: try await home.list.performFetch())
    #expect(changes.moves.map(\.id).sorted() == [0, 1])
    #expect(changes.moves.first { $0.id == 0 }?.changedFields == ["title"])
    #expect(changes.moves.first { $0.id == 1 }?.changedFields == ["owner"])
    #expect(changes.insertions.map(\.id) == [9])
    // Also between two requests.
    let other = FetchController(Household.all.sectionsOrdered(by: .keyDescending), from: home.chores)
    let now = try await other.performFetch()
    #expect(ListChanges(from: before, to: now).changedItems.sorted() == [0, 1])
  }

  @Test
  func `R65 Who observes fields is told of no update of others, but of all that comes, goes or moves`()
    async throws
  {
    let home = try await Household("abcd")
    var byName = home.list.updates(fields: ["isDone"]).makeAsyncIterator()
    var byProperty = home.list.updates(observing: \.isDone, \.id).makeAsyncIterator()
    let first = try #require(try await byName.next())
    _ = try await byProperty.next()
    // Titles that do not change the order.
    try await home.chores.update(0) { $0.title = "a2" }
    try await home.list.performFetch()
    try await home.chores.update(2) { $0.title = "c2" }
    try await home.list.performFetch()
    try await home.chores.update(2) { $0.isDone = true }
    for update in [try await byName.next(), try await byProperty.next()] {
      let update = try #require(update)
      #expect(update.changes.updates.map(\.id) == [2])
      // It begins with what was delivered last, so it names every field of the row that changed since then.
      #expect(update.changes.updates.map(\.changedFields) == [["isDone", "title"]])
      #expect(update.before?.sequence == first.sequence)
    }
    #expect(home.list.statistics.updatesSuppressed > 0)
    try await home.chores.delete(0)
    #expect(try await byName.next()?.changes.deletions.map(\.id) == [0])
    #expect(try await byProperty.next()?.changes.deletions.map(\.id) == [0])
    try await home.chores.update(2) { $0.title = "A" }
    try await home.chores.update(1) { $0.title = "z" }
    #expect(try await byName.next()?.changes.moves.map(\.id) == [1])
    #expect(try await byProperty.next()?.changes.moves.map(\.id) == [1])
  }
}
