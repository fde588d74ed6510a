// `dump`: shows the blocks of the log as they are stored in their files.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

package struct DumpCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump", abstract: "Shows the raw blocks of a store, even of a damaged one.",
    discussion: """
      Each segment is read up to its first invalid block. The dump then reports why it stopped there and continues \
      with the next segment.

      With --history, the manifest of a history in derived/history is shown instead, and with --run what one of its \
      runs holds: the tables, the events that could not be applied, each row with its versions, and which rows each \
      event changed.
      """)

  @OptionGroup var target: StoreArgument

  @Option(help: "Dump only the segment that holds this sequence.")
  var segment: UInt64?

  @Option(help: "Dump only the block at this offset, whatever comes before it.")
  var block: UInt64?

  @Option(help: "Dump the history in this folder of derived/history instead.")
  var history: String?

  @Option(name: .customLong("run"), help: "With --history: dump the run with this number.")
  var runNumber: UInt32?

  @Flag(help: "Also print the decoded payload, or the documents of a run, in hexadecimal.")
  var hex = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    if runNumber != nil, history == nil { throw ValidationError("--run needs --history") }
    if history != nil, segment != nil || block != nil {
      throw ValidationError("--history cannot be combined with --segment and --block")
    }
  }

  func perform() throws {
    try output.refuse(.csv)
    if let history {
      let printer = try HistoryPrinter(
        path: target.store, folder: history, output: output, withPayload: hex)
      Pager.start()
      return try printer.run(number: runNumber)
    }
    var dump = try BlockDump(
      path: target.store, output: output, withPayload: hex, onlyBlock: block)
    Pager.start()
    try dump.run(holding: segment)
  }
}

/// Walks the blocks of segments without opening the store, so that it works on damaged stores too.
struct BlockDump {
  private let path: String
  private let layout: StoreLayout
  private let fileSystem: any FileSystem
  private let head: HeadSlot?
  private let isWriterAlive: Bool
  private let names: [SegmentName]
  private let onlyBlock: UInt64?
  private let printer: BlockPrinter
  private var findings: [StoreFinding] = []

  init(
    path: String, output: OutputOptions, withPayload: Bool, onlyBlock: UInt64?,
    on fileSystem: any FileSystem = PosixFileSystem()
  ) throws(CommandFailure) {
    self.path = path
    self.fileSystem = fileSystem
    self.onlyBlock = onlyBlock
    let layout = StoreLayout(root: path)
    self.layout = layout
    printer = BlockPrinter(output, withPayload: withPayload)
    (isWriterAlive, head, names) = try Self.failing(path) { () throws(StoreError) in
      let kind = try fileSystem.kind(of: path)
      guard let kind else { throw .notFound(path: path, what: "no store is there") }
      guard kind == .directory else {
        throw .notAStore(path: path, what: "the path is a file, and a store is a folder")
      }
      return try (
        StoreLock.isHeld(fileSystem, layout), HeadFile.read(fileSystem, path: layout.head),
        SegmentCatalog.names(fileSystem, layout)
      )
    }
    if names.isEmpty {
      throw CommandFailure(
        ExitStatus.notFound, "the folder contains no segment", at: path, next: "check the path")
    }
  }

  /// Dumps all segments, or the one that holds a sequence. The exit code is that of the first finding that is not a
  /// torn tail, else that of the torn tail.
  mutating func run(holding sequence: UInt64?) throws {
    var chosen = names
    if let sequence {
      guard let segment = names.last(where: { $0.firstSequence <= sequence }) else {
        throw CommandFailure(
          ExitStatus.notFound, "no segment holds sequence \(sequence)", at: path,
          next: "the first one begins at \(names[0])")
      }
      try checkHolds(sequence, segment)
      chosen = [segment]
    } else if onlyBlock != nil, names.count > 1 {
      throw CommandFailure(
        ExitStatus.usage, "--block needs --segment in a store of \(names.count) segments", at: "--block",
        next: "segments begin at " + names.prefix(8).map(\.description).joined(separator: ", "))
    }
    printer.begin()
    for segment in chosen {
      do throws(CommandFailure) { try dump(segment) } catch {
        try printer.finish()
        throw error
      }
      try printer.flushIfLarge()
    }
    try printer.finish()
    guard let worst = findings.first(where: { $0.class != .torn }) ?? findings.first else { return }
    for finding in findings where finding != worst {
      Terminal.note(CommandFailure(reading: path, .found(finding)).text)
    }
    throw CommandFailure(reading: path, .found(worst))
  }

