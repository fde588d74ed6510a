// A lock for tasks, one for each key, that suspends them instead of blocking threads.

/// Admits one task at a time for each key, in the order in which tasks requested the turn of that key. Different keys
/// do not wait for each other.
///
/// A task waits with a continuation, so it occupies no thread. There is one entry for each waiting task, and one for
/// each turn that is held.
///
/// A task first requests the turn. If another task holds it, the request returns a ticket, and the task then waits with
/// that ticket, unless the turn was passed to it in the meantime. The task then holds the turn until it gives it to the
/// next one. One lock guards all state, and continuations are resumed outside of it.
package final class Turns<Key: Hashable & Sendable>: Sendable {
  private struct State {
    var lines: [Key: TurnLine] = [:]
    var nextLine: UInt64 = 0
  }

  private let state = Lock(State())

  package init() {}

  /// The number of tasks that wait for the turn of a key.
  package func waitingCount(of key: Key) -> Int { state.withLock { $0.lines[key]?.waitingCount ?? 0 } }

  /// Whether the turn of any key is held.
  package var isBusy: Bool { state.withLock { !$0.lines.isEmpty } }

  /// Waits for the turn of a key. The caller then holds it, and must call `give` in the end.
  ///
  /// If the task is cancelled while it waits, this throws at once, and the task does not get the turn.
  package nonisolated(nonsending) func take(_ key: Key) async throws(CancellationError) {
    guard let ticket = ask(key) else { return }
    let hasTurn = await withTaskCancellationHandler {
      await wait(ticket, key)
    } onCancel: {
      let continuation = state.withLock { $0.lines[key]?.cancel(ticket) }
      continuation?.resume(returning: false)
    }
    if !hasTurn { throw CancellationError() }
  }

  /// Waits for the turn of a key, even if the task is cancelled.
  package nonisolated(nonsending) func takeEvenIfCancelled(_ key: Key) async {
    guard let ticket = ask(key) else { return }
    _ = await wait(ticket, key)
  }

  /// Gives the turn to the task that has waited longest.
  package func give(_ key: Key) {
    let next = state.withLock { state -> TurnLine.Continuation? in
      assert(state.lines[key] != nil, "only a turn that is held can be given on")
      switch state.lines[key]?.pass() {
      case .waiting(let continuation): return continuation
      case .asked: return nil
      case nil:
        state.lines[key] = nil
        return nil
      }
    }
    next?.resume(returning: true)
  }

  /// Requests the turn. Returns a ticket, or nil if the turn was free; then the caller holds it now.
  private func ask(_ key: Key) -> TurnLine.Ticket? {
    state.withLock { state in
      if let ticket = state.lines[key]?.ask() { return ticket }
      state.lines[key] = TurnLine(number: state.nextLine)
      state.nextLine += 1
      return nil
    }
  }

  /// Waits with a ticket. Returns true once the caller holds the turn, false if the ticket was cancelled.
  private nonisolated(nonsending) func wait(_ ticket: TurnLine.Ticket, _ key: Key) async -> Bool {
    await withCheckedContinuation { continuation in
      let hasTurn = state.withLock { state -> Bool? in
        // If there is no line, the ticket was cancelled, and the turn has become free since then.
        guard state.lines[key] != nil else { return false }
        return state.lines[key]?.wait(ticket, continuation)
      }
      if let hasTurn { continuation.resume(returning: hasTurn) }
    }
  }
}

/// The requests for a turn that is held.
private struct TurnLine {
  typealias Continuation = CheckedContinuation<Bool, Never>

  /// A request, identified by its line and its index in it.
  struct Ticket {
    var line: UInt64
    var index: UInt64
  }

  enum Ask {
    /// The turn was requested; the task does not wait yet.
    case asked
    case waiting(Continuation)
  }

  /// Distinguishes this line from an earlier one of the same key.
  let number: UInt64
  /// The requests by index. Cancelled ones are removed.
  private var asks: [UInt64: Ask] = [:]
  /// The index of a request that got the turn before its task began to wait.
  private var given: UInt64?
  /// The index of the request that is next in line, and the index after the last one.
  private var next: UInt64 = 0
  private var end: UInt64 = 0

  init(number: UInt64) { self.number = number }

  var waitingCount: Int { asks.count }

  mutating func ask() -> Ticket {
    asks[end] = .asked
    end += 1
    return Ticket(line: number, index: end - 1)
  }

  /// Begins to wait, and returns nil. Returns true instead if the turn was given in the meantime, and false if the
  /// ticket was cancelled.
  mutating func wait(_ ticket: Ticket, _ continuation: Continuation) -> Bool? {
    guard ticket.line == number else { return false }
    if given == ticket.index {
      given = nil
      return true
    }
    guard asks[ticket.index] != nil else { return false }
    asks[ticket.index] = .waiting(continuation)
    return nil
  }

  /// Removes a request that does not have the turn, and returns the continuation of its task, if it waits.
  mutating func cancel(_ ticket: Ticket) -> Continuation? {
    guard ticket.line == number, case .waiting(let continuation) = asks.removeValue(forKey: ticket.index)
    else { return nil }
    return continuation
  }

  /// Removes the request that gets the turn, and returns it; nil if there is none. Each index is visited once.
  mutating func pass() -> Ask? {
    while next < end {
      defer { next += 1 }
      guard let ask = asks.removeValue(forKey: next) else { continue }
      if case .asked = ask { given = next }
      return ask
    }
    return nil
  }
}

/// The only key, for turns of a single resource.
package enum OneThing: Sendable { case it }

extension Turns where Key == OneThing {
  /// Waits for the turn, even if the task is cancelled: the tasks before it end by themselves.
  package nonisolated(nonsending) func take() async { await takeEvenIfCancelled(.it) }

  package func give() { give(.it) }
}
