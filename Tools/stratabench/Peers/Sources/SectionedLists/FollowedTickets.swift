// The list with Strata: a fetch controller whose updates are iterated over.

internal import Strata
internal import StrataEvents
internal import StrataFetch
internal import StrataLists

struct FollowedTickets {
  private let store: EventStore
  private let tickets: DocumentCollection<Ticket>
  private var updates: ListUpdates<Ticket, String>.Iterator

  init(_ rows: [Ticket], _ path: String?) async throws {
    if let path { store = try await EventStore.open(at: path) } else { store = EventStore.inMemory() }
    tickets = store.collection("ticket", of: Ticket.self)
    try await tickets.put(rows)
    let request = ListRequest(Ticket.self).sectioned(by: \.product).sorted(by: \.time, .reverse)
    updates = FetchController(request, from: tickets).updates.makeAsyncIterator()
    _ = try await updates.next()
  }

  mutating func change(_ row: Ticket) async throws -> Step {
    try await .measured {
      try await tickets.put(row)
    } list: {
      try await updates.next()
    } difference: { update in
      // The update holds both the list and the difference.
      precondition(update?.changes.moves.map(\.id) == [row.id])
    }
  }

  func close() async throws { try await store.close() }
}
