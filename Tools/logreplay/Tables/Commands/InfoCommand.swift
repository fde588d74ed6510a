// `info`: summarises a store on one page.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

package struct InfoCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Summarises a store: identity, range of events, sizes, durability, tables, consumers.",
    discussion:
      """
      The items of the tables are counted from the saved tables and the events after them. Without saved tables the \
      whole log is folded, at some hundred thousand events a second: `logreplay checkpoint` saves them.

      With --describe, the fields of one table are listed instead, as they are now: how many rows have each, of which \
      types, and the most common values with their exact counts. Where a field has more than a thousand different \
      values, one in fewer than a thousandth of the rows may be missing, and values of more than 256 bytes are. At most \
      a thousand fields are told apart. With --types, the types of all events are listed: how many events there are of \
      each, and the first and the last of them.
      """)

  @OptionGroup var target: StoreArgument

  @Flag(help: "Also list the tables whose names begin with $.")
  var all = false

  @Flag(help: "List the fields of a table, with their types and their most common values.")
  var describe = false

  @Option(
    help: "The table for --describe. Optional if the store has only one whose name does not begin with $.")
  var table: String?

  @Flag(help: "List the types of events, with --all also those in streams whose names begin with $.")
  var types = false

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    try check()
    let opened = try OpenedStore.open(target.store)
    if describe || types { return try list(opened) }
    var info = try StoreInfo(opened)
    let damage = info.countTables(opened, all: all) ?? info.findConsumers(opened)
    var writer = OutputWriter()
    if output.format.isJSON {
      writer.bytes += info.json + [UInt8(ascii: "\n")]
    } else {
      let people = PeopleText(zone: output.zone, isColored: output.isColored)
      writer.bytes += info.text(path: target.store, people: people).utf8
    }
    try writer.flush()
    if let damage { throw damage }
    try opened.reportEnd()
  }

  private func check() throws(CommandFailure) {
    guard !describe || !types else {
      throw CommandFailure(
        ExitStatus.usage, "--describe lists fields and --types lists events", at: "--describe --types",
        next: "leave one of them out")
    }
    guard table == nil || describe else {
      throw CommandFailure(
        ExitStatus.usage, "--table is the table that --describe lists the fields of",
        at: "--table \(table ?? "")",
        next: "add --describe, or leave it out")
    }
  }

  /// Prints what `--describe` or `--types` asks for.
  private func list(_ opened: OpenedStore) throws {
    var writer = OutputWriter()
    if types {
      let types = try EventTypes(opened, all: all)
      if output.format.isJSON {
        writer.bytes += types.json + [UInt8(ascii: "\n")]
      } else {
        try types.write(output.people.text, to: &writer)
      }
    } else {
      let tables = StoreTables(opened: opened)
      if let table { try tables.check(table) }
      let description = try TableDescription(opened, try table ?? tables.only())
      if output.format.isJSON {
        writer.bytes += description.json + [UInt8(ascii: "\n")]
      } else {
        try description.write(output.people.text, to: &writer)
      }
    }
    try writer.flush()
    try opened.reportEnd()
  }
}

