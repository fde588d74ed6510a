// What is asked over HTTP, and what is answered.

import Foundation
import HTTPTypes
import Hummingbird
import Strata
import TicketDesk

struct TicketsPage: ResponseCodable {
  /// How many there are, shown here or not.
  var count: Int
  var tickets: [Ticket]
}

struct NewTicket: Decodable {
  var id: String
  var title: String
  var customer: String
  var priority: Int?
}

func routes(_ desk: TicketDesk, _ metrics: MetricsText) -> Router<BasicRequestContext> {
  let router = Router()
  router.add(middleware: MetricsMiddleware())

  router.get("/") { _, _ in
    Response(
      status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
      body: .init(byteBuffer: ByteBuffer(bytes: PackageResources.desk_html)))
  }

  // Whether it can do its work: a store whose disk failed still reads, and takes nothing.
  router.get("/health") { _, _ -> Response in
    let reason = desk.store.unavailability
    return Response(
      status: reason == nil ? .ok : .serviceUnavailable,
      body: .init(byteBuffer: ByteBuffer(string: "\(reason.map { "\($0)" } ?? "ok")\n")))
  }

  router.get("/metrics") { _, _ in
    Response(
      status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
      body: .init(byteBuffer: ByteBuffer(string: metrics.text)))
  }

  // One page of the tickets that have all words of the search.
  router.get("/tickets") { request, _ -> TicketsPage in
    let asked = request.uri.queryParameters
    let offset = max(0, asked.get("offset", as: Int.self) ?? 0)
    let size = min(200, max(1, asked.get("size", as: Int.self) ?? 50))
    let found = try await desk.fetch(searching: asked.get("search") ?? "")
    let end = min(offset + size, found.numberOfItems)
    return TicketsPage(count: found.numberOfItems, tickets: try await found.rows(in: min(offset, end)..<end))
  }

  router.post("/tickets") { request, context -> HTTPResponse.Status in
    let new = try await request.decode(as: NewTicket.self, context: context)
    try await refusing {
      try await acting(request).open(new.id, new.title, for: new.customer, priority: new.priority ?? 2)
    }
    return .created
  }

  router.post("/tickets/:id/assign") { request, context -> HTTPResponse.Status in
    let id = try context.parameters.require("id")
    let agent = try request.uri.queryParameters.require("to")
    try await refusing { try await acting(request).assign(id, to: agent) }
    return .noContent
  }

  router.post("/tickets/:id/close") { request, context -> HTTPResponse.Status in
    let id = try context.parameters.require("id")
    let text = request.uri.queryParameters.get("saying") ?? ""
    try await refusing { try await acting(request).close(id, saying: text) }
    return .noContent
  }

  // The list, live: a browser that loses its connection sends the last token, and gets what it missed.
  router.get("/tickets/feed") { request, _ in
    TicketFeed.response(of: desk.list, since: request.headers[.lastEventID].flatMap(ListToken.init))
  }

  /// The desk for one who says a name, which is in the metadata of what is appended. A real server knows who asks.
  @Sendable func acting(_ request: Request) -> TicketDesk {
    request.uri.queryParameters.get("by").map { desk.acting(as: $0) } ?? desk
  }
  return router
}

/// Turns refusals of the desk and of the store into answers.
private func refusing(_ body: () async throws -> Void) async throws {
  do {
    try await body()
  } catch TicketDesk.Refusal.noSuchTicket {
    throw HTTPError(.notFound)
  } catch TicketDesk.Refusal.isClosed {
    throw HTTPError(.conflict, message: "the ticket is closed")
  } catch StoreError.conflict {
    throw HTTPError(.conflict, message: "there is a ticket with this id")
  } catch let error as StoreError {
    // What the caller sent is refused, or the store takes nothing now.
    if case .invalid = error { throw HTTPError(.init(code: 422), message: error.localizedDescription) }
    throw HTTPError(.serviceUnavailable, message: error.localizedDescription)
  }
}

extension TicketDesk {
  /// The list as it is, or what a search finds in it, in the same order.
  fileprivate func fetch(searching text: String) async throws -> ListSnapshot<Ticket, Ticket.Status> {
    guard !text.isEmpty else { return try await list.performFetch() }
    let request = list.request.searched(for: text, in: \.title, \.customer)
    return try await FetchController(request, from: tickets).performFetch()
  }
}

extension HTTPField.Name {
  static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
