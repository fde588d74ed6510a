// Which events of a range are shown.

internal import ArgumentParser
package import LogreplayShell
internal import StrataBase
package import StrataEvents

/// The options that choose events. An event passes if it matches one of the streams, one of the types, all of the
/// metadata values and the regular expression, as far as each is given.
package struct EventFilterOptions: ParsableArguments, Sendable {
  @Option(
    name: [.customShort("g"), .long], parsing: .unconditional,
    help:
      """
      Show only events whose JSON text matches this regular expression, anywhere in the text. It has the grammar of \
      `matches` in filters: no look-around and no back references.
      """
  )
  var grep: String?

  @Option(
    help:
      "Show only events of streams that match this pattern: * any run of characters, ? one, [a-z] a set. Repeatable."
  )
  var stream: [String] = []

  @Option(help: "Show only events of types that match this pattern, as for --stream. Repeatable.")
  var type: [String] = []

  @Option(
    help: "Show only events whose metadata has this value for this key, given as KEY=VALUE. Repeatable.")
  var meta: [String] = []
}

extension EventFilterOptions {
  /// Whether every event passes.
  package var isEmpty: Bool { grep == nil && stream.isEmpty && type.isEmpty && meta.isEmpty }
}

/// The chosen options, compiled.
package struct EventFilter {
  private(set) var streams: [Glob] = []
  private(set) var types: [Glob] = []
  private var metadata: [(key: String, value: String)] = []
  private var pattern: TextPattern?
  /// A condition beyond the options; nil for none.
  package var condition: (@Sendable (RecordedEvent) -> Bool)?

  /// Whether every event passes.
  var isEmpty: Bool {
    streams.isEmpty && types.isEmpty && metadata.isEmpty && pattern == nil && condition == nil
  }

  package init(_ options: EventFilterOptions) throws(CommandFailure) {
    streams = try Self.globs(options.stream, "--stream")
    types = try Self.globs(options.type, "--type")
    for pair in options.meta {
      guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
        throw CommandFailure(
          ExitStatus.usage, "'\(pair)' is not KEY=VALUE", at: "--meta", next: "write a key, =, and its value")
      }
      metadata.append((String(pair[..<equals]), String(pair[pair.index(after: equals)...])))
    }
    guard let grep = options.grep else { return }
    do throws(PatternError) { pattern = try TextPattern(grep) } catch {
      let place = error.scalars.isEmpty ? "" : " at character \(error.scalars.lowerBound + 1)"
      throw CommandFailure(
        ExitStatus.usage, "the pattern is not taken\(place): \(error.message)", at: "--grep \(grep)",
        next: error.next)
    }
  }

  /// Compiles the patterns of an option.
  static func globs(_ patterns: [String], _ option: String) throws(CommandFailure) -> [Glob] {
    var globs: [Glob] = []
    for pattern in patterns {
      guard let glob = Glob(pattern) else {
        throw CommandFailure(
          ExitStatus.usage, "'\(pattern)' is not a pattern", at: option,
          next: "close the bracket, or escape it with a backslash")
      }
      globs.append(glob)
    }
    return globs
  }

  /// Whether an event of an append passes.
  package func passes(_ event: RecordedEvent, of append: RecordedAppend) -> Bool {
    passes(event) { body in
      var bytes: [UInt8] = []
      var json = EventJSON()
      json.append(event, of: append, to: &bytes)
      return bytes.withUnsafeBytes(body)
    }
  }

  /// Whether an event passes. `line` lends the event's JSON text, and is called only if the text is needed.
  func passes(_ event: RecordedEvent, line: ((UnsafeRawBufferPointer) -> Bool) -> Bool) -> Bool {
    if !streams.isEmpty, !streams.contains(where: { $0.matches(event.stream.text) }) { return false }
    if !types.isEmpty, !types.contains(where: { $0.matches(event.type) }) { return false }
    if !metadata.isEmpty, !hasMetadata(event) { return false }
    if let condition, !condition(event) { return false }
    guard let pattern else { return true }
    return line { pattern.occurs(in: $0) }
  }

  /// A string is compared as it is, anything else by its JSON text.
  private func hasMetadata(_ event: RecordedEvent) -> Bool {
    guard let object = try? event.metadata() else { return false }
    return metadata.allSatisfy { key, wanted in
      switch object[key] {
      case nil: false
      case .string(let text): text.utf8.elementsEqual(wanted.utf8)
      case let value?: value.json() == wanted
      }
    }
  }
}
