// Models of what is tested by commands.

/// What a system should do, in its simplest form: a state, and how each command changes it.
///
/// ``check(_:_:seed:failures:name:system:run:)`` runs sequences of commands on a system and on the model, and expects
/// equal responses. ``checkConcurrently(_:_:seed:tries:name:system:run:)`` runs short sequences at the same time, and
/// expects responses that some order of the commands explains.
public protocol CommandModel: Hashable, Sendable {
  associatedtype Command: Sendable
  associatedtype Response: Equatable & Sendable

  /// The state of a new system.
  init()
  /// The generator of commands that make sense now.
  var commands: Gen<Command> { get }
  /// The precondition of a command. A sequence with a command that is not allowed is not run. By default all are.
  func allows(_ command: Command) -> Bool
  /// Carries out a command, and returns what the system must respond.
  mutating func apply(_ command: Command) -> Response
}

extension CommandModel {
  public func allows(_ command: Command) -> Bool { true }

  /// The generator of sequences in which each command is made for the state that the ones before it leave.
  static func sequences(from start: Self = Self(), count: ClosedRange<Int>? = nil) -> Gen<[Command]> {
    let most = count?.upperBound ?? .max
    let least = count?.lowerBound ?? 0
    return Gen { (choices) throws(Rejection) in
      var (model, commands): (Self, [Command]) = (start, [])
      let wanted = least + choices.hint(through: min(most - least, choices.size))
      while true {
        let element = choices.openElement()
        let forced: Bool? = commands.count < least ? true : commands.count >= most ? false : nil
        guard try choices.flag(forced: forced, ifRandom: commands.count < wanted) else {
          choices.drop(element)
          return commands
        }
        let command = try choices.draw(model.commands)
        guard model.allows(command) else { throw .unsuitable }
        _ = model.apply(command)
        commands.append(command)
        choices.close(element)
      }
    }
  }
}

/// A response that the model does not have.
public struct WrongResponse: Error, CustomStringConvertible, Sendable {
  /// The number of the command, from 1.
  public let number: Int
  public let description: String
}

/// Checks a system against a model, by sequences of commands that follow each other.
///
/// A counterexample is the list of its commands, which ``replay(_:_:system:run:)`` carries out again.
/// - Parameters:
///   - system: makes a new system for each sequence: a value, an actor, or a class whose async methods run on their
///     caller, `nonisolated(nonsending)`.
///   - run: carries out a command, and returns what the system responds. An error that it throws is a failure.
/// - Throws: as ``Property/check(_:seed:failures:)``; the failure in it is a ``WrongResponse``, or what `run` threw.
@discardableResult
public nonisolated(nonsending) func check<Model: CommandModel, System>(
  _ model: Model.Type, _ budget: Budget = Budget(), seed: UInt64? = nil, failures folder: String? = nil,
  name: String = #function,
  system: nonisolated(nonsending) @escaping () async throws -> System,
  run: nonisolated(nonsending) @escaping (Model.Command, System) async throws -> Model.Response
) async throws -> CheckReport {
  try await Property(name, Model.sequences()) { commands in
    try await replay(model, commands, system: system, run: run)
  }.check(budget, seed: seed, failures: folder)
}

/// Carries out commands on a new system and on a new model: a counterexample as a test of its own.
/// - Throws: ``WrongResponse``, or what `run` throws.
public nonisolated(nonsending) func replay<Model: CommandModel, System>(
  _ model: Model.Type, _ commands: [Model.Command],
  system: nonisolated(nonsending) () async throws -> System,
  run: nonisolated(nonsending) (Model.Command, System) async throws -> Model.Response
) async throws {
  var model = Model()
  let system = try await system()
  for (index, command) in commands.enumerated() {
    let response = try await run(command, system)
    let expected = model.apply(command)
    guard response == expected else {
      throw WrongResponse(
        number: index + 1,
        description: "command \(index + 1), \(swiftSource(of: command)), "
          + "responds \(swiftSource(of: response)), not \(swiftSource(of: expected))")
    }
  }
}
