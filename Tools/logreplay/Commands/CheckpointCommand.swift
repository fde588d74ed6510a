// `checkpoint`: saves the tables, so that the next open need not fold the log.

internal import ArgumentParser
internal import LogreplayPoints
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

struct CheckpointCommand: BlockingCommand {
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
      """)

  @Flag(help: "Also keep every version of every document, up to the end of the log.")
  var history = false

  @OptionGroup var target: StoreArgument
  @OptionGroup var wait: LockWaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    let store = try OpenedStore.openForWriting(target.store, wait, history: history ? .all : .off)
    defer { try? store.closeBlocking() }
    let made: [StateCheckpoint]
    var histories: [HistoryCheckpoint] = []
    let (bars, historyBars) = (StateBars(), StateBars("history"))
    do throws(StoreError) {
      made = try store.checkpointBlocking(keeping: nil, progress: bars.update)
      bars.finish()
      if history {
        let times = TimeText(now: systemNanoseconds(), zone: output.zone)
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
      : "\(name): saved up to seq \(sequence), \(byteCount) bytes in \(pageCount) pages written"
  }
}

extension HistoryCheckpoint {
  fileprivate var json: [UInt8] {
    var line = JSONLine()
    line.field("projection", projection)
    line.field("sequence", sequence)
    line.field("runs", runCount)
    line.field("bytes", byteCount)
    line.array("lists", lists.map(\.json))
    return line.finish()
  }

  fileprivate var text: String {
    let size = "\(byteCount) bytes in \(PeopleText.count(runCount, "run"))"
    let lines = ["\(PeopleText.printable(projection)): history up to seq \(sequence), \(size)"]
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
