// `erase`: permanently removes the content of events.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

package struct EraseCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Permanently removes the content of events from the store.",
    discussion: """
      Removes payload and metadata, either of all events that a stream has now or of single events. Stream, type, \
      time, revision and append id stay, and so do the length and a hash of the removed content. The erasure and its \
      reason are recorded in the log.

      Segments that hold such events are rewritten, quarantine/ is emptied, and all saved tables and all histories of \
      every projection are removed: they are made again from the log when they are needed. If the command is \
      interrupted, the next command that writes to the store finishes the work. If a segment is damaged, or the disk \
      has no room to rewrite it, the other segments are still rewritten; run the same command again to continue. \
      Backups and other copies are not changed.

      If nothing is left to erase of what is named, nothing is appended, and the command says so. \
      An erasure cannot be undone, so --yes is required. Without it, the command only prints how many events it \
      would erase, and exits with code 1; or with 0 if there is nothing to erase.
      """)

  @OptionGroup var target: StoreArgument

  @Option(help: "Erase the events of this stream, given as TABLE/ID. Repeatable.")
  var stream: [String] = []

  @Option(help: "Erase the event with this sequence, or those of the range A-B, both included. Repeatable.")
  var sequence: [String] = []

  @Option(help: "The reason. It stays in the log, so do not put personal data in it.")
  var reason: String

  @Flag(help: "Carry out the erasure.")
  var yes = false

  @OptionGroup var wait: LockWaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    _ = try wait.timeout()
    let erasure = Erasure(
      streams: try stream.map(Self.name), sequences: try sequence.map(Self.range), because: reason)
    guard !stream.isEmpty || !sequence.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "nothing to erase is given", next: "give --stream or --sequence")
    }
    guard yes else { return try rehearse(erasure) }
    let store = try OpenedStore.openForWriting(target.store, wait)
    defer { try? store.closeBlocking() }
    let opened = OpenedStore(path: target.store, store: store)
    try check(erasure, in: opened)
    let receipt: ErasureReceipt?
    do throws(StoreError) {
      // An order that is not finished is continued, even if only files beside the log are left of it.
      let isNeeded = try opened.log.isErasing || store.hasErasableBlocking(erasure)
      receipt = isNeeded ? try store.eraseBlocking(erasure) : nil
    } catch { throw opened.failure(error) }
    try report(receipt)
    try store.closeBlocking()
  }

  /// - Parameter receipt: nil if no order was needed.
  private func report(_ receipt: ErasureReceipt?) throws {
    var writer = OutputWriter()
    if output.format.isJSON {
      var line = JSONLine.document()
      line.field("sequence", receipt?.sequence)
      line.field("erased", receipt?.eventCount ?? 0)
      writer.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else if let receipt {
      writer.bytes +=
        "\(counted(receipt.eventCount, "event")) erased, by the order at seq \(receipt.sequence)\n".utf8
    } else {
      writer.bytes += "0 events erased, and no order appended: nothing is left of them to erase\n".utf8
    }
    try writer.flush()
  }

  /// Counts the events that would be erased, and changes nothing.
  private func rehearse(_ erasure: Erasure) throws {
    let opened = try OpenedStore.open(target.store)
    try check(erasure, in: opened)
    let log = opened.log
    let count: UInt64
    let isErasing: Bool
    do throws(StoreError) {
      count = try opened.store.erasableCountBlocking(erasure)
      let head = try HeadFile.read(log.source.catalog.fileSystem, path: log.layout.head)
      isErasing = head?.isErasing ?? false
    } catch { throw opened.failure(error) }
    guard count > 0 || isErasing else { return try report(nil) }
    throw CommandFailure(
      ExitStatus.negative, "\(counted(count, "event")) would permanently lose their content",
      at: target.store,
      next: "run it again with --yes")
  }

  /// Throws if the store does not have the streams or events to erase.
  private func check(_ erasure: Erasure, in opened: OpenedStore) throws(CommandFailure) {
    let resolver = PointResolver(store: opened)
    let log = opened.log
    for stream in erasure.streams {
      do throws(StoreError) {
        guard try log.index.revision(of: Array(stream.text.utf8)) == 0 else { continue }
      } catch { throw opened.failure(error) }
      throw resolver.missing("there is no stream \(stream)")
    }
    for range in erasure.sequences
    where range.lowerBound < log.mark.logBegin || range.upperBound > log.mark.sequence {
      throw resolver.missing(
        range.lowerBound == range.upperBound
          ? "seq \(range.lowerBound) is not in the log"
          : "seq \(range.lowerBound)…\(range.upperBound) are not all in the log")
    }
  }

  private static func name(_ text: String) throws(CommandFailure) -> StreamName {
    let name = StreamName(text)
    do throws(StoreError) { try name.check() } catch {
      throw CommandFailure(
        ExitStatus.usage, error.what, at: "--stream", next: "give a stream as TABLE/ID, as `log` shows it")
    }
    guard name != ErasureEvent.stream else {
      throw CommandFailure(
        ExitStatus.usage, "the record of erasures cannot be erased", at: "--stream \(text)",
        next: "name another stream")
    }
    return name
  }

  private static func range(_ text: String) throws(CommandFailure) -> ClosedRange<UInt64> {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let bounds = parts.map { UInt64($0) }
    if parts.count == 1, let only = bounds[0], only > 0 { return only...only }
    if parts.count == 2, let low = bounds[0], let high = bounds[1], low > 0, low <= high { return low...high }
    throw CommandFailure(
      ExitStatus.usage, "'\(text)' is neither a sequence nor a range of sequences", at: "--sequence",
      next: "give a number from 1, or two with - between them, as 100-120")
  }
}
