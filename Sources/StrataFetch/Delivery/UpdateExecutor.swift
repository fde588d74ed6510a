// Where updates are delivered: on an actor, an executor or a queue.

#if canImport(Dispatch)
  public import Dispatch
#endif

/// The place where updates are delivered, one at a time.
///
/// Differences are computed on the concurrent thread pool, so an update costs the executor only the call itself. An
/// executor that is made with `scheduled(by:)` computes the differences too.
public struct UpdateExecutor: Sendable {
  private let actor: any Actor
  /// Computes the differences; nil for the concurrent thread pool.
  private let background: (any TaskExecutor)?

  private init(_ actor: any Actor, background: (any TaskExecutor)? = nil) {
    self.actor = actor
    self.background = background
  }

  /// The main actor.
  public static var main: UpdateExecutor { UpdateExecutor(MainActor.shared) }

  /// An actor: callbacks run isolated to it. The actor is kept alive for as long as updates are delivered there.
  public static func actor(_ actor: any Actor) -> UpdateExecutor { UpdateExecutor(actor) }

  /// A serial executor.
  public static func executor(_ executor: any SerialExecutor) -> UpdateExecutor {
    UpdateExecutor(ExecutorActor(executor))
  }

  #if canImport(Dispatch)
    /// A dispatch queue. A concurrent queue also receives one update at a time.
    public static func queue(_ queue: DispatchQueue) -> UpdateExecutor { .executor(QueueExecutor(queue)) }
  #endif

  /// Any scheduler: the closure is given pieces of work, and has each of them run once, on any thread and in any order.
  ///
  /// All work for the deliveries is scheduled with it, including the computation of the differences. A piece is
  /// scheduled when the previous one has ended, so two pieces never run at the same time. A scheduler that drops a
  /// piece ends the deliveries without a notice.
  public static func scheduled(
    by schedule: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
  ) -> UpdateExecutor {
    let executor = ScheduledExecutor(schedule: schedule)
    return UpdateExecutor(ExecutorActor(executor), background: executor)
  }

  /// Runs the body here.
  package func run<Result: Sendable>(
    _ body: nonisolated(nonsending) @Sendable () async -> Result
  ) async -> Result {
    await Self.run(on: actor, body)
  }

  private static func run<Result: Sendable>(
    on actor: isolated any Actor, _ body: nonisolated(nonsending) @Sendable () async -> Result
  ) async -> Result {
    // It also makes the switch to the actor happen: Swift 6.3 leaves it out where nothing but such a call follows.
    actor.preconditionIsolated("an update is delivered off its executor")
    return await body()
  }

  /// Begins a task that computes differences where that is done.
  package func task(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: background) { await body() }
  }
}

/// An actor that consists of its executor only.
private actor ExecutorActor {
  private let executor: any SerialExecutor

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

#if canImport(Dispatch)
  /// A serial queue that targets another one, so that two callbacks never run at the same time.
  private final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ target: DispatchQueue) { queue = DispatchQueue(label: "strata-updates", target: target) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let executor = asUnownedSerialExecutor()
      queue.async { [self] in
        withExtendedLifetime(self) { job.runSynchronously(on: executor) }
      }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  }
#endif
