// What a store needs of the machine besides its files.

package import StrataBase

/// The threads and the clock of a store, as one value. All stores of a process share the pools of `process`; a test that
/// gives a store another value runs the whole store on threads of its own.
package struct StoreMachine: Sendable {
  /// Where threads come from that are one store's own, and those of the pools.
  package let threads: ThreadStarter
  /// Reads of tasks, which end when the disk has answered. Nothing that waits for anybody else runs here.
  package let reads: IOThreads
  /// Folds of the newest states, which are kept.
  package let folds: FairThreads
  /// Folds for those who follow the log append by append.
  package let follows: FairThreads
  /// Folds for states of the past.
  package let past: FairThreads
  /// Where commit times come from.
  package var clock: StoreClock

  /// Pools of its own, whose threads come from one place.
  package init(
    threads: ThreadStarter, limits: FairThreads.Limits = FairThreads.Limits(), clock: StoreClock = .system
  ) {
    self.threads = threads
    reads = IOThreads(starter: threads)
    folds = FairThreads(name: "strata-fold", limits: limits, starter: threads)
    follows = FairThreads(name: "strata-follow", limits: limits, starter: threads)
    past = FairThreads(name: "strata-past", limits: limits, starter: threads)
    self.clock = clock
  }

  /// The process's, with one pool for all folds.
  package init(folding pool: FairThreads) {
    threads = .system
    reads = .shared
    (folds, follows, past) = (pool, pool, pool)
    clock = .system
  }

  private init() {
    threads = .system
    reads = .shared
    folds = FairThreads(name: "strata-fold")
    follows = FairThreads(name: "strata-follow")
    past = FairThreads(name: "strata-past")
    clock = .system
  }

  /// What all stores of the process share.
  package static let process = StoreMachine()

  /// A thread for one call of a task that takes as long as it takes, or waits for somebody else's lock. It ends with the
  /// last reference.
  package func thread(_ name: String) -> IOThreads {
    IOThreads(name: name, threadCountMax: 1, starter: threads)
  }

  /// Starts a thread of a store's own. Throws where there is none to be had.
  func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError) {
    guard threads.start(name, body) != nil else {
      throw .refused("start thread", name, code: SystemErrorCode.tryAgain)
    }
  }
}
