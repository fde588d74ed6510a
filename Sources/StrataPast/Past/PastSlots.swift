// How many reads make states of the past at once.

internal import StrataBase

/// Admits a few reads of the past at a time, in the order in which they came. What a state takes that no bound counts, as
/// inner pages and the buffers of a fold or of runs, is then there a few times, however many reads are waiting. A task that
/// waits occupies no thread, and has nothing in memory yet.
package final class PastSlots: Sendable {
  /// Many more than have a thread at the same time: those that are admitted take turns in slices, so that it takes as many
  /// long replays at once to hold up a short read.
  static let count = 16

  private struct State {
    var freeCount = PastSlots.count
    /// By their tickets, which ascend.
    var waiters = WaitList<UInt64, Bool>()

    mutating func takeFree() -> Bool {
      if freeCount == 0 { return false }
      freeCount -= 1
      return true
    }
  }

  /// The right to make states, until the last reference to it is gone.
  package final class Slot: Sendable {
    private let slots: PastSlots

    fileprivate init(_ slots: PastSlots) { self.slots = slots }

    deinit { slots.give() }
  }

  private let state = Lock(State())

  /// Throws `CancellationError` as soon as the task is cancelled while it waits.
  func take() async throws -> Slot {
    let ticket = state.withLock { state -> UInt64? in state.takeFree() ? nil : state.waiters.ticket() }
    guard let ticket else { return Slot(self) }
    let isAdmitted = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if !state.waiters.isCancelled(ticket), state.takeFree() { return true }
          return state.waiters.add(ticket, for: ticket, continuation) ? nil : false
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      state.withLock { $0.waiters.cancel(ticket) }?.resume(returning: false)
    }
    state.withLock { $0.waiters.forget(ticket) }
    guard isAdmitted else { throw CancellationError() }
    return Slot(self)
  }

  private func give() {
    let admitted = state.withLock { state in
      let first = state.waiters.wishes.min()
      let admitted = state.waiters.take { $0 == first }
      if admitted.isEmpty { state.freeCount += 1 }
      assert(state.freeCount <= Self.count, "a slot is given back once")
      return admitted
    }
    for continuation in admitted { continuation.resume(returning: true) }
  }
}
