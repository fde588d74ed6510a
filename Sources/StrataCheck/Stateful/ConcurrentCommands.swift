// Short concurrent histories.

internal import Synchronization

/// Commands that are carried out one after the other, and then some in tasks at the same time.
public struct ConcurrentCommands<Command: Sendable>: Sendable {
  public var first: [Command]
  public var tasks: [[Command]]

  public init(first: [Command], tasks: [[Command]]) { (self.first, self.tasks) = (first, tasks) }
}

/// Responses that no order of the operations explains.
public struct NotLinearizable: Error, CustomStringConvertible, Sendable {
  public let description: String
}

/// Checks a system against a model, by short sequences of commands at the same time: whether what the tasks were
/// answered could have been answered in some order, see ``CommandModel/explains(_:)``.
///
/// The tasks run as the machine runs them, so a fault may need several tries to appear, and a run of the same seed has
/// the same commands, but not the same order. The precondition of a command is that of its own task: a command must
/// have a response in every state that the other tasks leave.
/// - Parameters:
///   - tries: how many times each case is run.
///   - system: makes a new system for each try.
/// - Throws: as ``Property/check(_:seed:failures:)``; the failure in it is a ``NotLinearizable``, or what `run` threw.
@discardableResult
public nonisolated(nonsending) func checkConcurrently<Model: CommandModel, System: Sendable>(
  _ model: Model.Type, _ budget: Budget = Budget(cases: 50), seed: UInt64? = nil, tries: Int = 10,
  name: String = #function,
  system: @escaping @Sendable () async throws -> System,
  run: @escaping @Sendable (Model.Command, System) async throws -> Model.Response
) async throws -> CheckReport {
  let generator = Gen<ConcurrentCommands<Model.Command>> { (choices) throws(Rejection) in
    let first = try choices.draw(Model.sequences(count: 0...4))
    var model = Model()
    for command in first { _ = model.apply(command) }
    // At most 3 × 4 operations overlap, of which all orders can be tried.
    let tasks = Model.sequences(from: model, count: 1...4).array(count: 2...3)
    return ConcurrentCommands(first: first, tasks: try choices.draw(tasks))
  }
  return try await Property(name, generator) { commands in
    for _ in 0..<max(1, tries) { try await runConcurrently(model, commands, system: system, run: run) }
  }.check(budget, seed: seed)
}

/// Carries out concurrent commands once.
/// - Throws: ``NotLinearizable``, or what `run` throws.
public func runConcurrently<Model: CommandModel, System: Sendable>(
  _ model: Model.Type, _ commands: ConcurrentCommands<Model.Command>,
  system: @Sendable () async throws -> System,
  run: @escaping @Sendable (Model.Command, System) async throws -> Model.Response
) async throws {
  typealias Done = TimedCall<Model.Command, Model.Response>
  let system = try await system()
  let clock = Moments()
  @Sendable func perform(_ command: Model.Command) async throws -> Done {
    let start = clock.next()
    let response = try await run(command, system)
    return Done(command, response, start: start, end: clock.next())
  }
  var history: [Done] = []
  for command in commands.first { history.append(try await perform(command)) }
  history += try await withThrowingTaskGroup(of: [Done].self) { group in
    for task in commands.tasks {
      group.addTask {
        var done: [Done] = []
        for command in task { done.append(try await perform(command)) }
        return done
      }
    }
    return try await group.reduce(into: []) { $0 += $1 }
  }
  guard !Model().explains(history) else { return }
  let lines = history.sorted { $0.start < $1.start }.map { done in
    "  \(done.start)–\(done.end) \(swiftSource(of: done.command)): \(swiftSource(of: done.response))"
  }
  throw NotLinearizable(
    description: "no order of these operations explains their responses:\n\(lines.joined(separator: "\n"))")
}

/// A clock whose moments are all different.
private final class Moments: Sendable {
  private let last = Atomic<Int>(0)

  func next() -> Int { last.add(1, ordering: .sequentiallyConsistent).newValue }
}
