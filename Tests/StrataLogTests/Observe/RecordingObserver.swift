// An observer that keeps what it receives, and may be held up.

import StrataBase
import StrataLog

/// Keeps activities and steps in the order of the calls.
final class RecordingObserver: StoreCallObserver {
  struct Received {
    var activities: [StoreActivity] = []
    var works: [StoreStep.Work] = []
    var contexts: [String] = []
    /// How many calls run now, and the most that ever ran at once.
    var running = 0
    var runningMax = 0
    /// Whether calls wait.
    var isHeld = false
  }

  let received = Gate(Received())
  /// Called after each activity was kept, without a lock.
  let body: @Sendable (StoreActivity) -> Void
  let context: (@Sendable () -> String?)?

  init(
    context: (@Sendable () -> String?)? = nil, body: @escaping @Sendable (StoreActivity) -> Void = { _ in }
  ) {
    self.body = body
    self.context = context
  }

  func store(did activity: StoreActivity) {
    begin()
    received.withLock { $0.activities.append(activity) }
    received.signalAll()
    body(activity)
    received.withLock { $0.running -= 1 }
  }

  func store(took step: StoreStep) {
    begin()
    received.withLock { received in
      received.works.append(step.work)
      if let context = step.context as? String { received.contexts.append(context) }
      received.running -= 1
    }
    received.signalAll()
  }

  func contextOfCall() -> (any Sendable)? { context?() }

  private func begin() {
    received.withLock { received in
      received.running += 1
      received.runningMax = max(received.runningMax, received.running)
    }
    received.signalAll()
    received.wait { !$0.isHeld }
  }

  func hold(_ isHeld: Bool) {
    received.withLock { $0.isHeld = isHeld }
    received.signalAll()
  }

  var activities: [StoreActivity] { received.withLock { $0.activities } }

  /// Waits until an activity was received for which the body is true.
  func wait(for isWanted: (StoreActivity) -> Bool) {
    received.wait { $0.activities.contains(where: isWanted) }
  }
}
