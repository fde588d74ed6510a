// A queue whose work is done when a test says so, one piece at a time.

@testable internal import StrataFetch
internal import StrataLog

/// Holds what it is given until it is told to run it.
final class HeldQueue: Sendable {
  private let work = Lock<[@Sendable () -> Void]>([])

  var processingQueue: ProcessingQueue {
    .queue { work in self.work.withLock { $0.append(work) } }
  }

  /// Runs one piece on the calling thread; false where there is none.
  @discardableResult
  func runOne() -> Bool {
    guard let next = work.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    next()
    return true
  }

  func runAll() { while runOne() {} }
}
