// Shared by the scenarios: events in sections, a list of either kind, and a model of what the list shows.

internal import Foundation
internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
@testable internal import StrataFetch
internal import StrataTables
internal import StrataTesting
internal import Testing

/// The controller that a scenario runs with.
enum ListKind: String, CaseIterable, Sendable { case plain, facade }

/// The part of the events that a scenario's list shows.
enum Showing: Sendable, Equatable {
  case all
  case limited(Int)
  /// A filter that every event passes.
  case including
  /// All events except one.
  case excluding(UUID)

  var filter: FilterTemplate? {
    switch self {
    case .all, .limited: nil
    case .including: "sectionName != 'Zebra'"
    case .excluding(let id): "$id != \(id)"
    }
  }

  var limit: Int? { if case .limited(let limit) = self { limit } else { nil } }
}

/// A list as a scenario sees it: its first content, and then one change after the other.
final class ScenarioList {
  typealias Change = DiffableFetchChange<ScenarioEvent, String>
  typealias Snapshot = ListSnapshot<ScenarioEvent, String>

  /// Sections by name; in each, the newest events first.
  static func plainRequest(_ showing: Showing) -> ListRequest<ScenarioEvent, String> {
    var request = ListRequest(ScenarioEvent.self).sectioned(by: \.sectionName)
      .sorted(by: \.timestamp, .reverse)
    if let filter = showing.filter { request = request.filtered(by: filter) }
    if let limit = showing.limit { request = request.limited(to: limit) }
    return request
  }

  /// The same request in the form of the facade.
  static func facadeRequest(_ showing: Showing) -> DiffableFetchRequest<ScenarioEvent, String> {
    var request = DiffableFetchRequest(
      sectionKey: \ScenarioEvent.sectionName,
      sortKeys: [.init(\.sectionName), .init(\.timestamp, .reverse)])
    request.filter = showing.filter
    request.fetchLimit = showing.limit
    return request
  }

  private let plain: FetchController<ScenarioEvent, String>
  private var updates: ListUpdates<ScenarioEvent, String>.Iterator
  let facade: DiffableFetchController<ScenarioEvent, String>
  private let spy = DelegateSpy<ScenarioEvent, String>()
  private let kind: ListKind

  init(_ kind: ListKind, _ showing: Showing, of events: DocumentCollection<ScenarioEvent>) {
    self.kind = kind
    plain = FetchController(Self.plainRequest(showing), from: events)
    updates = plain.updates.makeAsyncIterator()
    facade = DiffableFetchController(
      Self.facadeRequest(showing), from: events,
      processingQueue: .scheduled { DispatchQueue.global().async(execute: $0) })
    facade.setDelegate(spy)
  }

  func first() async throws -> Snapshot {
    switch kind {
    case .plain: try #require(try await updates.next()).after
    case .facade: try await facade.performFetch()
    }
  }

  func next() async throws -> Change {
    switch kind {
    case .plain: DiffableFetchChange(try #require(try await updates.next()))
    case .facade: try #require(await spy.next())
    }
  }

  /// The row as the list shows it.
  func row(_ id: UUID) -> ScenarioEvent? {
    switch kind {
    case .plain: plain.snapshot?.row(for: id)
    case .facade: facade.viewObject(with: id)
    }
  }
}

/// A delegate that keeps its changes until the test takes them.
final class DelegateSpy<Item: Identifiable & Sendable, Section: Hashable & Sendable>:
  DiffableFetchControllerDelegate, Sendable
where Item.ID: DocumentID {
  typealias Change = DiffableFetchChange<Item, Section>

  private let changes: AsyncStream<Change>
  private let failures: AsyncStream<ListError>
  private let change: AsyncStream<Change>.Continuation
  private let failure: AsyncStream<ListError>.Continuation
  private let calls = Lock(0)
  private let onCall: @Sendable (Change) -> Void
  private let kept = Lock<(any AnyObject & Sendable)?>(nil)

  init(onCall: @escaping @Sendable (Change) -> Void = { _ in }) {
    (changes, change) = AsyncStream.makeStream()
    (failures, failure) = AsyncStream.makeStream()
    self.onCall = onCall
  }

  /// The number of calls for changes.
  var callCount: Int { calls.withLock { $0 } }

  /// Keeps a controller alive for a test that does not use it otherwise.
  func keep(_ controller: DiffableFetchController<Item, Section>) { kept.withLock { $0 = controller } }

  func next() async -> Change? {
    for await change in changes { return change }
    return nil
  }

  func nextFailure() async -> ListError? {
    for await failure in failures { return failure }
    return nil
  }

  func didChangeContent(_ controller: DiffableFetchController<Item, Section>, _ change: Change) {
    calls.withLock { $0 += 1 }
    onCall(change)
    self.change.yield(change)
  }

  func didFail(_ controller: DiffableFetchController<Item, Section>, with error: ListError) {
    failure.yield(error)
  }
}

/// Events by their ids, and the content of a list of them.
struct ScenarioModel {
  struct Section: Equatable {
    var name: String
    /// The number of events in the section, shown or not.
    var count: Int
    var items: [UUID]
  }

  var events: [UUID: ScenarioEvent] = [:]

