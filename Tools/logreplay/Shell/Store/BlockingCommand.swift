// Commands that block: each runs on a dedicated thread, never on the cooperative pool.

package import ArgumentParser
internal import StrataBase

/// A subcommand written as sequential code with blocking calls.
package protocol BlockingCommand: AsyncParsableCommand, Sendable {
  func perform() throws
}

extension BlockingCommand {
  package mutating func run() async throws {
    let command = self
    try await IOThreads(name: "logreplay", threadCountMax: 1).run { () throws(any Error) in
      try command.perform()
    }
  }
}

/// A command whose arguments are points: its help ends with their grammar.
package protocol PointCommand: ParsableCommand {}
