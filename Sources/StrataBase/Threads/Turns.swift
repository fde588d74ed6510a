// Asynchronous work on one thing that is done one piece after the other.

/// Gives one task at a time the turn of a key, in the order in which tasks asked for it. Keys do not wait for each
/// other. Waiting is by continuation, so no thread is held; an entry is kept for each task that waits, and one for
/// each turn that somebody has.
///
/// A task asks, which gives it a ticket where somebody else has the turn; then it waits, or finds that the turn was
/// given to it meanwhile; then it has the turn, and gives it on. One lock guards all of that, and continuations are
/// resumed outside of it.
package final class Turns<Key: Hashable & Sendable>: Sendable {
  private struct State {
    var lines: [Key: TurnLine] = [:]
    var nextLine: UInt64 = 0
  }

  private let state = Lock(State())

  package init() {}

  /// How many tasks wait for the turn of a key.
  package func waitingCount(of key: Key) -> Int { state.withLock { $0.lines[key]?.waitingCount ?? 0 } }

  /// Whether somebody has the turn of any key.
  package var isBusy: Bool { state.withLock { !$0.lines.isEmpty } }

  /// Waits for the turn of a key. Whoever has it calls `give`.
  ///
  /// Throws as soon as the task is cancelled while it waits; then it does not get the turn.
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

  /// Waits for the turn of a key, also where the task was cancelled.
  package nonisolated(nonsending) func takeEvenIfCancelled(_ key: Key) async {
    guard let ticket = ask(key) else { return }
    _ = await wait(ticket, key)
  }

  /// Gives the turn to the task that waits longest.
  package func give(_ key: Key) {
    let next = state.withLock { state -> TurnLine.Continuation? in
      assert(state.lines[key] != nil, "a turn was given on that nobody had")
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

  /// A ticket, nil where the turn was free and is the caller's now.
  private func ask(_ key: Key) -> TurnLine.Ticket? {
    state.withLock { state in
      if let ticket = state.lines[key]?.ask() { return ticket }
      state.lines[key] = TurnLine(number: state.nextLine)
      state.nextLine += 1
      return nil
    }
  }

  /// True once the turn is the caller's, false where it was cancelled.
  private nonisolated(nonsending) func wait(_ ticket: TurnLine.Ticket, _ key: Key) async -> Bool {
    await withCheckedContinuation { continuation in
      let hasTurn = state.withLock { state -> Bool? in
        // Without a line the ticket was cancelled, and the turn was free since.
        guard state.lines[key] != nil else { return false }
        return state.lines[key]?.wait(ticket, continuation)
      }
      if let hasTurn { continuation.resume(returning: hasTurn) }
    }
  }
}

/// Those who ask for a turn that somebody has.
private struct TurnLine {
  typealias Continuation = CheckedContinuation<Bool, Never>

  /// One who asked: in which line, and at which index of it.
  struct Ticket {
    var line: UInt64
    var index: UInt64
  }

  enum Ask {
    /// Asked, and does not wait yet.
    case asked
    case waiting(Continuation)
  }

  /// Tells this line from one that the same key had before.
  let number: UInt64
  /// By index. One that is cancelled is taken out.
  private var asks: [UInt64: Ask] = [:]
  /// The index of the one that got the turn before it waited.
  private var given: UInt64?
  /// The index that is looked at next, and the one after the last.
  private var next: UInt64 = 0
  private var end: UInt64 = 0

  init(number: UInt64) { self.number = number }

  var waitingCount: Int { asks.count }

  mutating func ask() -> Ticket {
    asks[end] = .asked
    end += 1
    return Ticket(line: number, index: end - 1)
  }

  /// Begins to wait: nil. True where the turn was given meanwhile, false where the ticket was cancelled.
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

  /// Takes one out that does not have the turn, and returns what it waits with.
  mutating func cancel(_ ticket: Ticket) -> Continuation? {
    guard ticket.line == number, case .waiting(let continuation) = asks.removeValue(forKey: ticket.index)
    else { return nil }
    return continuation
  }

  /// Takes out the one that gets the turn, nil where nobody asks. Every index is passed once.
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

/// The key of turns that are all for one thing.
package enum OneThing: Sendable { case it }

extension Turns where Key == OneThing {
  /// Waits for the turn, also where the task was cancelled: those before it end by themselves.
  package nonisolated(nonsending) func take() async { await takeEvenIfCancelled(.it) }

  package func give() { give(.it) }
}
