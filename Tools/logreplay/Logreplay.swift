// The `logreplay` command: its subcommands, and how each of them ends.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayShell
internal import LogreplayTables
internal import StrataLog

@main
struct Logreplay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logreplay",
    abstract: "Inspects a Strata store: its log, any past state, and what changed.",
    discussion: """
      The shell can complete commands, options and their values: see the output of \
      logreplay --generate-completion-script bash (or zsh, fish). With -o json every command prints JSON, for its \
      errors too: the last line on standard error, after notes and warnings for people.
      """,
    version: "\(version), store format \(FormatLimits.major).\(FormatLimits.minor)",
    subcommands: [
      ImportCommand.self,
      ExportCommand.self,
      PutCommand.self,
      MergeCommand.self,
      DeleteCommand.self,
      AppendCommand.self,
      WriteCommand.self,
      InfoCommand.self,
      LogCommand.self,
      ShowCommand.self,
      AtCommand.self,
      DiffCommand.self,
      CountCommand.self,
      BisectCommand.self,
      FollowCommand.self,
      KeepCommand.self,
      CheckpointCommand.self,
      ReplayCommand.self,
      InspectCommand.self,
      VerifyCommand.self,
      DumpCommand.self,
      BackupCommand.self,
      ReplicateCommand.self,
      CompareCommand.self,
      RecoverCommand.self,
      SealCommand.self,
      EraseCommand.self,
    ])

  /// The version of the command.
  private static let version = "1.0.0"

  static func main() async {
    CommandEnding.reserveStandardDescriptors()
    CommandEnding.handleSignals()
    let arguments = CommandArguments.withoutSigns(Array(CommandLine.arguments.dropFirst()))
    let isJSON = OutputFormat.requested(in: arguments)?.isJSON ?? false
    do {
      try CommandArguments.checkText()
      try CommandArguments.checkCommand(arguments)
      try CommandArguments.checkSigns(arguments)
      try CommandArguments.checkProgram(arguments)
      var command = try parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      let error = CommandArguments.explained(error, arguments)
      CommandHelp.print(error, arguments)
      CommandEnding.fail(with: error, isJSON: isJSON, of: Logreplay.self)
    }
    CommandEnding.succeed(isJSON: isJSON)
  }
}
