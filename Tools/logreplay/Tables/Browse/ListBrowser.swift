// One list at any point of the log, for a program that shows it piece by piece.

internal import ArgumentParser
package import LogreplayPoints
package import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// A list, and the states of it that were looked at last, so that the next one is near a state that exists.
///
/// A state of the past is read from the history where the store keeps one, and replayed otherwise: see `PastStates`.
/// Calls take turns, and each blocks for as long as the disk or the replay does; `progress` does not wait.
package final class ListBrowser: Sendable {
  /// The most bytes of states that are kept.
  private static let keptSizeMax = 24 << 20

  let opened: OpenedStore
  let query: ListQuery
  package let table: String
  private let exclusive: Turn<PastStates>
  private let counter = PastCounter()
  /// How many events the state that is being made is after the begin of the log, and how many had been replayed before.
  private let making = Lock<(of: UInt64, before: UInt64)?>(nil)

  /// - Parameters:
  ///   - words: the options that define a list, as `logreplay at` takes them.
  ///   - times: reads the times in the filter.
  package init(_ opened: OpenedStore, _ words: [String], times: TimeText) throws {
    let options: ListOptions
    do { options = try ListOptions.parse(words) } catch {
      throw CommandFailure(
        ExitStatus.usage, ListOptions.message(for: error), next: "correct the options of the list")
    }
    self.opened = opened
    query = try ListQuery(options, in: opened, times: times)
    try query.checkShowsItems()
    try query.checkIsOfDocuments()
    table = try query.table ?? StoreTables(opened: opened).only()
    let states = PastStates(
      opened.store, .documents(only: [table]), view: (table, query.list.definition),
      keptSizeMax: Self.keptSizeMax, counting: counter)
    exclusive = Turn(states)
  }

  /// How far the replay is for a state that is being made now; nil if none is.
  package var progress: (replayed: UInt64, of: UInt64)? {
    making.withLock { $0 }.map { making in
      (min(making.of, counter.counts.foldedEvents - making.before), making.of)
    }
  }

  /// Whether some state so far came from a history, and how many events were replayed.
  package var origin: (isFromHistory: Bool, replayed: UInt64) {
    let counts = counter.counts
    return (counts.fromHistory > 0, counts.foldedEvents)
  }

  /// Calls the body with the list at several points, which must be in the log, in their order.
  func withStates<Result>(
    at points: [ResolvedPoint], _ body: ([ListState], PastStates) throws -> Result
  ) throws -> Result {
    try exclusive.take { exclusive in
      var states: [ListState] = []
      for point in points { states.append(try state(at: point, exclusive)) }
      return try body(states, exclusive)
    }
  }

  private func state(at point: ResolvedPoint, _ states: PastStates) throws -> ListState {
    let before = counter.counts.foldedEvents
    making.withLock { $0 = (point.sequence, before) }
    defer { making.withLock { $0 = nil } }
    let (set, chain): (TableSet, UInt64?)
    do throws(StoreError) {
      set = try states.state(at: point.sequence)
      chain = try opened.log.chain(after: point.sequence)
    } catch { throw opened.failure(error) }
    guard set.sequence == point.sequence, let chain else {
      try opened.throwDamage()
      throw opened.failure(.closed)
    }
    return ListState(
      table: table, version: version(of: set), sequence: point.sequence, time: point.time, chain: chain,
      isPartial: point.inside != nil, isSectionedByTime: query.isSectionedByTime)
  }

  func version(of set: TableSet) -> ListVersion {
    ListVersion(set, table: table, query.list)
  }
}

/// An object that one thread at a time uses, for as long as it likes.
final class Turn<Object: AnyObject>: @unchecked Sendable {
  // Sendable because only the thread whose turn it is touches the object.
  private let object: Object
  private let isTaken = Gate(false)

  init(_ object: sending Object) { self.object = object }

  /// Waits until no other thread has the object.
  func take<Result>(_ body: (Object) throws -> Result) rethrows -> Result {
    isTaken.wait { isTaken in
      defer { isTaken = true }
      return !isTaken
    }
    defer {
      isTaken.withLock { $0 = false }
      isTaken.signalOne()
    }
    return try body(object)
  }
}
