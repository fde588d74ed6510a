// Exports the events of a range as CloudEvents.

package import LogreplayShell
internal import StrataBase
package import StrataEvents
internal import StrataLog

/// Writes the events of a store as lines of CloudEvents 1.0.
package struct ExportCloudEvents {
  let request: ExportRequest
  let selection: ExportSelection?
  /// The source of every event.
  let source: String

  package init(_ request: ExportRequest, _ selection: ExportSelection?, source: String?)
    throws(CommandFailure)
  {
    guard let source else {
      throw CommandFailure(
        ExitStatus.usage, "CloudEvents need a source", at: "--format cloudevents",
        next: "give a URI that is that of this store alone: --source https://example.com/orders")
    }
    guard CloudEvent.isURI(source) else {
      throw CommandFailure(
        ExitStatus.usage, "\(String(reflecting: source)) is not a URI reference", at: "--source",
        next: "write it as RFC 3986 has it: without spaces, with %20 and the like for other characters")
    }
    self.request = request
    self.selection = selection
    self.source = source
  }

  package func run() throws {
    let target = try ExportTarget(request.target, replaces: request.replaces)
    let first = request.from?.sequence ?? request.opened.log.mark.logBegin - 1
    let last = request.to.sequence
    var writer = CloudEventWriter(source: source, selection)
    var progress = TransferProgress(unit: "events")
    defer { progress.end() }
    var cursor = request.opened.log.cursor(after: first)
    var position = first
    while position < last, let block = try next(&cursor) {
      position = min(block.header.nextSequence &- 1, last)
      do { try writer.write(block, after: first, through: last) } catch let error as ContentProblem {
        throw request.opened.failure(error.storeError(of: block.header))
      } catch let problem as CloudEventWriter.Problem {
        throw CommandFailure(
          ExitStatus.corrupt, "event \(problem.sequence) cannot be a CloudEvent: \(problem.what)",
          at: request.opened.path, next: "leave it out with --stream or --type, or export without --format")
      }
      try target.write(writer.text.bytes)
      writer.text.removeAll()
      progress.update(writer.eventCount) { Double(position - first) / Double(max(1, last - first)) }
    }
    try request.opened.throwDamage(if: request.resolver.dependsOnEnd || request.hasOpenEnd)
    try target.finish()
    progress.end()
    try report(writer, target)
  }

  private func next(_ cursor: inout LogCursor) throws(CommandFailure) -> DecodedBlock? {
    do throws(StoreError) { return try cursor.next() } catch { throw request.opened.failure(error) }
  }

  /// On standard error if the lines are on standard output.
  private func report(_ writer: borrowing CloudEventWriter, _ target: ExportTarget) throws {
    let text: String
    if request.output.format.isJSON {
      var line = JSONLine.document()
      line.field("events", writer.eventCount)
      line.field("erased", writer.erasedCount)
      line.field("opaque", writer.opaqueCount)
      line.field("bytes", target.byteCount)
      text = String(decoding: line.finish(), as: UTF8.self)
    } else {
      var parts = "\(counted(writer.eventCount, "event")) exported to \(PeopleText.printable(target.name))"
      if writer.erasedCount > 0 { parts += ", \(counted(writer.erasedCount, "erased event")) left out" }
      if writer.opaqueCount > 0 {
        parts += ", \(counted(writer.opaqueCount, "event")) of newer kinds left out"
      }
      text = parts
    }
    // What was left out is said in any case.
    guard !target.isStandardOutput else {
      let isPart = writer.erasedCount + writer.opaqueCount > 0
      if request.output.requestedFormat != nil || isPart { Terminal.note(text) }
      return
    }
    var output = OutputWriter()
    try output.line(text)
    try output.flush()
  }
}
