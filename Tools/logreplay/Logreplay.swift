// The command itself: its subcommands, and how every one of them ends.

internal import ArgumentParser
internal import StrataLog

@main
struct Logreplay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logreplay",
    abstract: "Looks into a Strata store: its log, any past state, and what changed.",
    discussion: """
      Commands, options and their values can be completed by the shell: see what \
      logreplay --generate-completion-script bash (or zsh, fish) prints. -o json makes every command speak to \
      programs, in its errors too.
      """,
    version: "\(version), store format \(FormatLimits.major).\(FormatLimits.minor)",
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

  /// The version of the command.
  private static let version = "1.0.0"

  static func main() async {
    CommandEnding.handleSignals()
    let arguments = CommandArguments.withoutSigns(Array(CommandLine.arguments.dropFirst()))
    let isJSON = OutputFormat.requested(in: arguments)?.isJSON ?? false
    do {
      try CommandArguments.checkText()
      try CommandArguments.checkCommand(arguments)
      try CommandArguments.checkSigns(arguments)
      var command = try parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      let error = CommandArguments.explained(error, arguments)
      CommandHelp.print(error, arguments)
      CommandEnding.fail(with: error, isJSON: isJSON)
    }
    CommandEnding.succeed(isJSON: isJSON)
  }
}
