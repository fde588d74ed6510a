// What a store needs from the machine besides its files.

package import StrataBase

/// The threads and the clock of a store, as one value. All stores of a process share the pools of `process`; a test
/// that gives a store a different value runs the whole store on separate threads.
package struct StoreMachine: Sendable {
  /// Creates the threads that belong to one store.
  private let starter: ThreadStarter
  /// The pool for reads by tasks, which end when the disk has answered. Work that waits for anything else must not run
  /// here.
  package var reads: IOThreads
  /// The pool for folds of the newest states, which are kept.
  package var folds: FairThreads
  /// The pool for folds of readers that follow the log append by append.
  package var follows: FairThreads
  /// The pool for views that are built and kept up to date beside the folds. A call of a program's function that does
  /// not return keeps one of its threads.
  package var views: FairThreads
  /// The pool for folds of past states.
  package var past: FairThreads
  /// Looks at folds that may wait for a program's function.
  package let watch: Watch
  /// The source of commit times.
  package var clock: StoreClock

  /// Creates separate pools whose threads come from one starter.
  package init(threads starter: ThreadStarter, clock: StoreClock = .system) {
    self.starter = starter
    reads = IOThreads(starter: starter)
    folds = FairThreads(name: "strata-fold", starter: starter)
    follows = FairThreads(name: "strata-follow", starter: starter)
    views = FairThreads(name: "strata-view", starter: starter)
    past = FairThreads(name: "strata-past", starter: starter)
    watch = Watch(starter: starter)
    self.clock = clock
  }

  /// The pools that all stores of the process share.
  package static let process = StoreMachine(threads: .system)

  /// Work on all processors, on further threads that end with it.
  package var parallel: Parallel { Parallel(threads: starter) }

  /// A thread for one call of a task that may take any amount of time, or wait for a lock held elsewhere. It ends with
  /// the last reference.
  package func thread(_ name: String) -> IOThreads {
    IOThreads(name: name, threadCountMax: 1, starter: starter)
  }

  /// Starts a thread that belongs to one store; a caller that waits for its end keeps the result. Throws if no thread
  /// can be created.
  @discardableResult
  package func start(
    _ name: String, _ body: @escaping @Sendable () -> Void
  ) throws(StoreError) -> DedicatedThread {
    do throws(FileSystemError) { return try starter.start(name, body) } catch { throw .refused(error) }
  }
}
