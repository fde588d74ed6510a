// The contract of lists: what every request must keep, whatever its closures are.

public import StrataCheck
public import StrataEvents
public import StrataFetch
public import StrataLists
public import StrataTables
internal import StrataViews

/// Holds a list to what every list must keep, over random histories.
///
/// The laws:
/// - The past is the present as it was: the list at each append is the one that was fetched then.
/// - Changes apply: a strict view accepts the batch between any append and the next, and between the first and the
///   last, and shows the list after it, every row with its content.
///
/// A request whose closures are pure keeps them. One that reads a clock, or that the closures of its filters, sections
/// or sorts remember something for, does not.
///
/// - Parameters:
///   - request: the list.
///   - source: what it is of, in a store: `{ $0.table(TicketBoard.tickets, of: TicketBoard()) }`.
///   - events: the histories, of which only the appends count.
/// - Throws: ``/StrataCheck/Counterexample``.
@discardableResult
public nonisolated(nonsending) func check<Item, Section, Source: RowSource<Item>>(
  list request: ListRequest<Item, Section>, of source: @escaping @Sendable (EventStore) -> Source,
  events: Gen<EventHistory>, _ budget: Budget = Budget(cases: 50, size: 20), seed: UInt64? = nil,
  failures folder: String? = nil, name: String = #function
) async throws -> CheckReport {
  try await Property(name, events) { history in
    try await ListContract(request: request, source: source).hold(history)
  }
  .noted { history, _ in
    await history.keep(in: folder, name: name) { store in
      _ = try await FetchController(request, from: source(store)).performFetch()
    }
  }
  .check(budget, seed: seed, failures: folder)
}

/// The laws of a list.
private struct ListContract<Item, Section, Source: RowSource<Item>>: Sendable
where Item: Identifiable & Sendable, Item.ID: DocumentID, Section: Hashable & Sendable {
  typealias Screen = MockListView<Item.ID, Section>

  let request: ListRequest<Item, Section>
  let source: @Sendable (EventStore) -> Source

  nonisolated(nonsending) func hold(_ history: EventHistory) async throws {
    let store = EventStore.inMemory()
    let list = FetchController(request, from: source(store))
    var lists = [try await list.performFetch()]
    for step in history.steps {
      guard case .append = step else { continue }
      try await EventHistory([step]).append(to: store)
      lists.append(try await list.performFetch())
    }
    for fetched in lists where fetched.sequence > 0 {
      let past = try await list.snapshot(at: .sequence(fetched.sequence))
      try ensureEqual(
        data(past), data(fetched), "the past is not the present as it was, at event \(fetched.sequence)")
    }
    var pairs = zip(lists, lists.dropFirst()).map { ($0, $1) }
    if let first = lists.first, let last = lists.last { pairs.append((first, last)) }
    for (before, after) in pairs where before.sequence > 0 {
      let changes = try await list.changes(from: .sequence(before.sequence), to: .sequence(after.sequence))
      let between = "from event \(before.sequence) to \(after.sequence)"
      var screen = Screen(data: data(before))
      do { try screen.show(changes.batch(), data(after)) } catch {
        try ensure(false, "a view refuses the changes \(between): \(error)")
      }
      try ensure(screen.shown == screen.data, "a view shows another list after the changes \(between)")
      try ensure(
        screen.staleCells.isEmpty && screen.staleSections.isEmpty,
        "a row is not updated by the changes \(between)")
    }
    try await store.close()
  }

  /// What a view's data source has of a list.
  private func data(_ list: ListSnapshot<Item, Section>) -> Screen.Data {
    Screen.Data(
      sections: list.sectionIdentifiers.enumerated().map { index, section in
        Screen.Data.Section(
          id: section, version: 0,
          cells: list.itemIdentifiers(inSectionAt: index).map { id in
            Screen.Data.Cell(id: id, version: Int(truncatingIfNeeded: list.contentVersion(of: id) ?? 0))
          })
      })
  }
}
