// The arguments before the parser has them: what it would take for something else is refused here.

internal import ArgumentParser
internal import LogreplayPoints

/// Checks of the arguments as a whole.
enum CommandArguments {
  /// Throws where an argument is not UTF-8: as repaired text it would be the name of another file.
  static func checkText() throws(CommandFailure) {
    for number in 1..<max(1, Int(CommandLine.argc)) {
      guard let bytes = CommandLine.unsafeArgv[number], String(validatingCString: bytes) == nil else {
        continue
      }
      throw CommandFailure(
        ExitStatus.usage, "argument \(number) is not UTF-8", at: String(cString: bytes),
        next: "give a name that is UTF-8, or rename the file")
    }
  }

  /// The arguments with every length of time before now as a point that the parser takes for one: `2h.ago` for
  /// `-2h`, in which it would read options, and a call for help. What may be the value of an option, or follows
  /// `--`, stays as it is.
  static func withoutSigns(_ arguments: [String]) -> [String] {
    var arguments = arguments
    for index in arguments.indices {
      let argument = arguments[index]
      if argument == "--" { break }
      let last = index == 0 ? "" : arguments[index - 1]
      guard argument.hasPrefix("-"), !mayTakeNext(last) else { continue }
      let length = argument.dropFirst().prefix { $0 != "." }
      let rest = argument.dropFirst(1 + length.count)
      guard rest.isEmpty || rest.hasPrefix(".."), TimeText.duration(length) != nil else { continue }
      arguments[index] = length + ".ago" + rest
    }
    return arguments
  }

  /// Whether the argument behind this one may be its value.
  private static func mayTakeNext(_ argument: String) -> Bool {
    guard argument.hasPrefix("-"), !takesNothing.contains(argument) else { return false }
    if argument.hasPrefix("--") { return !argument.contains("=") }
    // Short options in one argument, of which the last may take a value.
    return !argument.dropFirst().allSatisfy { takesNothing.contains("-\($0)") }
  }

  /// Options before points that take no value.
  private static let takesNothing: Set<String> = [
    "-r", "--reverse", "-R", "-f", "--follow", "--utc", "--stat", "--summary", "--exit-code",
    "--until-caught-up",
  ]

  /// The options whose values may be any text, and so begin with a sign.
  private static let takesText: Set<String> = ["--since", "--until", "--where", "--grep", "-g"]

  /// Throws where a signed number stands as an argument of its own: the parser would read options in it.
  static func checkSigns(_ arguments: [String]) throws(CommandFailure) {
    try checkSigns(arguments) { $0.hasPrefix("-") }
  }

  /// What the parser threw, but a failure where it took a signed number behind a flag for a call for help.
  static func explained(_ error: any Error, _ arguments: [String]) -> any Error {
    guard CommandFailure(any: error) == nil, Logreplay.exitCode(for: error) == .success,
      !arguments.contains(where: { ["-h", "--help", "help"].contains($0) })
    else { return error }
    do throws(CommandFailure) { try checkSigns(arguments) { takesText.contains($0) } } catch { return error }
    return error
  }

  private static func checkSigns(
    _ arguments: [String], unlessBehind isOption: (String) -> Bool
  ) throws(CommandFailure) {
    for (index, argument) in arguments.prefix(while: { $0 != "--" }).enumerated() {
      guard argument.hasPrefix("-"), argument.dropFirst().prefix(1).isDigits,
        index == 0 || !isOption(arguments[index - 1])
      else { continue }
      let number = argument.dropFirst()
      throw CommandFailure(
        ExitStatus.usage, "'\(argument)' is no point", at: argument,
        next: number.isDigits
          ? "write head~\(number) for that many appends before the head"
          : "see logreplay help; what is no option and begins with - stands behind --")
    }
  }

  /// Throws where the first word is no command, and says which one is near.
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
