// The options of the commands that write from a shell.

package import ArgumentParser
internal import LogreplayPoints
package import LogreplayShell
package import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// The options of every command that appends events that a shell gives.
package struct WriteOptions: ParsableArguments, Sendable {
  @Option(
    name: .customLong("meta"),
    help: """
      Metadata of the events, KEY=VALUE. VALUE is JSON, or a text in single quotes: --meta "by='ann'", --meta \
      attempt=2. Repeatable.
      """)
  var metadata: [String] = []

  @Option(
    help: """
      The id of the append, 1 to 64 bytes. An append with an id that the store has, and the same events, appends \
      nothing and says so; so a command that may have failed can be run again. With other events it is an error.
      """)
  var id: String?

  @Option(
    help: """
      The time to record instead of the current one, as points by time are written. Where it is earlier than that of \
      the append before, both are recorded, and points by time go by this one.
      """)
  var time: String?

  @Flag(
    help: """
      Create the store if it does not exist. Without it a path that is no store is an error: a mistyped path is no \
      reason for a new store.
      """)
  var create = false

  @Flag(help: "Take a number with more digits than a double keeps as the nearest double.")
  package var roundNumbers = false

  @OptionGroup var wait: LockWaitOptions
  @OptionGroup package var output: OutputOptions

  package init() {}

  /// The metadata of each event.
  package func metadataObject() throws(CommandFailure) -> DocumentObject {
    var object = DocumentObject()
    for text in metadata {
      guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
        throw WriteRefusal(
          "\(ShellWrite.quoted(text)) is not KEY=VALUE", next: "write --meta \"by='ann'\" or --meta attempt=2"
        ).failure(of: "--meta")
      }
      let (key, json) = (String(text[..<sign]), String(text[text.index(after: sign)...]))
      guard object.updateValue(try metadataValue(json, key), forKey: key) == nil else {
        throw WriteRefusal("the key \(ShellWrite.quoted(key)) is given twice", next: "give it once")
          .failure(of: "--meta")
      }
    }
    return object
  }

  /// A value of metadata: JSON, or a text in single quotes, in which nothing is escaped.
  private func metadataValue(_ text: String, _ key: String) throws(CommandFailure) -> DocumentValue {
    if text.utf8.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") {
      return .string(String(text.dropFirst().dropLast()))
    }
    do throws(WriteRefusal) { return try ShellJSON.parse(text, rounds: roundNumbers) } catch {
      var failure = error.failure(of: "--meta \(key)")
      if !error.next.contains("--round-numbers") {
        failure.next = "a text is given in quotes: --meta '\(key)=\(DocumentValue.string(text).json())'"
      }
      throw failure
    }
  }

  /// The bytes of the append's id; empty for none.
  ///
  /// - Parameter lengthMax: how many bytes it may have.
  package func idBytes(_ lengthMax: Int = FormatLimits.appendIDLengthMax) throws(CommandFailure) -> [UInt8] {
    guard let id else { return [] }
    guard (1...lengthMax).contains(id.utf8.count) else {
      throw WriteRefusal(
        "an append id has 1 to \(lengthMax) bytes here, and this one has \(id.utf8.count)",
        next: "give a shorter one, or leave it out"
      ).failure(of: "--id")
    }
    return Array(id.utf8)
  }

  /// The time to record; nil for that of the clock.
  package func givenTime() throws(CommandFailure) -> Int64? {
    guard let time else { return nil }
    guard let nanoseconds = TimeText(zone: output.zone).nanoseconds(time) else {
      throw CommandFailure(
        ExitStatus.usage, "'\(time)' is not a time", at: "--time",
        next: "write a date, a date and time, or for example 2h ago; see POINTS in logreplay help at")
    }
    // A time outside of what the log records is clamped to its ends.
    guard nanoseconds > .min, nanoseconds < .max else {
      throw CommandFailure(
        ExitStatus.usage, "'\(time)' is outside of 1677-09-21 to 2262-04-11", at: "--time",
        next: "give a time that the log can record")
    }
    return nanoseconds
  }

  /// Checks everything that can be checked before the store is opened.
  package func check() throws(CommandFailure) {
    try output.refuse(.csv)
    _ = try wait.timeout()
  }
}

/// The version that a stream must have.
struct ExpectingOption: ParsableArguments, Sendable {
  @Option(
    help: """
      The version that the stream must have before: the number of its events, none, exists (one or more), or any. If it \
      has another one, nothing is appended, and the exit code is 67. Default: any.
      """)
  var expecting: String?

  func version() throws(CommandFailure) -> ExpectedVersion {
    guard let expecting else { return .any }
    guard let version = ExpectedVersion(shell: expecting) else {
      throw CommandFailure(
        ExitStatus.usage, "'\(expecting)' is not a version", at: "--expecting",
        next: "give a number of events, none, exists or any")
    }
    return version
  }
}

extension ExpectedVersion {
  /// Reads a version as a shell gives it; nil if it is none.
  init?(shell text: String) {
    switch text {
    case "any": self = .any
    case "none": self = .noStream
    case "exists": self = .exists
    default:
      guard !text.isEmpty, text.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 }), let count = UInt64(text)
      else {
        return nil
      }
      self = count == 0 ? .noStream : .exactly(count)
    }
  }

  /// The version as a shell gives it.
  var shellText: String {
    switch self {
    case .any: "any"
    case .noStream: "none"
    case .exists: "exists"
    case .exactly(let count): String(count)
    }
  }
}
