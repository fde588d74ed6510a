// The output formats of commands, and the options that choose them.

package import ArgumentParser
package import LogreplayPoints
internal import StrataBase

/// The formats of `-o`.
package enum OutputFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  case short, table, json, jsonl, csv

  package var isJSON: Bool { self == .json || self == .jsonl }

  /// The format requested by the arguments, found without parsing them, because parse errors use this format too.
  package static func requested(in arguments: [String]) -> OutputFormat? {
    var format: OutputFormat?
    for (index, argument) in arguments.enumerated() {
      if CommandArguments.endsOptions(argument) { break }
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

/// The options for text that people read, whatever the output format.
package struct PeopleOptions: ParsableArguments, Sendable {
  @Option(help: "When to colour text: auto, always or never. NO_COLOR is respected.")
  var color: ColorChoice = .auto

  @Flag(help: "Read and show times in UTC instead of the local zone.")
  package var utc = false

  package init() {}

  package var zone: Zone { utc ? .utc : .local }

  /// Warns if `TZ` names a zone that the system does not know: times are then read and shown in UTC, and the system
  /// reports nothing.
  package func validate() throws {
    guard !utc, let name = Zone.unknownName(Terminal.variable("TZ"), folder: Terminal.variable("TZDIR")),
      !Self.isNoted.withLock({ isNoted in
        defer { isNoted = true }
        return isNoted
      })
    else { return }
    Terminal.note(
      "logreplay: warning: there is no time zone \(PeopleText.printable(name)) (TZ), so times are in UTC; "
        + "set TZ to a zone of this system, such as Europe/Berlin, or give --utc")
  }

  private static let isNoted = Lock(false)

  var isColored: Bool {
    switch color {
    case .always: true
    case .never: false
    case .auto: Terminal.isOutput && Terminal.wantsColor
    }
  }

  package var text: PeopleText { text(in: zone) }

  /// The same with times in another zone.
  package func text(in zone: Zone) -> PeopleText { PeopleText(zone: zone, isColored: isColored) }
}

/// The options that choose how output is shown.
package struct OutputOptions: ParsableArguments, Sendable {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: """
      The format: short, table, json, jsonl or, for single events and lists, csv. Default: table on a terminal, short \
      otherwise.
      """)
  package var requestedFormat: OutputFormat?

  @OptionGroup package var people: PeopleOptions

  package init() {}

  package var format: OutputFormat { requestedFormat ?? (Terminal.isOutput ? .table : .short) }
  package var zone: Zone { people.zone }
  package var isColored: Bool { people.isColored }

  /// Throws a usage error, which names the other formats, if the requested one is among those that the command does
  /// not support.
  package func refuse(_ formats: OutputFormat...) throws(CommandFailure) {
    guard let requestedFormat, formats.contains(requestedFormat) else { return }
    let others = OutputFormat.allCases.filter { !formats.contains($0) }.map(\.rawValue)
    throw CommandFailure(
      ExitStatus.usage, "this command has no output as \(requestedFormat.rawValue)",
      next: "choose another format with -o: " + others.joined(separator: ", "))
  }
}
