// The command itself: its subcommands, and how every one of them ends.

internal import ArgumentParser

@main
struct Logreplay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logreplay",
    abstract: "Looks into a Strata store: its log, any past state, and what changed.",
    subcommands: [
      ImportCommand.self,
      InfoCommand.self,
      LogCommand.self,
      ShowCommand.self,
      AtCommand.self,
      DiffCommand.self,
      FollowCommand.self,
      ReplayCommand.self,
      VerifyCommand.self,
      DumpCommand.self,
      BackupCommand.self,
      SealCommand.self,
      EraseCommand.self,
    ])

  static func main() async {
    CommandEnding.handleSignals()
    let arguments = Array(CommandLine.arguments.dropFirst())
    let isJSON = OutputFormat.requested(in: arguments)?.isJSON ?? false
    do {
      try CommandArguments.checkText()
      try CommandArguments.checkSigns(arguments)
      var command = try parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      CommandEnding.fail(with: CommandArguments.explained(error, arguments), isJSON: isJSON)
    }
    CommandEnding.succeed(isJSON: isJSON)
  }
}
