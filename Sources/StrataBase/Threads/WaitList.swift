// Tasks that wait for something, each with what it waits for.

/// The part of a locked state that keeps who waits. A value: whoever has the lock changes it, and resumes the
/// continuations that it hands out once the lock is given back.
///
/// A task draws a ticket before it suspends, since its cancellation may come by before its continuation does. It is then
/// either among those who wait, until `take` or `cancel` hands its continuation out, or among the cancelled, until it
/// comes by and `add` sends it away. `forget` ends a ticket. Each is O(1), taking out O(those who wait).
@usableFromInline
package struct WaitList<Wish: Sendable, Answer: Sendable>: Sendable {
  @usableFromInline package typealias Continuation = UnsafeContinuation<Answer, Never>

  @usableFromInline internal var waiters: [UInt64: (wish: Wish, continuation: Continuation)] = [:]
  /// Tickets that were cancelled before they began to wait.
  @usableFromInline internal var cancelled: Set<UInt64> = []
  @usableFromInline internal var nextTicket: UInt64 = 0

  @inlinable package init() {}

  /// Whether nobody waits.
  @inlinable
  package var isEmpty: Bool { waiters.isEmpty }

  /// What those who wait wait for, in no order.
  @inlinable
  package var wishes: some Sequence<Wish> { waiters.values.lazy.map(\.wish) }

  /// A ticket for one wait.
  @inlinable
  package mutating func ticket() -> UInt64 {
    nextTicket += 1
    return nextTicket
  }

  /// Has a task wait. False where its ticket was cancelled: the caller resumes it.
  @inlinable
  package mutating func add(_ ticket: UInt64, for wish: Wish, _ continuation: Continuation) -> Bool {
    assert(ticket <= nextTicket && waiters[ticket] == nil, "a ticket is for one wait")
    if cancelled.remove(ticket) != nil { return false }
    waiters[ticket] = (wish, continuation)
    return true
  }

  /// Whether the ticket of a task that has not begun to wait was cancelled.
  @inlinable
  package func isCancelled(_ ticket: UInt64) -> Bool { cancelled.contains(ticket) }

  /// Takes a task out that is cancelled; nil where it does not wait, because it has not begun to or has its answer.
  @inlinable
  package mutating func cancel(_ ticket: UInt64) -> Continuation? {
    guard let waiter = waiters.removeValue(forKey: ticket) else {
      cancelled.insert(ticket)
      return nil
    }
    return waiter.continuation
  }

  /// Ends a ticket whose wait is over.
  @inlinable
  package mutating func forget(_ ticket: UInt64) {
    assert(waiters[ticket] == nil, "a wait that is over is nobody's any more")
    cancelled.remove(ticket)
  }

  /// Takes out those whose wish has come true.
  @inlinable
  package mutating func take(where isTrue: (Wish) -> Bool) -> [Continuation] {
    guard !waiters.isEmpty else { return [] }
    let tickets = waiters.filter { isTrue($0.value.wish) }.map(\.key)
    return tickets.compactMap { waiters.removeValue(forKey: $0)?.continuation }
  }

  /// Takes everybody out.
  @inlinable
  package mutating func takeAll() -> [Continuation] {
    defer { waiters = [:] }
    return waiters.values.map(\.continuation)
  }
}