  func sections(_ showing: Showing) -> [Section] {
    let shown = events.values.filter { event in
      if case .excluding(let id) = showing { event.id != id } else { true }
    }
    let sorted = shown.sorted { a, b in
      if a.sectionName != b.sectionName { return a.sectionName < b.sectionName }
      if a.timestamp != b.timestamp { return a.timestamp > b.timestamp }
      return a.id.uuidString < b.id.uuidString
    }
    var sections: [Section] = []
    var left = showing.limit ?? .max
    for event in sorted {
      if sections.last?.name != event.sectionName {
        guard left > 0 else { break }
        sections.append(Section(name: event.sectionName, count: 0, items: []))
      }
      sections[sections.count - 1].count += 1
      if left > 0 { sections[sections.count - 1].items.append(event.id) }
      left -= 1
    }
    return sections
  }
}

/// A store of a few events, their model, and a list that has shown them.
final class ScenarioRun {
  /// One event in the first section, two in the second, and twenty in each of seven.
  static let names = ["Ant", "Bat"] + ScenarioTests.sortedNames
  static let limit = 100

  let store = EventStore.inMemory()
  let events: DocumentCollection<ScenarioEvent>
  var model = ScenarioModel()
  /// The next time, later than all previous ones.
  var now = Date(timeIntervalSince1970: 1_700_000_000)
  var list: ScenarioList
  var showing = Showing.all
  private var touched: Set<UUID> = []
  private var before: [ScenarioModel.Section] = []
  private var random = SeededGenerator(seed: 11)

  init() async throws {
    events = store.collection("event", of: ScenarioEvent.self)
    list = ScenarioList(.plain, .all, of: events)
    var names = ["Ant", "Bat", "Bat"]
    for _ in 0..<20 { names += ScenarioTests.sectionNames }
    for (index, name) in names.shuffled(using: &random).enumerated() {
      // Some have the same time as the previous one.
      if index % 3 != 0 { now += 1 }
      let event = newEvent(in: name)
      model.events[event.id] = event
    }
    try await events.put(model.events.values.sorted { $0.id.uuidString < $1.id.uuidString })
    now += 1
  }

  func newEvent(in section: String) -> ScenarioEvent {
    ScenarioEvent(id: UUID(uuid: ScenarioTests.bytes(&random)), sectionName: section, timestamp: now)
  }

  /// Begins a list, and checks that it shows the right events.
  func show(_ kind: ListKind, _ showing: Showing) async throws {
    list = ScenarioList(kind, showing, of: events)
    self.showing = showing
    before = model.sections(showing)
    let snapshot = try await list.first()
    expect(snapshot, is: before)
  }

  func id(_ section: String, _ place: Int) throws -> UUID {
    let items = try #require(model.sections(.all).first { $0.name == section }).items
    return items[place < 0 ? items.count + place : place]
  }

  func update(_ id: UUID, _ change: (inout ScenarioEvent) -> Void) async throws {
    try await events.update(id, change)
    change(&model.events[id]!)
    touched.insert(id)
  }

  func put(_ event: ScenarioEvent) async throws {
    try await events.put(event)
    model.events[event.id] = event
    touched.insert(event.id)
  }

  func delete(_ id: UUID) async throws {
    try await events.delete(id)
    model.events[id] = nil
    touched.insert(id)
  }

  /// The next change that the list delivers, after a comparison with the model. If the list has nothing to deliver, an
  /// event is put before all others, and the next change must be that event alone.
  ///
  /// - Returns: nil if there was nothing to deliver.
  func told() async throws -> ScenarioList.Change? {
    let isSilent = model.sections(showing) == before && shownTouched.isEmpty
    if isSilent {
      var event = newEvent(in: "Aardvark")
      event.isUninteresting = false
      try await put(event)
    }
    let after = model.sections(showing)
    let change = try await list.next()
    expect(change.update.after, is: after)
    let (old, new) = (Set(before.flatMap(\.items)), Set(after.flatMap(\.items)))
    #expect(Set(change.inserts) == new.subtracting(old))
    #expect(Set(change.deletes) == old.subtracting(new))
    #expect(Set(change.updates) == touched.intersection(old).intersection(new))
    #expect(
      change.inserts.count + change.deletes.count + change.updates.count
        == Set(change.inserts + change.deletes + change.updates).count)
    let isSameStructure = before.map(\.name) == after.map(\.name) && before.map(\.items) == after.map(\.items)
    #expect((change.snapshot == nil) == isSameStructure)
    #expect(change.changes.sectionInsertions.map(\.section) == names(after, notIn: before))
    #expect(change.changes.sectionDeletions.map(\.section) == names(before, notIn: after).reversed())
    #expect(change.changes.sectionMoves.isEmpty)
    before = after
    touched = []
    return isSilent ? nil : change
  }

  private var shownTouched: Set<UUID> {
    touched.intersection(before.flatMap(\.items)).intersection(model.sections(showing).flatMap(\.items))
  }

  private func names(_ sections: [ScenarioModel.Section], notIn others: [ScenarioModel.Section]) -> [String] {
    let others = Set(others.map(\.name))
    return sections.map(\.name).filter { !others.contains($0) }
  }

  private func expect(_ snapshot: ScenarioList.Snapshot, is sections: [ScenarioModel.Section]) {
    #expect(
      snapshot.sections.map {
        ScenarioModel.Section(name: $0.id, count: $0.totalCount, items: $0.map(\.id))
      } == sections)
    #expect(snapshot.numberOfItems == sections.reduce(0) { $0 + $1.items.count })
  }
}
