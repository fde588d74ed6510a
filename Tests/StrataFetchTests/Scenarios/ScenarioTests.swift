// The scenarios that every successor of a fetched results controller must pass, with five thousand events.

internal import Foundation
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

/// An event of the scenarios: a section, a time, and a flag that no list shows.
nonisolated struct ScenarioEvent: Codable, Identifiable, Sendable, Equatable {
  var id: UUID
  var sectionName: String
  var timestamp: Date
  var isUninteresting = true
}

@Suite struct ScenarioTests {
  typealias Controller = FetchController<ScenarioEvent, String>
  typealias Update = ListUpdate<ScenarioEvent, String>

  static let sectionNames = ["Bear", "Dog", "Tiger", "Cat", "Lion", "Snake", "Eagle"]
  static let sortedNames = ["Bear", "Cat", "Dog", "Eagle", "Lion", "Snake", "Tiger"]
  static let itemCount = 5_000

  /// Sections by name; in each, the newest events first.
  static let request = ListRequest(ScenarioEvent.self)
    .sectioned(by: \.sectionName)
    .sorted(by: \.timestamp, .reverse)

  /// The variants of a scenario: which request, and how many items it shows at first.
  enum Variant: String, CaseIterable, Sendable {
    case whole, windowed, including, excluding

    var request: ListRequest<ScenarioEvent, String> {
      switch self {
      case .whole: ScenarioTests.request
      case .windowed: ScenarioTests.request.limited(to: 100)
      case .including: ScenarioTests.request.filtered(by: "sectionName != 'Zebra'")
      case .excluding: ScenarioTests.request.filtered(id: "interesting") { !$0.isUninteresting }
      }
    }
  }

  /// A store of five thousand events, and a list that has delivered its first update.
  final class Fixture {
    let store: EventStore
    let events: DocumentCollection<ScenarioEvent>
    let controller: Controller
    var updates: ListUpdates<ScenarioEvent, String>.Iterator
    var now: Date

    init(_ request: ListRequest<ScenarioEvent, String> = ScenarioTests.request) async throws {
      store = EventStore.inMemory()
      events = store.collection("event", of: ScenarioEvent.self)
      var random = SeededGenerator(seed: 7)
      now = Date(timeIntervalSince1970: 1_700_000_000)
      var all: [ScenarioEvent] = []
      for index in 0..<ScenarioTests.itemCount {
        // Some have the same time as the previous one.
        if index % 3 != 0 { now += 0.001 }
        all.append(
          ScenarioEvent(
            id: UUID(uuid: ScenarioTests.bytes(&random)),
            sectionName: ScenarioTests.sectionNames.randomElement(using: &random)!, timestamp: now))
      }
      try await events.put(all)
      now += 1
      controller = FetchController(request, from: events)
      updates = controller.updates.makeAsyncIterator()
    }

    func next() async throws -> Update { try #require(try await updates.next()) }

    func item(_ section: Int, _ item: Int) async throws -> ScenarioEvent {
      let snapshot = try #require(controller.snapshot)
      return try #require(snapshot.row(at: ListIndex(section: section, item: item)))
    }
  }

