// Where updates are delivered: on an actor, an executor or a queue.

#if canImport(Dispatch)
  public import Dispatch
#endif

/// The executor on which updates are delivered, one at a time.
public struct UpdateExecutor: Sendable {
  let actor: any Actor

  /// The main actor.
  public static var main: UpdateExecutor { UpdateExecutor(actor: MainActor.shared) }

  /// An actor: callbacks run isolated to it.
  public static func actor(_ actor: any Actor) -> UpdateExecutor { UpdateExecutor(actor: actor) }

  /// A serial executor.
  public static func executor(_ executor: any SerialExecutor) -> UpdateExecutor {
    UpdateExecutor(actor: ExecutorActor(executor))
  }

  #if canImport(Dispatch)
    /// A queue. A concurrent queue also receives one update at a time.
    public static func queue(_ queue: DispatchQueue) -> UpdateExecutor { .executor(QueueExecutor(queue)) }
  #endif

  /// Runs the body on the executor.
  func run(_ body: @Sendable () -> Void) async { await Self.run(on: actor, body) }

  private static func run(on actor: isolated any Actor, _ body: @Sendable () -> Void) { body() }
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
