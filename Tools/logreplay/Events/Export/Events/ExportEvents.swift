// Exports the events of a range as lines of JSON.

internal import ArgumentParser
package import LogreplayShell
internal import StrataBase
package import StrataEvents
internal import StrataLog

/// The options that choose the events of an export.
package struct ExportEventOptions: ParsableArguments, Sendable {
  @Option(
    help: """
      --events: only events of streams that match this pattern: * any run of characters, ? one, [a-z] a set. \
      Repeatable.
      """)
  var stream: [String] = []

  @Option(
    help: "--events: only events of streams in this category, the part before the first slash. Repeatable.")
  var category: [String] = []

  @Option(help: "--events: only events of types that match this pattern, as for --stream. Repeatable.")
  var type: [String] = []

  package var isEmpty: Bool { stream.isEmpty && category.isEmpty && type.isEmpty }

  /// The choice; nil for all events.
  package func selection() throws(CommandFailure) -> ExportSelection? {
    guard !isEmpty else { return nil }
    let (streams, types) = (try EventFilter.globs(stream, "--stream"), try EventFilter.globs(type, "--type"))
    let categories = Set(category)
    let parts = [("stream", stream), ("category", category), ("type", type)].filter { !$0.1.isEmpty }
    return ExportSelection(parts.map { (name: $0.0, values: $0.1) }) { event, _, _ in
      let name = StreamName(String(decoding: event.stream, as: UTF8.self))
      guard categories.isEmpty || categories.contains(name.category) else { return false }
      guard streams.isEmpty || streams.contains(where: { $0.matches(name.text) }) else { return false }
      if types.isEmpty { return true }
      let type = String(decoding: event.type, as: UTF8.self)
      return types.contains { $0.matches(type) }
    }
  }
}

/// Writes the events of a store.
package struct ExportEvents {
  let request: ExportRequest
  let selection: ExportSelection?

  package init(request: ExportRequest, selection: ExportSelection?) {
    self.request = request
    self.selection = selection
  }

  package func run() throws {
    guard request.format ?? .jsonl == .jsonl else {
      throw CommandFailure(
        ExitStatus.usage, "events are exported as lines of JSON", at: request.target,
        next: "give a name that ends in .jsonl, or --format jsonl")
    }
    let target = try ExportTarget(request.target, replaces: request.replaces)
    let first = request.from?.sequence ?? request.opened.log.mark.logBegin - 1
    let reader = EventExportReader(
      request.opened.store, selection, from: .sequence(first), to: .sequence(request.to.sequence))
    var progress = TransferProgress(unit: "events")
    defer { progress.end() }
    let count = Double(max(1, request.to.sequence - min(first, request.to.sequence)))
    do {
      while try reader.lendNext({ try target.write($0) }) {
        progress.update(reader.eventCount) { Double(reader.position - first) / count }
      }
    } catch StoreError.invalid(let what, let next) {
      throw CommandFailure(ExitStatus.usage, what, next: next)
    } catch let error as StoreError {
      throw request.opened.failure(error)
    }
    try request.opened.throwDamage(if: request.resolver.dependsOnEnd || request.hasOpenEnd)
    try target.finish()
    progress.end()
    try report(reader, target)
  }

  /// On standard error if the lines are on standard output.
  private func report(_ reader: EventExportReader, _ target: ExportTarget) throws {
    let text: String
    if request.output.format.isJSON {
      var line = JSONLine.document()
      line.field("events", reader.eventCount)
      line.field("appends", reader.appendCount)
      line.field("last", reader.through)
      line.field("bytes", target.byteCount)
      text = String(decoding: line.finish(), as: UTF8.self)
    } else {
      text =
        "\(counted(reader.eventCount, "event")) of \(counted(reader.appendCount, "append")) exported to "
        + PeopleText.printable(target.name)
    }
    guard !target.isStandardOutput else {
      if request.output.requestedFormat != nil { Terminal.note(text) }
      return
    }
    var writer = OutputWriter()
    try writer.line(text)
    try writer.flush()
  }
}