  static func bytes(_ random: inout SeededGenerator) -> uuid_t {
    let (a, b) = (random.next(), random.next())
    func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (index * 8)) }
    return (
      byte(a, 0), byte(a, 1), byte(a, 2), byte(a, 3), byte(a, 4), byte(a, 5), byte(a, 6), byte(a, 7),
      byte(b, 0), byte(b, 1), byte(b, 2), byte(b, 3), byte(b, 4), byte(b, 5), byte(b, 6), byte(b, 7)
    )
  }

  @Test
  func `S1 The first fetch has seven sections and five thousand items`() async throws {
    let fixture = try await Fixture()
    let update = try await fixture.next()
    #expect(update.reason == .initial)
    #expect(update.after.numberOfSections == 7)
    #expect(update.after.numberOfItems == 5_000)
    #expect(update.after.sectionIdentifiers == Self.sortedNames)
    let items = try await update.after.rows(in: 0..<5_000)
    #expect(items.map(\.sectionName) == items.map(\.sectionName).sorted())
    for (a, b) in zip(items, items.dropFirst()) where a.sectionName == b.sectionName {
      #expect(
        a.timestamp > b.timestamp
          || (a.timestamp == b.timestamp && a.id.uuidString < b.id.uuidString))
    }
  }

  @Test(arguments: 0..<7)
  func `S2 A change that no order depends on is one update and nothing else`(section: Int) async throws {
    let fixture = try await Fixture()
    let first = try await fixture.next().after
    let item = try await fixture.item(section, 0)
    try await fixture.events.update(item.id) { $0.isUninteresting.toggle() }
    let update = try await fixture.next()
    #expect(!update.changes.isStructural)
    #expect(update.changes.insertions.isEmpty)
    #expect(update.changes.updates.map(\.id) == [item.id])
    #expect(update.changes.count == 1)
    #expect(update.after.itemIdentifiers == first.itemIdentifiers)
    #expect(update.after.row(for: item.id)?.isUninteresting == false)
  }

  @Test(arguments: 0..<7)
  func `S3 The last item of a section that gets the newest time moves to its front`(section: Int) async throws
  {
    let fixture = try await Fixture()
    let first = try await fixture.next().after
    let last = first.numberOfItems(inSectionAt: section) - 1
    let item = try await fixture.item(section, last)
    try await fixture.events.update(item.id) { $0.timestamp = fixture.now }
    let update = try await fixture.next()
    #expect(update.changes.moves.count == 1)
    #expect(update.changes.count == 1)
    let move = try #require(update.changes.moves.first)
    #expect(move.id == item.id && move.isChanged)
    #expect(move.from == ListIndex(section: section, item: last))
    #expect(move.to == ListIndex(section: section, item: 0))
    #expect(update.changes.changedItems == [item.id])
    #expect(update.after.index(of: item.id) == ListIndex(section: section, item: 0))
    #expect(update.after.numberOfItems == first.numberOfItems)
  }

  @Test(arguments: 0..<6)
  func `S4 The first item of a section that changes its section is one move across`(section: Int) async throws
  {
    let fixture = try await Fixture()
    let first = try await fixture.next().after
    let item = try await fixture.item(section, 0)
    let target = try #require(Self.sortedNames.last)
    try await fixture.events.update(item.id) { $0.sectionName = target }
    let update = try await fixture.next()
    #expect(update.changes.moves.map(\.id) == [item.id])
    #expect(update.changes.moves.first?.from == ListIndex(section: section, item: 0))
    #expect(update.changes.moves.first?.to.section == 6)
    #expect(update.changes.insertions.isEmpty && update.changes.deletions.isEmpty)
    #expect(update.changes.sectionUpdates.map(\.section) == [Self.sortedNames[section], target])
    #expect(update.after.itemIdentifiers(inSection: target).contains(item.id))
    #expect(!update.after.itemIdentifiers(inSection: Self.sortedNames[section]).contains(item.id))
    #expect(update.after.numberOfItems == first.numberOfItems)
  }

  @Test(arguments: Self.sectionNames)
  func `S5 A new event is one insertion, first in its section`(section: String) async throws {
    let fixture = try await Fixture()
    let first = try await fixture.next().after
    let item = ScenarioEvent(id: UUID(), sectionName: section, timestamp: fixture.now)
    try await fixture.events.put(item)
    let update = try await fixture.next()
    let place = try #require(Self.sortedNames.firstIndex(of: section))
    #expect(update.changes.insertions.map(\.id) == [item.id])
    #expect(update.changes.insertions.first?.to == ListIndex(section: place, item: 0))
    #expect(update.changes.updates.isEmpty && update.changes.moves.isEmpty)
    #expect(update.changes.deletions.isEmpty)
    #expect(update.after.numberOfItems == first.numberOfItems + 1)
    #expect(
      update.after.numberOfItems(inSection: section) == first.numberOfItems(inSection: section) + 1)
  }

  @Test(arguments: 0..<7)
  func `S6 An event that is deleted is one deletion, and gone`(section: Int) async throws {
    let fixture = try await Fixture()
    let first = try await fixture.next().after
    let item = try await fixture.item(section, 0)
    try await fixture.events.delete(item.id)
    let update = try await fixture.next()
    #expect(update.changes.deletions.map(\.id) == [item.id])
    #expect(update.changes.deletions.first?.from == ListIndex(section: section, item: 0))
    #expect(update.changes.insertions.isEmpty && update.changes.updates.isEmpty)
    #expect(update.changes.moves.isEmpty)
    #expect(update.after.numberOfItems == first.numberOfItems - 1)
    #expect(
      update.after.numberOfItems(inSectionAt: section) == first.numberOfItems(inSectionAt: section) - 1)
    #expect(update.after.row(for: item.id) == nil)
    // The previous list still has it.
    #expect(first.row(for: item.id) == item)
  }

  @Test
  func `S6 A section of one item vanishes with it, and appears with it again`() async throws {
    let fixture = try await Fixture()
    _ = try await fixture.next()
    let item = ScenarioEvent(id: UUID(), sectionName: "Ant", timestamp: fixture.now)
    try await fixture.events.put(item)
    var update = try await fixture.next()
    #expect(update.changes.sectionInsertions.map(\.section) == ["Ant"])
    #expect(update.changes.sectionInsertions.map(\.to) == [0])
    #expect(update.after.numberOfSections == 8)
    try await fixture.events.update(item.id) { $0.sectionName = "Ape" }
    update = try await fixture.next()
    #expect(update.changes.sectionDeletions.map(\.section) == ["Ant"])
    #expect(update.changes.sectionInsertions.map(\.section) == ["Ape"])
    #expect(update.changes.moves.map(\.id) == [item.id])
    try await fixture.events.delete(item.id)
    update = try await fixture.next()
    #expect(update.changes.sectionDeletions.map(\.section) == ["Ape"])
    #expect(update.changes.deletions.map(\.id) == [item.id])
    #expect(update.after.sectionIdentifiers == Self.sortedNames)
  }

  @Test(arguments: Variant.allCases)
  func `S5 What is put into a full window pushes out its last item, which comes back with the delete`(
    variant: Variant
  ) async throws {
    let fixture = try await Fixture(variant.request)
    let first = try await fixture.next().after
    let shown = variant == .windowed ? 100 : variant == .excluding ? 0 : 5_000
    #expect(first.numberOfItems == shown)
    let new = ScenarioEvent(
      id: UUID(), sectionName: "Bear", timestamp: fixture.now, isUninteresting: variant != .excluding)
    try await fixture.events.put(new)
    var update = try await fixture.next()
    #expect(update.changes.insertions.map(\.id) == [new.id])
    #expect(update.after.index(of: new.id) == ListIndex(section: 0, item: 0))
    // A full window drops its last item, and shows it again later.
    #expect(update.changes.deletions.count == (variant == .windowed ? 1 : 0))
    #expect(update.after.numberOfItems == (variant == .windowed ? 100 : shown + 1))
    let pushed = update.changes.deletions.first?.id
    try await fixture.events.delete(new.id)
    update = try await fixture.next()
    #expect(update.changes.deletions.map(\.id) == [new.id])
    #expect(update.changes.insertions.map(\.id) == (pushed.map { [$0] } ?? []))
    #expect(update.after.itemIdentifiers == first.itemIdentifiers)
  }
}
