// Where updates are told: on an actor, an executor or a queue.

#if canImport(Dispatch)
  public import Dispatch
#endif

/// The place on which updates are told, one after the other.
public struct UpdateExecutor: Sendable {
  let actor: any Actor

  /// The main actor.
  public static var main: UpdateExecutor { UpdateExecutor(actor: MainActor.shared) }

  /// An actor: what is told runs isolated to it.
  public static func actor(_ actor: any Actor) -> UpdateExecutor { UpdateExecutor(actor: actor) }

  /// A serial executor.
  public static func executor(_ executor: any SerialExecutor) -> UpdateExecutor {
    UpdateExecutor(actor: ExecutorActor(executor))
  }

  #if canImport(Dispatch)
    /// A queue. One that is concurrent gets one update after the other all the same.
    public static func queue(_ queue: DispatchQueue) -> UpdateExecutor { .executor(QueueExecutor(queue)) }
  #endif

  /// Runs the body on the executor.
  func run(_ body: @Sendable () -> Void) async { await Self.run(on: actor, body) }

  private static func run(on actor: isolated any Actor, _ body: @Sendable () -> Void) { body() }
}

/// An actor that is nothing but its executor.
private actor ExecutorActor {
  private let executor: any SerialExecutor

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

#if canImport(Dispatch)
  /// A queue of its own in front of another one, so that what is told is never told at the same time.
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
