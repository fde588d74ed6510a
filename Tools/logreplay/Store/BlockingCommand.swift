// Commands that block: they run on a thread of their own, never on the cooperative pool.

internal import ArgumentParser
internal import StrataBase

/// A subcommand whose work is written straight down, with calls that block.
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