/// The facts that `info` prints.
struct StoreInfo {
  var uuid: String
  var format: String
  var first: UInt64
  var last: UInt64
  /// The own times of the first and of the last append.
  var firstTime: Timestamp?
  var lastTime: Timestamp?
  /// The appends that are dated later than the last one.
  var later: LaterAppends?
  var chain: UInt64
  var durability: Durability?
  var appends: UInt64
  var segments = 0
  /// Segments that were rewritten to take fewer bytes.
  var sealed = 0
  /// Bytes of the log on disk, up to the end.
  var bytes: UInt64 = 0
  /// Bytes of everything in `derived/`, which can be rebuilt from the log.
  var derivedBytes: UInt64 = 0
  /// Bytes of the events' blocks before compression.
  var rawBytes: UInt64 = 0
  var isClean: Bool
  /// Whether an erasure may have been requested and not finished.
  var isErasing: Bool
  /// Whether a backup into the folder has begun to add events and did not finish.
  var isExtending: Bool
  /// The unfinished write after the end; nil if there is none.
  var recovery: TailRecovery?
  /// Those that earlier opens cut off, in `quarantine/`.
  var keptTails: [TailRecovery] = []
  /// Nil if the store has no copies that follow it.
  var part: StorePart?
  /// The saved states, of whatever program.
  var states: [SavedState] = []
  /// The histories of rows, of whatever program.
  var histories: [SavedHistory] = []
  /// The kept lists that fields alone define, if there is a history of the documents.
  var lists: [ListHistory] = []
  /// The kept lists whose filters are not taken.
  var refusedLists: [RefusedList] = []
  /// Nil if the log cannot be read to its end.
  var tables: TableCounts?
  /// The bytes that the tables took in memory when their items had been counted.
  var memoryBytes = 0
  /// Nil if the log cannot be read to its end, or the state of a consumer cannot be read.
  var consumers: [ConsumerStatus]?

  /// Reads the headers of all segments and blocks.
  init(_ opened: OpenedStore) throws {
    let log = opened.log
    let mark = log.mark
    do throws(StoreError) {
      let head = try HeadFile.read(log.source.catalog.fileSystem, path: log.layout.head)
      uuid = log.storeID.description
      format = "\(FormatLimits.major).\(FormatLimits.minor)"
      first = mark.logBegin
      last = mark.sequence
      chain = mark.visible.chain
      durability = head.flatMap { Durability(rawValue: $0.durability) }
      appends = mark.appends
      recovery = log.observation.recovery
      keptTails = try log.keptTails()
      part = StorePart(of: log)
      isErasing = head?.isErasing ?? false
      isExtending = head?.isExtending ?? false
      isClean = (head?.isClean ?? false) && log.tornBytes == 0 && log.damage == nil
      for segment in log.source.catalog.names where segment <= mark.segment {
        let handle = try log.source.catalog.segment(segment)
        let size = try UInt64(handle.file.size())
        // The header of a rewritten segment may claim any end.
        let end = min(try log.source.end(of: handle, in: mark), size)
        segments += 1
        if handle.header.isRewritten { sealed += 1 }
        bytes = bytes.addingSaturated(end)
        rawBytes += try Self.rawBytes(of: handle, end: end)
      }
      derivedBytes = try log.layout.derivedBytes(log.source.catalog.fileSystem)
      states = try SavedState.all(of: log)
      histories = try SavedHistory.all(of: log)
      let place = try log.append(holding: mark.logBegin)
      firstTime = place.map { Timestamp(nanoseconds: $0.ownTime) }
      let last = try log.append(holding: mark.sequence)
      lastTime = last.map { Timestamp(nanoseconds: $0.ownTime) }
      if let last, last.ownTime < last.time { later = Self.later(than: last, in: log) }
    } catch { throw opened.failure(error) }
  }

  /// The appends that are dated later than the last one, which a clock that was ahead leaves. Nil where an index would
  /// have to be built of what cannot be read.
  private static func later(than last: AppendPosition, in log: Log) -> LaterAppends? {
    var search = TimeSearch(log, notAfter: last.ownTime)
    return try? search.passed(before: last)
  }

  /// The raw bytes of a segment's event blocks, up to the first block whose header does not verify; `verify` reports
  /// such a block in full.
  private static func rawBytes(of handle: SegmentHandle, end: UInt64) throws(StoreError) -> UInt64 {
    var source = BlockSource(file: handle.file, segment: handle.header, step: 1 << 14)
    var offset = UInt64(SegmentHeader.length)
    var sum: UInt64 = 0
    while offset < end {
      let header = try source.header(at: offset, limit: end)
      guard case .success(let block) = header else { return sum }
      if block.kind == BlockKind.events { sum += UInt64(block.rawLength) }
      offset = block.end
    }
    return sum
  }

