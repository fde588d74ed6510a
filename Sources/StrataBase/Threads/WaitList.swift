// A list of waiting tasks, each with the condition that it waits for.

/// The part of a locked state that keeps the waiting tasks.
///
/// This is a value: it is changed under the caller's lock, and the caller resumes the continuations that it returns
/// after releasing the lock.
///
/// A task takes a ticket before it suspends, since it may be cancelled before its continuation is added. A ticket is
/// then either among the waiters, until `take` or `cancel` returns its continuation, or among the cancelled tickets,
/// until `add` refuses it. `forget` ends a ticket. Each operation is O(1), except `take` and `takeAll`, which are
/// O(waiters).
@usableFromInline
package struct WaitList<Wish: Sendable, Answer: Sendable>: Sendable {
  @usableFromInline package typealias Continuation = UnsafeContinuation<Answer, Never>

  @usableFromInline internal var waiters: [UInt64: (wish: Wish, continuation: Continuation)] = [:]
  /// The tickets that were cancelled before their tasks began to wait.
  @usableFromInline internal var cancelled: Set<UInt64> = []
  @usableFromInline internal var nextTicket: UInt64 = 0

  @inlinable package init() {}

  /// Whether no task waits.
  @inlinable
  package var isEmpty: Bool { waiters.isEmpty }

  /// The conditions that tasks wait for, in no particular order.
  @inlinable
  package var wishes: some Sequence<Wish> { waiters.values.lazy.map(\.wish) }

  /// Returns a ticket for one wait.
  @inlinable
  package mutating func ticket() -> UInt64 {
    nextTicket += 1
    return nextTicket
  }

  /// Adds a waiting task. False if its ticket was cancelled: then the caller resumes the continuation.
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

  /// Cancels a ticket and removes its task; nil if the task does not wait, either because it has not begun to wait or
  /// because it was already resumed.
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
    assert(waiters[ticket] == nil, "a ticket is forgotten only after its wait has ended")
    cancelled.remove(ticket)
  }

  /// Removes the tasks whose condition holds, and returns their continuations.
  @inlinable
  package mutating func take(where isTrue: (Wish) -> Bool) -> [Continuation] {
    guard !waiters.isEmpty else { return [] }
    let tickets = waiters.filter { isTrue($0.value.wish) }.map(\.key)
    return tickets.compactMap { waiters.removeValue(forKey: $0)?.continuation }
  }

  /// Removes all tasks, and returns their continuations.
  @inlinable
  package mutating func takeAll() -> [Continuation] {
    defer { waiters = [:] }
    return waiters.values.map(\.continuation)
  }
}
