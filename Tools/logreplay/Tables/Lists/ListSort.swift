// Parses `--sort FIELD[:desc][:time|numeric|nocase][:nullslast]`, and field paths in options.

internal import LogreplayShell
internal import StrataLists
internal import StrataTables

/// One `--sort`.
struct ListSort: Hashable, Sendable {
  var path: FieldPath
  var direction = SortDirection.forward
  var options: SortKeyOptions = []

  /// Parses the option's value. The name of a field that contains a colon is written in backquotes.
  init(_ text: String) throws(CommandFailure) {
    let scalars = text.unicodeScalars
    var index = scalars.startIndex
    path = try FieldPath.scanned(scalars, &index, option: "--sort", of: text)
    let rest = String(text[index...])
    guard rest.isEmpty || rest.first == ":" else {
      throw Self.malformed(text, "unexpected '\(rest)' after the field")
    }
    for word in rest.split(separator: ":", omittingEmptySubsequences: false).dropFirst() {
      switch word {
      case "asc": direction = .forward
      case "desc": direction = .reverse
      case "time": options.insert(.time)
      case "numeric": options.insert(.numeric)
      case "nocase": options.insert(.caseInsensitive)
      case "nullslast": options.insert(.nilsLast)
      default: throw Self.malformed(text, "'\(word)' is not a sort option")
      }
    }
    guard path != .section else { throw Self.malformed(text, "all rows of a section have the same $section") }
  }

  private static func malformed(_ text: String, _ what: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.usage, what, at: "--sort \(text)",
      next: "write FIELD, then any of :desc :time :numeric :nocase :nullslast")
  }
}

extension FieldPath {
  /// Parses a path that is the whole value of an option.
  init(_ text: String, option: String) throws(CommandFailure) {
    let scalars = text.unicodeScalars
    var index = scalars.startIndex
    self = try Self.scanned(scalars, &index, option: option, of: text)
    guard index == scalars.endIndex else {
      throw CommandFailure(
        ExitStatus.usage, "unexpected '\(text[index...])' after the field", at: "\(option) \(text)",
        next: Self.advice)
    }
  }

  /// Parses the path that begins at an index of an option's value, and advances the index past it.
  static func scanned(
    _ scalars: String.UnicodeScalarView, _ index: inout String.Index, option: String, of text: String
  ) throws(CommandFailure) -> FieldPath {
    do throws(FieldPathError) { return try scan(scalars, &index) } catch {
      throw CommandFailure(
        ExitStatus.usage, "this is not a field: \(error.message)", at: "\(option) \(text)", next: advice)
    }
  }

  private static let advice =
    "write a name, or names separated by dots; put names with characters other than letters, digits and _ "
    + "in backquotes"
}
