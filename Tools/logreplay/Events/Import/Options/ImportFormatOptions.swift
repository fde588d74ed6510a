// The options of `import` for formats whose records are rows of a table.

internal import ArgumentParser
internal import LogreplayShell

/// What is to be known of CSV, TSV and SQLite.
package struct ImportFormatOptions: ParsableArguments, Sendable {
  @Option(
    help: "csv: the character between two fields, or tab. Default: a comma, and for tsv a tab.")
  var separator: String?

  @Option(
    help: ArgumentHelp(
      "csv, tsv: the types of fields, as NAME:TYPE,NAME:TYPE. Repeatable.",
      discussion: """
        text, int, real (also inf and nan), bool (true, t, yes, y, 1 and their opposites), json, or time, which \
        becomes RFC 3339. An empty field is null, and "" an empty text. A name with a comma or a colon is in \
        backquotes. Without a type, each text says what it is.
        """, valueName: "types"))
  var types: [String] = []

  @Option(help: "sqlite: the table or view to read. Default: the one that --table names.")
  var fromTable: String?

  /// Whether any of them is given that applies to csv and tsv.
  var isForCSV: Bool { separator != nil || !types.isEmpty }

  /// The separator of a format.
  func separatorByte(of format: ImportFormat) throws(CommandFailure) -> UInt8 {
    guard let separator else { return format == .tsv ? 0x09 : UInt8(ascii: ",") }
    if separator == "tab" || separator == "\\t" { return 0x09 }
    guard separator.utf8.count == 1, let byte = separator.utf8.first, byte >= 0x20 || byte == 0x09,
      byte != UInt8(ascii: "\"")
    else {
      throw CommandFailure(
        ExitStatus.usage, "'\(separator)' is not a separator", at: "--separator",
        next: "give one ASCII character other than a quote, or tab")
    }
    return byte
  }

  /// The types by the names of fields.
  func columnTypes() throws(CommandFailure) -> [String: ImportColumnType] {
    var found: [String: ImportColumnType] = [:]
    for text in types {
      for part in Self.parts(text) {
        guard let colon = part.lastIndex(of: ":"), colon > part.startIndex,
          let type = ImportColumnType(rawValue: String(part[part.index(after: colon)...]))
        else {
          throw CommandFailure(
            ExitStatus.usage, "'\(part)' is not NAME:TYPE", at: "--types",
            next: "the types are " + ImportColumnType.allCases.map(\.rawValue).joined(separator: ", "))
        }
        var name = String(part[..<colon])
        if name.count >= 2, name.hasPrefix("`"), name.hasSuffix("`") {
          name = String(name.dropFirst().dropLast()).replacingBytes("``", with: "`")
        }
        guard found.updateValue(type, forKey: name) == nil else {
          throw CommandFailure(
            ExitStatus.usage, "'\(name)' has two types", at: "--types", next: "give it one")
        }
      }
    }
    return found
  }

  /// A text split at its commas that are not in backquotes.
  private static func parts(_ text: String) -> [String] {
    var parts = [""]
    var isQuoted = false
    for character in text {
      if character == "`" { isQuoted.toggle() }
      if character == ",", !isQuoted {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    return parts
  }
}
