// How the store of a shape is written. Only what an application can use.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension StrataPast {
  private static let appendLength = 1_000

  /// Options of a process that keeps the history, or not.
  static func options(_ history: StoreHistory) -> StoreOptions {
    var options = StoreOptions()
    options.durability = .buffered
    options.history = history
    return options
  }

  /// Appends the events of a shape, a thousand at a time.
  ///
  /// - Parameter keepsHistory: whether the past is read from time to time, so that the history follows.
  static func append(_ shape: PastShape, to store: EventStore, keepsHistory: Bool) async throws {
    let progress = PastProgress("appended", of: shape.eventCount)
    var events: [NewEvent] = []
    var count = 0
    for change in PastChanges(shape) {
      events.append(Self.event(PastRow(number: change.number, change.version)))
      count += 1
      guard events.count == appendLength || count == shape.eventCount else { continue }
      try await store.append(events)
      events.removeAll(keepingCapacity: true)
      if keepsHistory, count % (10 * appendLength) == 0 { try await keep(in: store) }
      progress.reached(count)
    }
  }

  private static func event(_ row: PastRow) -> NewEvent {
    NewEvent(
      DocumentEvent.put, in: StreamName("\(category)/\(row.id)"),
      .object([
        "id": .int(Int64(row.id)), "product": .string(row.product), "time": .int(Int64(row.time)),
        "note": .int(Int64(row.note)), "text": .string(row.text),
      ]))
  }

  /// Has the store keep the list, also in its history: a list at a point is what begins it.
  static func keep(in store: EventStore) async throws {
    _ = try await StrataPast(store).list.snapshot(at: .sequence(min(1, store.head.sequence)))
  }
}

/// How far something is, on standard error, each time that another tenth is done.
final class PastProgress {
  private let what: String
  private let count: Int
  private var tenths = 0

  init(_ what: String, of count: Int) { (self.what, self.count) = (what, max(1, count)) }

  func reached(_ done: Int) {
    let reached = done * 10 / count
    guard reached > tenths else { return }
    tenths = reached
    FileHandle.standardError.write(Data("    \(reached * 10) % of \(count) \(what)\n".utf8))
  }
}
