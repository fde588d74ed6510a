// `checkpoint`: saves the tables, so that the next open need not fold the log.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

package struct CheckpointCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "checkpoint",
    abstract: "Saves the tables of the documents, so that the next command need not fold the log.",
    discussion: """
      What is saved is under derived/ and can be deleted at any time. An application saves its tables itself, when it \
      closes the store. The command takes the writer's lock.

      With --history every version of every document is kept too, in derived/history, from the first event on; each \
      further call continues it. From then on at, diff and log --row read the past there, and replay only the events \
      after it. A list that `keep` keeps is in the history too, so that --view shows it at any point without sorting \
      its rows. An application that opens the store with StoreOptions.history continues the history by itself.

      With --last-days or --last-bytes only the last part of the history is kept, and what is older is removed; at, diff \
      and log --row then replay it. Without them nothing is removed, and what an earlier call removed stays away. \
      Delete derived/history to have all of it made again.
      """)

  @Flag(help: "Also keep every version of every document, up to the end of the log.")
  var history = false

  @Option(
    help: "With --history: keep the versions of the last days, by the times in the log.",
    transform: CheckpointCommand.positive)
  var lastDays: Int?

  @Option(
    help: "With --history: keep the versions that the last BYTES or so of it hold.",
    transform: CheckpointCommand.positive)
  var lastBytes: Int?

  @OptionGroup var target: StoreArgument
  @OptionGroup var wait: LockWaitOptions
  @OptionGroup var output: OutputOptions

  static func positive(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else { throw ValidationError("it is a whole number, 1 or more") }
    return number
  }

  func validate() throws {
    guard history || (lastDays == nil && lastBytes == nil) else {
      throw ValidationError("--last-days and --last-bytes need --history")
    }
  }

  /// What is kept of the history.
  private var kept: StoreHistory {
    guard history else { return .off }
    switch (lastDays, lastBytes) {
    case (let days?, let bytes?): return .last(days: days, bytes: bytes)
    case (let days?, nil): return .last(days: days)
    case (nil, let bytes?): return .last(bytes: bytes)
    case (nil, nil): return .continued
    }
  }

  func perform() throws {
    try output.refuse(.csv)
    var options = StoreOptions()
    options.history = kept
    let store = try OpenedStore.openForWriting(target.store, wait, options)
    defer { try? store.closeBlocking() }
    let made: [StateCheckpoint]
    var histories: [HistoryCheckpoint] = []
    let (bars, historyBars) = (StateBars(), StateBars("history"))
    do throws(StoreError) {
      made = try store.checkpointBlocking(keeping: nil, progress: bars.update)
      bars.finish()
      if history {
        let times = TimeText(zone: output.zone)
        let lists = KeptList.definitions(in: store.projector(.documents(only: nil)).published, times)
        histories = try store.recordHistoriesBlocking(keeping: lists, progress: historyBars.update)
      }
      historyBars.finish()
    } catch {
      throw CommandFailure(reading: target.store, error)
    }
    var writer = OutputWriter()
    if output.format.isJSON {
      var line = JSONLine.document()
      line.array("checkpoints", made.map(\.json))
      if history { line.array("histories", histories.map(\.json)) }
      writer.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else {
      for checkpoint in made { writer.bytes += "\(checkpoint.text)\n".utf8 }
      for history in histories { writer.bytes += "\(history.text)\n".utf8 }
    }
    try writer.flush()
    try store.closeBlocking()
  }
}

extension StateCheckpoint {
  var json: [UInt8] {
    var line = JSONLine()
    line.field("projection", projection)
    line.field("sequence", sequence)
    line.field("bytes", byteCount)
    line.field("pages", pageCount)
    return line.finish()
  }

  var text: String {
    let name = PeopleText.printable(projection)
    return byteCount == 0
      ? "\(name): everything up to seq \(sequence) was saved before"
      : "\(name): saved up to seq \(sequence), \(counted(byteCount, "byte")) in \(counted(pageCount, "page")) written"
  }
}

extension HistoryCheckpoint {
  fileprivate var json: [UInt8] {
    var line = JSONLine()
    line.field("projection", projection)
    line.field("from", firstSequence)
    line.field("sequence", sequence)
    line.field("runs", runCount)
    line.field("bytes", byteCount)
    line.array("lists", lists.map(\.json))
    return line.finish()
  }

  fileprivate var text: String {
    let size = "\(counted(byteCount, "byte")) in \(PeopleText.count(runCount, "run"))"
    let begin = firstSequence.flatMap { $0 > 1 ? "from seq \($0) " : nil } ?? ""
    let lines = ["\(PeopleText.printable(projection)): history \(begin)up to seq \(sequence), \(size)"]
    return (lines + lists.map(\.text)).joined(separator: "\n")
  }
}

extension ListHistory {
  var json: [UInt8] {
    var line = JSONLine()
    line.field("table", table)
    line.field("name", name)
    line.field("from", firstSequence)
    return line.finish()
  }

  var text: String {
    let from = firstSequence.map { "in the history from seq \($0) on" } ?? "not in the history yet"
    return "list '\(PeopleText.printable(name))' of \(PeopleText.printable(table)): \(from)"
  }
}