  /// Counts the items of the tables at the head. Returns an error instead of throwing it, because the other facts can
  /// be printed for a damaged log too.
  mutating func countTables(_ opened: OpenedStore, all: Bool) -> CommandFailure? {
    let fold = Fold.resuming(opened.log, .documents(only: nil), through: last)
    do throws(StoreError) { try fold.run(through: last) } catch { return opened.failure(error) }
    tables = TableCounts(fold.state, all: all)
    memoryBytes = Tree.statistics(of: fold.state.trees).bytesAllocated
    let times = TimeText(now: systemNanoseconds(), zone: .utc)
    refusedLists = KeptList.refused(in: fold.state, times)
    if !histories.isEmpty {
      let definitions = KeptList.definitions(in: fold.state, times)
      lists = opened.store.listHistoriesBlocking(definitions)
    }
    return nil
  }

  /// Finds out how far the consumers are. Returns an error instead of throwing it, as `countTables` does.
  mutating func findConsumers(_ opened: OpenedStore) -> CommandFailure? {
    do throws(StoreError) { consumers = try opened.store.consumersBlocking() } catch {
      return opened.failure(error)
    }
    return nil
  }

  var json: [UInt8] {
    var line = JSONLine.document()
    line.field("uuid", uuid)
    line.field("format", format)
    line.field("first", first)
    line.field("last", last)
    line.field("firstTime", firstTime?.description)
    line.field("lastTime", lastTime?.description)
    if let later {
      line.field("datedLater", later.count)
      line.field("firstDatedLater", later.first.last)
    }
    line.field("chain", LogPosition.hex(chain))
    line.field("durability", durability?.name)
    line.field("appends", appends)
    line.field("segments", segments)
    line.field("sealed", sealed)
    line.field("bytes", bytes)
    line.field("rawBytes", rawBytes)
    line.field("derivedBytes", derivedBytes)
    line.array("checkpoints", states.map(\.json))
    line.array("histories", histories.map { $0.json(head: last) })
    line.array("historyLists", lists.map(\.json))
    if !refusedLists.isEmpty { line.array("refusedLists", refusedLists.map(\.json)) }
    line.array("tables", tables?.json ?? [])
    line.field("memoryBytes", memoryBytes)
    line.array("consumers", consumers?.map(\.json) ?? [])
    line.field("clean", isClean)
    if let part { line.raw("replica", part.json) }
    if let recovery {
      line.field("tornBytes", recovery.byteCount)
      line.raw("tail", recovery.json)
    }
    if !keptTails.isEmpty { line.array("keptTails", keptTails.map(\.json)) }
    if isErasing { line.field("erasing", true) }
    if isExtending { line.field("extending", true) }
    return line.finish()
  }

  func text(path: String, people: PeopleText) -> String {
    let isEmpty = last < first
    var lines = [
      ("store", PeopleText.printable(path)), ("uuid", uuid), ("format", format),
      ("events", isEmpty ? "none" : "\(first)…\(last) in \(counted(appends, "append"))"),
    ]
    if let firstTime, let lastTime {
      lines.append(("from", people.time(firstTime)))
      lines.append(("to", people.time(lastTime)))
      if let later { lines.append(("clock", later.text(before: "the last"))) }
    }
    lines += [
      ("chain", "\(last)@\(LogPosition.hex(chain))"), ("durability", durability?.name ?? "unknown"),
      ("segments", "\(segments), \(sealed) sealed"),
      ("bytes", "\(bytes) (\(rawBytes) before compression)"),
      ("derived", "\(counted(derivedBytes, "byte")) of indexes and saved tables, built from the log"),
      ("tables", tables?.text ?? "unknown, because the log is damaged"),
      ("closed cleanly", isClean ? "yes" : "no"),
    ]
    if tables != nil {
      lines.append(("memory", "\(counted(memoryBytes, "byte")), for as much of the tables as was read"))
    }
    for state in states { lines.append(("saved", state.text)) }
    for history in histories { lines.append(("history", history.text(first: first, head: last))) }
    for list in self.lists { lines.append(("history", list.text)) }
    for list in refusedLists { lines.append(("list", list.text)) }
    for consumer in consumers ?? [] { lines.append(("consumer", consumer.text)) }
    if let part { lines.append(("copies", "the store \(part.text)")) }
    if let recovery {
      lines.append(
        ("torn tail", "\(counted(recovery.byteCount, "byte")) in \(recovery.file), at \(recovery.offset)"))
    }
    for tail in keptTails {
      lines.append(
        ("cut off", "\(counted(tail.byteCount, "byte")) of \(tail.file), kept in \(tail.keptPath ?? "")"))
    }
    if isErasing { lines.append(("erasing", "unfinished; the next open for writing continues it")) }
    if isExtending {
      lines.append(("backup", "unfinished; what it has added does not count, the next one adds it"))
    }
    return KeyedText.lines(lines)
  }
}