  /// Throws if the log ends before a sequence. Does not throw if the last segment is damaged or unfinished, since it
  /// may hold the sequence.
  private func checkHolds(_ sequence: UInt64, _ segment: SegmentName) throws(CommandFailure) {
    guard segment == names.last, sequence > segment.firstSequence else { return }
    var last = segment.lastBefore
    if isWriterAlive, let head, head.segment == segment {
      last = head.visible.sequence
    } else {
      guard let file = try? fileSystem.open(layout.segment(segment), .read) else { return }
      defer { file.close() }
      guard let header = try? SegmentHandle.readHeader(of: file, first: segment, storeID: head?.storeID),
        let size = try? UInt64(file.size())
      else { return }
      let (block, end) = Self.lastBlock(of: file, header, before: size)
      guard end == size else { return }
      // Only the block header was checked, and a header may claim to begin at 0.
      if let block { last = max(block.nextSequence, 1) - 1 }
    }
    guard sequence > last else { return }
    throw CommandFailure(
      ExitStatus.notFound, "no segment holds sequence \(sequence)", at: path,
      next: last < names[0].firstSequence ? "the store is empty" : "the log holds \(names[0])…\(last)")
  }

  /// The last block that begins before an offset, and where it ends. The walk reads headers only and stops at the first
  /// one that is not valid.
  private static func lastBlock(
    of file: any File, _ segment: SegmentHeader, before limit: UInt64
  ) -> (block: BlockHeader?, end: UInt64) {
    guard let size = try? UInt64(file.size()) else { return (nil, 0) }
    var source = BlockSource(file: file, segment: segment, step: 1 << 16)
    var (last, end) = (BlockHeader?.none, UInt64(SegmentHeader.length))
    while end < limit, case .success(let block)? = try? source.header(at: end, limit: size) {
      (last, end) = (block, block.end)
    }
    return (last, end)
  }

  /// The state of LOCK and HEAD, which decides how far a segment is read.
  private struct Sight: Equatable {
    var isWriterAlive: Bool
    var head: HeadSlot?
  }

  /// How far a file is read, and the LOCK and HEAD that this was taken from.
  private struct Bounds {
    var limit: UInt64
    /// Whether this is the last segment of a store without a writer: its end may be unfinished.
    var isActive: Bool
    var sight: Sight
  }

  private func sight() throws(CommandFailure) -> Sight {
    try Self.failing(path) { [fileSystem, layout] () throws(StoreError) in
      try Sight(
        isWriterAlive: StoreLock.isHeld(fileSystem, layout),
        head: HeadFile.read(fileSystem, path: layout.head))
    }
  }

  /// The bounds of a segment's file that was opened after HEAD was read. Nil if HEAD's marks are not offsets in this
  /// file because the segment was closed and rewritten in between; HEAD then names a later segment.
  private func bounds(_ sight: Sight, _ header: SegmentHeader, size: UInt64) -> Bounds? {
    let segment = header.segment
    if sight.isWriterAlive, let head = sight.head, head.segment == segment {
      guard head.isOf(header) else { return nil }
      // Past the visible mark are bytes that the running writer is still writing.
      return Bounds(limit: min(size, head.visible.offset), isActive: false, sight: sight)
    }
    let isClosed = sight.head.map { $0.segment > segment } ?? false
    return Bounds(limit: size, isActive: segment == names.last && !isClosed, sight: sight)
  }

  /// The most times that a segment is opened again because a writer closed it in the meantime.
  private static let looksMax = 8

  private mutating func dump(_ segment: SegmentName) throws(CommandFailure) {
    for number in 1...Self.looksMax {
      let sight = try sight()
      let (file, size) = try Self.failing(path) { [fileSystem, layout] () throws(StoreError) in
        let file = try fileSystem.open(layout.segment(segment), .read)
        return (file, UInt64(try file.size()))
      }
      defer { file.close() }
      let header: SegmentHeader
      do throws(StoreError) {
        header = try SegmentHandle.readHeader(of: file, first: segment, storeID: head?.storeID)
      } catch {
        guard let finding = error.finding else { throw CommandFailure(reading: path, error) }
        return findings.append(finding)
      }
      // A rewritten segment has its end in its own header, whatever HEAD still says.
      let last = Bounds(limit: size, isActive: false, sight: sight)
      guard let bounds = bounds(sight, header, size: size) ?? (number == Self.looksMax ? last : nil) else {
        continue
      }
      printer.add(header, size: size)
      if let onlyBlock { return try dumpBlock(at: onlyBlock, in: file, header, size: size) }
      return try walk(file, header, bounds)
    }
  }

