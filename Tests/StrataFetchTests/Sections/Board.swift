// Tickets on a board: the content of the store in tests of requests, and reading a list of it.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables

nonisolated struct Ticket: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var status: String?
  var title = ""
  var score: Double?
  var note: String?
  var tags: [String]?
}

/// A store with tickets.
struct Board {
  let store = EventStore.inMemory()
  var tickets: DocumentCollection<Ticket> { store.collection("ticket", of: Ticket.self) }

  /// The newest list of a request.
  func show<Section>(
    _ request: ListRequest<Ticket, Section>
  ) async throws -> ListSnapshot<Ticket, Section> {
    try await FetchController(request, from: tickets).performFetch()
  }

  func put(_ tickets: Ticket...) async throws { _ = try await self.tickets.put(tickets) }

  func put(_ id: String, _ status: String?, score: Double? = nil) async throws {
    try await put(Ticket(id: id, status: status, score: score))
  }

  /// Puts a document unchanged.
  func put(_ id: String, document: DocumentValue) async throws {
    let stream = StreamName(category: "ticket", id: id)
    try await store.append([NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(document))])
  }
}

extension ListSnapshot {
  /// The ids of each section.
  var ids: [[Item.ID]] { (0..<numberOfSections).map { itemIdentifiers(inSectionAt: $0) } }
}
