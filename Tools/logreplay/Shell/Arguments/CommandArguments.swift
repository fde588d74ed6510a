// Checks of the command line before parsing: arguments that the parser would misread are rejected here.

internal import LogreplayPoints

/// Checks of the arguments as a whole.
package enum CommandArguments {
  /// Throws if an argument is not UTF-8: its repaired text would name another file.
  package static func checkText() throws(CommandFailure) {
    for number in 1..<max(1, Int(CommandLine.argc)) {
      guard let bytes = CommandLine.unsafeArgv[number], String(validatingCString: bytes) == nil else {
        continue
      }
      throw CommandFailure(
        ExitStatus.usage, "argument \(number) is not UTF-8", at: String(cString: bytes),
        next: "give a name that is UTF-8, or rename the file")
    }
  }

  /// The arguments with each relative time rewritten so that the parser accepts it as a point: `-2h` becomes `2h.ago`,
  /// because the parser would read `-2h` as options, one of them a request for help. Arguments that may be the value of
  /// an option, or that follow `--` or `--run`, are not changed.
  package static func withoutSigns(_ arguments: [String]) -> [String] {
    var arguments = arguments
    for index in arguments.indices {
      let argument = arguments[index]
      if endsOptions(argument) { break }
      let last = index == 0 ? "" : arguments[index - 1]
      guard argument.hasPrefix("-"), !mayTakeNext(last) else { continue }
      let length = argument.dropFirst().prefix { $0 != "." }
      let rest = argument.dropFirst(1 + length.count)
      guard rest.isEmpty || rest.hasPrefix(".."), TimeText.duration(length) != nil else { continue }
      arguments[index] = length + ".ago" + rest
    }
    return arguments
  }

  /// Whether the argument after this one may be its value.
  private static func mayTakeNext(_ argument: String) -> Bool {
    guard argument.hasPrefix("-"), !takesNothing.contains(argument) else { return false }
    if argument.hasPrefix("--") { return !argument.contains("=") }
    if argument.count > 2, takesJoined.contains(String(argument.prefix(2))) { return false }
    // Several short options in one argument: the last one may take a value.
    return !argument.dropFirst().allSatisfy { takesNothing.contains("-\($0)") }
  }

  /// The flags of the commands that take points.
  static let takesNothing: Set<String> = [
    "-r", "--reverse", "-R", "-f", "--follow", "-p", "--patch", "-v", "--verbose", "-h", "--help",
    "--version", "--utc", "--stat", "--summary", "--exit-code", "--until-caught-up", "--all-flips",
    "--events", "--force", "--changes", "--lossy", "--crlf", "--status", "--take-over", "--rejoin",
    "--dry-run", "--start-over",
  ]

  /// The commands whose arguments are documents, which may be negative numbers, and no points.
  private static let takesDocuments: Set<String> = ["put", "merge", "append"]

  /// The options of these commands whose values may be any text, including text that begins with a sign.
  package static let takesText: Set<String> = [
    "--from", "--since", "--until", "--where", "--grep", "-g", "--good", "--bad", "--within", "--time-zone",
  ]

  /// The short options whose value may follow in the same argument: `-ojson`, `-n5`.
  static let takesJoined: Set<String> = ["-o", "-n"]

  /// Whether no argument after this one is an option of the command: all belong to a program, or are what they say.
  package static func endsOptions(_ argument: String) -> Bool {
    argument == "--" || argument == "--run" || argument.hasPrefix("--run=")
  }

  /// Throws if a signed number is an argument by itself, or a number of lines: the parser would read it as options.
  package static func checkSigns(_ arguments: [String]) throws(CommandFailure) {
    let words = arguments.prefix { !endsOptions($0) }
    for (option, value) in zip(words, words.dropFirst()) where ["-n", "--lines"].contains(option) {
      guard value.hasPrefix("-"), value.dropFirst().isDigits else { continue }
      throw CommandFailure(
        ExitStatus.usage, "'\(value)' is no number of lines", at: option,
        next: "give a number that is 0 or more")
    }
    try checkSigns(arguments) { $0.hasPrefix("-") }
  }

  package static func checkSigns(
    _ arguments: [String], unlessBehind isOption: (String) -> Bool
  ) throws(CommandFailure) {
    for (index, argument) in arguments.prefix(while: { !endsOptions($0) }).enumerated() {
      guard argument.hasPrefix("-"), argument.dropFirst().prefix(1).isDigits,
        index == 0 || !isOption(arguments[index - 1])
      else { continue }
      let number = argument.dropFirst().prefix { $0 != "." }
      let rest = argument.dropFirst(1 + number.count)
      guard !takesDocuments.contains(arguments[0]) else {
        throw CommandFailure(
          ExitStatus.usage, "'\(argument)' is read as an option", at: argument,
          next: "write -- before values that begin with -, and options before that")
      }
      throw CommandFailure(
        ExitStatus.usage, "'\(argument)' is not a point", at: argument,
        next: number.isDigits && (rest.isEmpty || rest.hasPrefix(".."))
          ? "write head~\(number)\(rest); head~N is N appends before the head"
          : "see logreplay help; write -- before arguments that begin with - and are not options")
    }
  }

  /// Throws if the program to run is missing after `--run`: an empty list of arguments is that of no option at all.
  package static func checkProgram(_ arguments: [String]) throws(CommandFailure) {
    guard arguments.first == "bisect", arguments.last == "--run" else { return }
    throw CommandFailure(
      ExitStatus.usage, "a program is missing", at: "--run", next: "give a program, and its arguments")
  }
}
