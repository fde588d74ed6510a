// Where a diffable fetch controller calls its delegate: an actor, or an executor.

/// Where a delegate is called.
public struct ProcessingQueue: Sendable {
  private enum Place: Sendable {
    case actor(any Actor)
    case executor(any TaskExecutor)
  }

  private let place: Place

  /// On the main actor. What changed is found beside it.
  public static var main: ProcessingQueue { actor(MainActor.shared) }

  /// On an actor.
  public static func actor(_ actor: any Actor) -> ProcessingQueue { ProcessingQueue(place: .actor(actor)) }

  /// On an executor, which also finds what changed.
  public static func executor(_ executor: any TaskExecutor) -> ProcessingQueue {
    ProcessingQueue(place: .executor(executor))
  }

  /// On whatever a closure gives work to: `.queue { queue.async(execute: $0) }` with a queue of Dispatch. The
  /// queue may run several things at a time; the delegate is called once at a time in any case.
  public static func queue(
    _ schedule: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
  ) -> ProcessingQueue {
    executor(ScheduledExecutor(schedule: schedule))
  }

  /// Begins a task there. The body is given the actor, nil on an executor.
  func task(_ body: @escaping @Sendable (_ isolation: (any Actor)?) async -> Void) -> Task<Void, Never> {
    switch place {
    case .actor(let actor): Task { await body(actor) }
    case .executor(let executor): Task(executorPreference: executor) { await body(nil) }
    }
  }
}

/// An executor that gives its jobs to a closure.
private final class ScheduledExecutor: TaskExecutor {
  private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) { self.schedule = schedule }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    schedule { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
