// Commands that block: each runs on a dedicated thread, never on the cooperative pool.

internal import ArgumentParser
internal import StrataBase

/// A subcommand written as sequential code with blocking calls.
protocol BlockingCommand: AsyncParsableCommand, Sendable {
  func perform() throws
}

extension BlockingCommand {
  mutating func run() async throws {
    let command = self
    try await IOThreads(name: "logreplay", threadCountMax: 1).run { () throws(any Error) in
      try command.perform()
    }
  }
}