  private mutating func walk(
    _ file: any File, _ header: SegmentHeader, _ bounds: Bounds
  ) throws(CommandFailure) {
    var bounds = bounds
    var walk = BlockWalk(file: file, segment: header, limit: bounds.limit)
    while !walk.isAtLimit {
      let place = walk.link
      let verdict: BlockVerdict
      do throws(StoreError) { verdict = try walk.next() } catch {
        throw CommandFailure(reading: path, error)
      }
      switch verdict {
      case .valid(let block, let payload):
        if let problem = printer.add(block, payload) {
          findings.append(
            problem.finding(
              in: header.segment.path, at: place.offset, first: place.nextSequence,
              last: block.nextSequence &- 1))
        }
        do { try printer.flushIfLarge() } catch let error as CommandFailure { throw error } catch {
          return  // The output is closed; the end of the dump reports that again.
        }
      case .invalid(let problem):
        guard let newer = try newerBounds(than: bounds, file, header) else {
          return try stop(at: place, problem, file, header, bounds)
        }
        bounds = newer
        walk = BlockWalk(file: file, segment: header, from: place, limit: newer.limit)
      }
    }
  }

  /// New bounds, if a writer has opened the store in the meantime, so that bytes that looked wrong may be a write in
  /// progress. Nil if that is not possible: the segment is not the active one, nothing has changed, or the path now
  /// names another file.
  private func newerBounds(
    than bounds: Bounds, _ file: any File, _ header: SegmentHeader
  ) throws(CommandFailure) -> Bounds? {
    guard bounds.isActive else { return nil }
    let now = try sight()
    guard now != bounds.sight else { return nil }
    // Another file may have this name by now, and its bounds do not apply to this file.
    let isNamed = try Self.failing(path) { () throws(StoreError) in
      try file.isStillAtItsPath()
    }
    guard isNamed else { return nil }
    let size = try Self.failing(path) { () throws(StoreError) in
      try UInt64(file.size())
    }
    return self.bounds(now, header, size: size)
  }

  /// Records why a walk ended before the end of the file: damage, or the tail of an active segment.
  private mutating func stop(
    at place: BlockLink, _ problem: BlockProblem, _ file: any File, _ header: SegmentHeader, _ bounds: Bounds
  ) throws(CommandFailure) {
    let name = header.segment.path
    guard bounds.isActive else {
      return findings.append(
        problem.finding(in: name, at: place.offset, first: place.nextSequence, last: place.lastSequence))
    }
    let assessment = try Self.failing(path) { () throws(StoreError) in
      try TailRule.assess(file: file, name: name, segment: header, head: bounds.sight.head)
    }
    switch assessment.state {
    case .clean: break
    case .corrupt(let finding), .unsupported(let finding): findings.append(finding)
    case .torn:
      findings.append(
        StoreFinding(
          .torn, file: name, offset: place.offset, first: place.nextSequence, last: place.lastSequence,
          what: "\(counted(assessment.fileSize - place.offset, "byte")) of an unfinished write"))
    }
  }

  private mutating func dumpBlock(
    at offset: UInt64, in file: any File, _ header: SegmentHeader, size: UInt64
  ) throws(CommandFailure) {
    let name = header.segment.path
    guard offset < size else {
      throw CommandFailure(
        ExitStatus.notFound, "the file ends at byte \(size)", at: "\(layout.root)/\(name) at byte \(offset)",
        next: "dump the segment without --block to see where its blocks begin")
    }
    var source = BlockSource(file: file, segment: header)
    let verdict: BlockVerdict
    do throws(StoreError) { verdict = try source.block(at: offset, limit: size) } catch {
      throw CommandFailure(reading: path, error)
    }
    switch verdict {
    case .valid(let block, let payload):
      if let problem = printer.add(block, payload) {
        findings.append(
          problem.finding(in: name, at: offset, first: block.firstSequence, last: block.nextSequence &- 1))
      }
    case .invalid(let problem):
      let (block, end) = Self.lastBlock(of: file, header, before: offset)
      guard end <= offset else {
        throw CommandFailure(
          ExitStatus.notFound, "no block begins at byte \(offset)", at: "\(layout.root)/\(name)",
          next: block.map { "the block that contains it begins at byte \($0.ownOffset)" }
            ?? "the first block begins at byte \(end)")
      }
      findings.append(
        problem.finding(in: name, at: offset, first: header.firstSequence, last: header.firstSequence - 1))
    }
  }

  private static func failing<Result>(
    _ path: String, _ body: () throws(StoreError) -> Result
  ) throws(CommandFailure) -> Result {
    do throws(StoreError) { return try body() } catch { throw CommandFailure(reading: path, error) }
  }
}
