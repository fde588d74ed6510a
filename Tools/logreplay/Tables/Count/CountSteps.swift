// What `count` takes for its steps and fields, and the mistakes in them.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataLists
internal import StrataTables

/// The formats of `count -o`.
enum CountFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  case short, table, json, jsonl, csv, svg, plot
}

enum CountSteps {
  static let names = "1h, 1d, 1w (from Monday) or 1mo"

  static func step(_ text: String) throws(CommandFailure) -> CalendarStep {
    if let step = CalendarStep(rawValue: text) { return step }
    switch text {
    case "hour", "h", "60m": return .hour
    case "day", "d", "24h": return .day
    case "week", "w", "7d": return .week
    case "month", "mo", "1month": return .month
    default: break
    }
    throw CommandFailure(
      ExitStatus.usage, "'\(text)' is not the length of a step", at: "--every",
      next: "give \(names); for longer ones, take every Nth line of a shorter one")
  }

  /// The fields of `--by`, separated by commas.
  static func fields(_ text: String?) throws(CommandFailure) -> [FieldPath] {
    guard let text else { return [] }
    var fields: [FieldPath] = []
    let scalars = text.unicodeScalars
    var index = scalars.startIndex
    while true {
      while index < scalars.endIndex, scalars[index] == " " { index = scalars.index(after: index) }
      let path = try field(FieldPath.scanned(scalars, &index, option: "--by", of: text), "--by \(text)")
      guard !fields.contains(path) else {
        throw CommandFailure(
          ExitStatus.usage, "\(path) is given twice", at: "--by \(text)", next: "leave one of them out")
      }
      fields.append(path)
      guard index < scalars.endIndex else { return fields }
      guard scalars[index] == "," else {
        throw CommandFailure(
          ExitStatus.usage, "unexpected '\(text[index...])' after a field", at: "--by \(text)",
          next: "write fields with a comma between them: status,impact")
      }
      index = scalars.index(after: index)
    }
  }

  static func field(_ path: FieldPath, _ option: String) throws(CommandFailure) -> FieldPath {
    guard path.subject != .field else { return path }
    throw CommandFailure(
      ExitStatus.usage, "\(path) is not a field of the documents", at: option,
      next: "give a field; rows are chosen by \(path) with --where")
  }
}
