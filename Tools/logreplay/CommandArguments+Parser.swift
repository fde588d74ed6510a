// Checks of the command line that need the list of commands, and what the parser made of it.

internal import ArgumentParser
internal import LogreplayShell

extension CommandArguments {
  /// The error to report for what the parser threw: a failure if the parser took a signed number after a flag for a
  /// request for help, the parser's own error otherwise.
  static func explained(_ error: any Error, _ arguments: [String]) -> any Error {
    guard CommandFailure(any: error) == nil, Logreplay.exitCode(for: error) == .success,
      !arguments.prefix(while: { !endsOptions($0) }).contains(where: {
        ["-h", "--help", "help"].contains($0)
      })
    else { return error }
    do throws(CommandFailure) { try checkSigns(arguments) { takesText.contains($0) } } catch { return error }
    return error
  }

  /// Throws if the first word is not a command, and suggests the nearest one.
  static func checkCommand(_ arguments: [String]) throws(CommandFailure) {
    let words = arguments.drop { $0 == "help" }
    guard let name = words.first, !name.hasPrefix("-") else { return }
    let names = Logreplay.configuration.subcommands.compactMap { $0.configuration.commandName }
    guard !names.contains(name) else { return }
    throw CommandFailure(
      ExitStatus.usage, "there is no command '\(name)'",
      next: NearNames.hint(for: name, among: names) ?? "see logreplay help")
  }
}
