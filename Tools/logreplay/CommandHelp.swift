// What the parser's help leaves out: the grammar of points, at the end of every command that takes them.

internal import ArgumentParser
internal import LogreplayPoints

/// A command whose arguments are points.
protocol PointCommand: ParsableCommand {}

/// Help beyond options.
enum CommandHelp {
  /// Prints what belongs to the end of the help that was asked for, before it ends the process.
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
