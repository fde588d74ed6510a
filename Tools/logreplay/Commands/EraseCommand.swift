// `erase`: takes the content out of events, for good.

internal import ArgumentParser
internal import StrataEvents
internal import StrataLog

struct EraseCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Takes the content of events out of the store for good.",
    discussion: """
      Payload and metadata go, of all events of a stream up to now or of single ones; stream, type, time, revision \
      and append id stay, with the content's length and a hash of it. The order and its reason stay in the log. \
      Segments that hold such events are rewritten and quarantine/ is emptied; what crashes in between is finished by \
      the next command that writes. A segment that is damaged, or that the disk has no room for, keeps no other one \
      from being rewritten; the same command again goes on with what is left. Backups and other copies are not \
      reached. It cannot be taken back, so it asks for --yes; without it, it only says how many events it would erase \
      (exit 1).
      """)

  @OptionGroup var target: StoreArgument

  @Option(help: "A stream, as TABLE/ID. May be given again.")
  var stream: [String] = []

  @Option(help: "A sequence, or a range of them as A-B, both included. May be given again.")
  var sequence: [String] = []

  @Option(help: "Why. It stays in the log, so it names nobody.")
  var reason: String

  @Flag(help: "Do it.")
  var yes = false

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    let erasure = Erasure(
      streams: try stream.map(Self.name), sequences: try sequence.map(Self.range), because: reason)
    guard !stream.isEmpty || !sequence.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "nothing to erase is named", next: "name it with --stream or --sequence")
    }
    guard yes else { return try rehearse(erasure) }
    let store = try OpenedStore.openForWriting(target.store)
    defer { try? store.closeBlocking() }
    let opened = OpenedStore(path: target.store, store: store)
    try check(erasure, in: opened)
    let receipt: ErasureReceipt
    do throws(StoreError) { receipt = try store.eraseBlocking(erasure) } catch { throw opened.failure(error) }
    var writer = OutputWriter()
    if output.format.isJSON {
      var line = JSONLine.document()
      line.field("sequence", receipt.sequence)
      line.field("erased", receipt.eventCount)
      writer.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += "\(receipt.eventCount) events erased, by the order at seq \(receipt.sequence)\n".utf8
    }
    try writer.flush()
    try store.closeBlocking()
  }

  /// Counts what would be erased, and changes nothing.
  private func rehearse(_ erasure: Erasure) throws {
    let opened = try OpenedStore.open(target.store)
    try check(erasure, in: opened)
    let count: UInt64
    do throws(StoreError) { count = try opened.store.erasableCountBlocking(erasure) } catch {
      throw opened.failure(error)
    }
    throw CommandFailure(
      ExitStatus.negative, "\(count) events would lose their content, for good", at: target.store,
      next: "say it again with --yes")
  }

  /// Throws where the store does not have what is to be erased.
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
        ExitStatus.usage, "what was erased, and why, is not erased", at: "--stream \(text)",
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
      ExitStatus.usage, "'\(text)' is neither a sequence nor a range of them", at: "--sequence",
      next: "give a number from 1, or two with - between them, as 100-120")
  }
}
