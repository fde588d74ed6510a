// A live list as server-sent events.

import Foundation
import Hummingbird
import ServiceLifecycle
import Strata
import TicketDesk

/// What an event carries: the whole list, or how to make the new list of the old one.
struct TicketMessage: Encodable {
  struct Section: Encodable {
    var section: Ticket.Status
    var ids: [String]
  }

  /// The whole list, where there is none yet.
  var list: [Section]?
  var changes: ListChanges<String, Ticket.Status>?
  /// The rows that are new, or that changed.
  var rows: [Ticket]

  init(_ update: ListUpdate<Ticket, Ticket.Status>) async throws {
    let after = update.after
    guard update.before != nil else {
      list = after.sectionIdentifiers.map { Section(section: $0, ids: after.itemIdentifiers(inSection: $0)) }
      rows = try await after.rows(in: 0..<after.numberOfItems)
      return
    }
    changes = update.changes
    let shown =
      update.changes.insertions.map(\.to)
      + update.changes.moves.filter(\.isChanged).map(\.to) + update.changes.updates.map(\.to)
    rows = shown.compactMap { after.row(at: $0) }
  }
}

enum TicketFeed {
  static func response(of list: FetchController<Ticket, Ticket.Status>, since token: ListToken?) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        do {
          try await write(list.updates(since: token), to: &writer)
        } catch let error as ListError where token != nil && error.refusesToken {
          // A token of another store, or of a time that the log no longer has: the whole list again.
          try await write(list.updates, to: &writer)
        }
        try await writer.finish(nil)
      })
  }

  /// Ends when the server shuts down. A browser that reads slowly gets larger differences, and holds up nobody.
  private static func write(
    _ updates: ListUpdates<Ticket, Ticket.Status>, to writer: inout some ResponseBodyWriter
  ) async throws {
    for try await update in updates.cancelOnGracefulShutdown() {
      let data = try JSONEncoder().encode(await TicketMessage(update))
      var event = "data: \(String(decoding: data, as: UTF8.self))\n\n"
      if let token = update.after.token { event = "id: \(token)\n" + event }
      try await writer.write(ByteBuffer(string: event))
    }
  }
}
