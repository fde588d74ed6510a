// Tells a row whose events were erased from one that never was.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// The erasure of events that made versions of a row.
struct RowErasure {
  private let row: RowName
  private let path: String
  /// The sequence of the order; nil if no order that this version can read names the events.
  private let order: UInt64?

  private static let types = [DocumentEvent.put, DocumentEvent.merge, DocumentEvent.delete]

  /// Nil if no document event of the row is erased. O(events of the row + orders). Blocks.
  init?(of row: RowName, in opened: OpenedStore) throws {
    self.row = row
    path = opened.path
    let stream = StreamName(category: row.table, id: row.id)
    do throws(StoreError) {
      var erased: RecordedEvent?
      for stream in stream.ofSameRow where erased == nil {
        erased = try Self.first(of: stream, in: opened.store) { event in
          event.state == .erased && Self.types.contains(event.type)
        }
      }
      guard let erased else { return nil }
      order = try Self.first(of: ErasureEvent.stream, in: opened.store) { Self.erases($0, erased) }?.sequence
    } catch { throw opened.failure(error) }
  }

  var failure: CommandFailure {
    let by = order.map { ", by the order at seq \($0)" } ?? ""
    return CommandFailure(
      ExitStatus.notFound, "the events of the row \(row.text) were erased\(by)", at: path,
      next: order.map { "`logreplay show \(path) \($0)` shows the order and its reason" }
        ?? "`logreplay log \(path) --stream '\(ErasureEvent.stream)'` shows the orders")
  }

  /// The first event of a stream that passes, found a page at a time.
  private static func first(
    of stream: StreamName, in store: EventStore, where passes: (RecordedEvent) -> Bool
  ) throws(StoreError) -> RecordedEvent? {
    var revision: UInt64 = 0
    while true {
      let events = try store.eventsBlocking(in: stream, after: revision)
      if let found = events.first(where: passes) { return found }
      guard let last = events.last else { return nil }
      revision = last.revision
    }
  }

  /// Whether an event orders the erasure of another.
  private static func erases(_ order: RecordedEvent, _ event: RecordedEvent) -> Bool {
    guard order.type == ErasureEvent.order, order.sequence > event.sequence else { return false }
    return (try? Erasure(order))?.names(event) ?? false
  }
}
