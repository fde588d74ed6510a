// What this tool itself has printed: recognised, because its lines are no rows, and refused with what imports them.

internal import LogreplayShell
internal import StrataDocuments

/// The outputs of `logreplay` that look like JSON lines.
enum ImportOwnOutput {
  /// Throws if the first line of an input is one that `logreplay` prints.
  static func check(_ beginning: [UInt8], of name: String) throws(CommandFailure) {
    let line = beginning.drop { $0 <= 0x20 }.prefix { $0 != 0x0A }
    guard line.count < 1 << 20, case .object(let object)? = try? DocumentValue(json: Array(line)) else {
      return
    }
    if case .string? = object["strata"] {
      throw CommandFailure(
        ExitStatus.usage, "these are events that logreplay export has written", at: name,
        next:
          "import them as events: logreplay import STORE \(name == "standard input" ? "-" : name) --events")
    }
    func has(_ keys: String...) -> Bool { keys.allSatisfy { object[$0] != nil } }
    if has("specversion", "id", "source", "type") {
      throw refusal(
        "CloudEvents", at: name,
        next: "import them as events: logreplay import STORE FILE --format cloudevents")
    }
    guard object["schema"] != nil else { return }
    let export = "logreplay export STORE FILE.jsonl --table NAME"
    if has("sequence", "append", "stream", "type", "payload") {
      throw refusal(
        "events as logreplay log prints them", at: name,
        next: "export them in the form that import reads: logreplay export STORE FILE.jsonl --events")
    }
    if has("section", "id", "revision", "fields") || has("table", "sequence", "sections") {
      throw refusal(
        "a list as logreplay at prints it", at: name,
        next: "export its rows without what is around them: \(export)")
    }
    if has("table", "from", "to", "changes") {
      throw refusal("changes as logreplay diff prints them", at: name, next: "export whole rows: \(export)")
    }
  }

  private static func refusal(_ what: String, at name: String, next: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.usage, "these are \(what), and no rows", at: name,
      next: "\(next) (--format jsonl imports each line as a document all the same)")
  }
}
