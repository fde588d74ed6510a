// Help that the parser does not write: the grammar of points, after the help of every command that takes points.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell

/// Help beyond the options.
enum CommandHelp {
  /// Prints the requested help followed by the grammar of points, and ends the process. Returns if the error is not a
  /// request for the help of a command that takes points.
  static func print(_ error: any Error, _ arguments: [String]) {
    guard CommandFailure(any: error) == nil, Logreplay.exitCode(for: error) == .success,
      arguments.first == "help" || arguments.contains("-h") || arguments.contains("--help"),
      let name = arguments.first(where: { $0 != "help" }),
      Logreplay.configuration.subcommands.contains(where: {
        $0.configuration.commandName == name && $0 is any PointCommand.Type
      })
    else { return }
    var help = Logreplay.fullMessage(for: error)
    while help.last == "\n" { help.removeLast() }
    Swift.print("\(help)\n\n\(PointGrammar.help)")
    CommandEnding.succeed(isJSON: false)
  }
}
