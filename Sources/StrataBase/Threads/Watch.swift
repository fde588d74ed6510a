// A thread that looks at other threads' work from time to time, while there is some.

/// Calls closures about every ten milliseconds, for as long as they ask for it.
///
/// A step that does not return cannot say so. What another thread sees of it from outside can: each closure looks at
/// some work, and does something about it. The thread is started with the first closure and ends with the last. Where
/// the system gives no thread, nothing is looked at.
package final class Watch: Sendable {
  /// Looks once. Returns false if it need not be called again.
  package typealias Look = @Sendable () -> Bool

  /// The time between two looks.
  package static let interval = Duration.milliseconds(10)

  private struct State {
    var looks: [Look] = []
    var hasThread = false
  }

  private let state = Lock(State())
  private let starter: ThreadStarter

  package init(starter: ThreadStarter = .system) { self.starter = starter }

  /// Begins to call a closure. It must not block, nor begin another one. Returns false if there is no thread for it.
  package func begin(_ look: @escaping Look) -> Bool {
    let (index, lacksThread) = state.withLock { state in
      state.looks.append(look)
      defer { state.hasThread = true }
      return (state.looks.count - 1, !state.hasThread)
    }
    guard lacksThread, (try? starter.start("strata-watch", { [self] in run() })) == nil else { return true }
    // Without a thread nothing was removed. Others that were added meanwhile are called by the next thread.
    state.withLock { state in
      state.looks.remove(at: index)
      state.hasThread = false
    }
    return false
  }

  private func run() {
    let pause = Gate(())
    while true {
      _ = pause.wait(timeout: Self.interval) { _ in false }
      let looks = state.withLock { $0.looks }
      let ended = looks.indices.filter { !looks[$0]() }
      let isEnd = state.withLock { state in
        // Closures that were added meanwhile are after those.
        for index in ended.reversed() { state.looks.remove(at: index) }
        if state.looks.isEmpty { state.hasThread = false }
        return state.looks.isEmpty
      }
      if isEnd { return }
    }
  }
}
