// How a command's answer is laid out, and the options that every command has for it.

internal import ArgumentParser
internal import LogreplayPoints
internal import StrataBase

/// The layouts of `-o`.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  case short, table, json, jsonl, csv

  var isJSON: Bool { self == .json || self == .jsonl }

  /// The format that arguments ask for, read without parsing them: errors in them are reported in it too.
  static func requested(in arguments: [String]) -> OutputFormat? {
    var format: OutputFormat?
    for (index, argument) in arguments.enumerated() {
      if argument == "--" { break }
      var value: Substring?
      if argument == "-o" || argument == "--output" {
        value = index + 1 < arguments.count ? arguments[index + 1][...] : nil
      } else if argument.hasPrefix("-o"), !argument.hasPrefix("--") {
        value = argument.dropFirst(2)
        if value?.first == "=" { value?.removeFirst() }
      } else if argument.hasPrefix("--output=") {
        value = argument.dropFirst("--output=".count)
      }
      if let value, let named = OutputFormat(rawValue: String(value)) { format = named }
    }
    return format
  }
}

/// When text is coloured.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
  case auto, always, never
}

/// How answers for people look, whatever their layout.
struct PeopleOptions: ParsableArguments, Sendable {
  @Option(help: "auto, always or never. NO_COLOR is respected.")
  var color: ColorChoice = .auto

  @Flag(help: "Read and show times in UTC instead of the local zone.")
  var utc = false

  var zone: Zone { utc ? .utc : .local }

  /// Says where `TZ` names a zone that the system does not know: its times would be read and shown in UTC without
  /// a word.
  func validate() throws {
    guard !utc, let name = Zone.unknownName(Terminal.variable("TZ"), folder: Terminal.variable("TZDIR")),
      !Self.isNoted.withLock({ isNoted in
        defer { isNoted = true }
        return isNoted
      })
    else { return }
    Terminal.note(
      "logreplay: warning: there is no time zone \(PeopleText.printable(name)) (TZ), and times are in UTC; "
        + "name one of this system's, as Europe/Berlin, or give --utc")
  }

  private static let isNoted = Lock(false)

  var isColored: Bool {
    switch color {
    case .always: true
    case .never: false
    case .auto: Terminal.isOutput && Terminal.wantsColor
    }
  }

  var text: PeopleText { PeopleText(zone: zone, isColored: isColored) }
}

/// The options that say how an answer is shown.
struct OutputOptions: ParsableArguments, Sendable {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: "short, table, json, jsonl or csv. A table on a terminal, short otherwise.")
  var requestedFormat: OutputFormat?

  @OptionGroup var people: PeopleOptions

  var format: OutputFormat { requestedFormat ?? (Terminal.isOutput ? .table : .short) }
  var zone: Zone { people.zone }
  var isColored: Bool { people.isColored }

  /// Throws a usage error for a layout that a command does not have.
  func refuse(_ formats: OutputFormat...) throws(CommandFailure) {
    guard let requestedFormat, formats.contains(requestedFormat) else { return }
    throw CommandFailure(
      ExitStatus.usage, "this command has no output as \(requestedFormat.rawValue)",
      next: "choose another format with -o")
  }
}
