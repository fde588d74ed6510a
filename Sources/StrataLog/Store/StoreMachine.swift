// What a store needs of the machine besides its files.

package import StrataBase

/// The threads and the clock of a store, as one value. All stores of a process share the pools of `process`; a test that
/// gives a store another value runs the whole store on threads of its own.
package struct StoreMachine: Sendable {
  /// Where threads come from that are one store's own.
  private let starter: ThreadStarter
  /// Reads of tasks, which end when the disk has answered. Nothing that waits for anybody else runs here.
  package var reads: IOThreads
  /// Folds of the newest states, which are kept.
  package var folds: FairThreads
  /// Folds for those who follow the log append by append.
  package var follows: FairThreads
  /// Folds for states of the past.
  package var past: FairThreads
  /// Where commit times come from.
  package var clock: StoreClock

  /// Pools of its own, whose threads come from one place.
  package init(threads starter: ThreadStarter, clock: StoreClock = .system) {
    self.starter = starter
    reads = IOThreads(starter: starter)
    folds = FairThreads(name: "strata-fold", starter: starter)
    follows = FairThreads(name: "strata-follow", starter: starter)
    past = FairThreads(name: "strata-past", starter: starter)
    self.clock = clock
  }

  /// What all stores of the process share.
  package static let process = StoreMachine(threads: .system)

  /// A thread for one call of a task that takes as long as it takes, or waits for somebody else's lock. It ends with the
  /// last reference.
  package func thread(_ name: String) -> IOThreads {
    IOThreads(name: name, threadCountMax: 1, starter: starter)
  }

  /// Starts a thread of a store's own; whoever needs its end keeps it. Throws where there is none to be had.
  @discardableResult
  package func start(
    _ name: String, _ body: @escaping @Sendable () -> Void
  ) throws(StoreError) -> DedicatedThread {
    do throws(FileSystemError) { return try starter.start(name, body) } catch { throw .refused(error) }
  }
}