extension TailRecovery {
  fileprivate var json: [UInt8] {
    var line = JSONLine()
    line.field("file", file)
    line.field("offset", offset)
    line.field("bytes", byteCount)
    line.field("kept", keptPath)
    return line.finish()
  }
}

extension SavedState {
  fileprivate var json: [UInt8] {
    var line = JSONLine()
    line.field("name", folder)
    line.field("sequence", sequence)
    line.field("bytes", byteCount)
    return line.finish()
  }

  fileprivate var text: String {
    "\(PeopleText.printable(folder)): up to seq \(sequence), \(counted(byteCount, "byte"))"
  }
}

extension SavedHistory {
  /// The number of events that are in no run.
  private func lag(_ head: UInt64) -> UInt64 { head - min(head, sequence) }

  fileprivate func json(head: UInt64) -> [UInt8] {
    var line = JSONLine()
    line.field("name", folder)
    if let version { line.field("version", version) }
    line.field("from", firstSequence)
    line.field("sequence", sequence)
    line.field("lag", lag(head))
    line.field("runs", runCount)
    line.field("bytes", byteCount)
    return line.finish()
  }

  fileprivate func text(first: UInt64, head: UInt64) -> String {
    let lag = lag(head)
    let begin = firstSequence.flatMap { $0 > first ? "from seq \($0) " : nil } ?? ""
    let rest = lag == 0 ? "" : ", \(PeopleText.count(Int(clamping: lag), "event")) behind"
    return
      "\(PeopleText.printable(folder)): \(begin)up to seq \(sequence)\(rest), \(PeopleText.count(runCount, "run")), "
      + "\(counted(byteCount, "byte"))"
  }
}

extension ConsumerStatus {
  fileprivate var json: [UInt8] {
    var line = JSONLine()
    line.field("name", name)
    line.field("position", position?.description)
    line.field("savedAt", savedAt?.description)
    line.field("lag", lag)
    line.field("isLagExact", isLagExact)
    if let lastError {
      line.field("stoppedAt", lastError.sequence)
      line.field("error", lastError.what)
    }
    line.field("setAsideCount", setAsideCount)
    line.array("setAside", setAside.map(\.json))
    return line.finish()
  }

  fileprivate var text: String {
    let waiting =
      (isLagExact || lag == 0 ? "" : "at most ") + (lag == 1 ? "1 event waits" : "\(lag) events wait")
    var parts = ["\(PeopleText.printable(name)): \(waiting)"]
    if let lastError {
      parts.append("stopped \(lastError.text)")
    }
    if setAsideCount > 0 {
      let first = setAside.first.map { ", the first \($0.text)" } ?? ""
      parts.append("\(setAsideCount) set aside\(first)")
    }
    return parts.joined(separator: ", ")
  }
}

extension ConsumerFailure {
  /// Where it was, and why, as far as the consumer's state had room for that.
  fileprivate var text: String {
    what.isEmpty ? "at \(sequence)" : "at \(sequence): \(PeopleText.printable(what))"
  }

  fileprivate var json: [UInt8] {
    var line = JSONLine()
    line.field("sequence", sequence)
    line.field("error", what)
    return line.finish()
  }
}

extension Durability {
  var name: String {
    switch self {
    case .paranoid: "paranoid"
    case .synced: "synced"
    case .buffered: "buffered"
    }
  }
}
