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

  /// Throws where a signed number stands as an argument of its own: the parser would read options in it, and a
  /// call for help in `-2h`.
  static func checkSigns(_ arguments: [String]) throws(CommandFailure) {
    try checkSigns(arguments) { $0.hasPrefix("-") }
  }

  /// What the parser threw, but a failure where it took a signed number behind a flag for a call for help.
  static func explained(_ error: any Error, _ arguments: [String]) -> any Error {
    guard CommandFailure(any: error) == nil, Logreplay.exitCode(for: error) == .success,
      !arguments.contains(where: { ["-h", "--help", "help"].contains($0) })
    else { return error }
    do throws(CommandFailure) { try checkSigns(arguments) { takesSign.contains($0) } } catch { return error }
    return error
  }

  /// The options whose values may begin with a sign.
  private static let takesSign: Set<String> = ["--since", "--until"]

  private static func checkSigns(
    _ arguments: [String], unlessBehind isOption: (String) -> Bool
  ) throws(CommandFailure) {
    for (index, argument) in arguments.prefix(while: { $0 != "--" }).enumerated() {
      guard argument.hasPrefix("-"), argument.dropFirst().prefix(1).isDigits,
        index == 0 || !isOption(arguments[index - 1])
      else { continue }
      let number = argument.dropFirst()
      let next =
        switch (TimeText.duration(number), number.isDigits) {
        case (_?, _): "write '\(number) ago' or \(number.filter { $0 != " " }).ago"
        case (nil, true): "write head~\(number) for so many appends before the head"
        default: "see logreplay help; what is no option and begins with - stands behind --"
        }
      throw CommandFailure(ExitStatus.usage, "'\(argument)' is no point", at: argument, next: next)
    }
  }
}
