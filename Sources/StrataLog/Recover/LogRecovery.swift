// Appends all that is whole in a damaged log to an empty one.

internal import StrataBase

/// The result of a recovery.
package struct LogRecoveryReport: Sendable {
  /// The events that were appended as they had been recorded.
  package var eventCount: UInt64 = 0
  /// The events of which the damaged log had no content: it was erased, or lost before an earlier recovery.
  package var erasedCount: UInt64 = 0
  /// What is wrong with the log, with the events that are lost, in their order.
  package var losses: [StoreFinding] = []
}

/// A recovery: every whole block of a log, in the order of the sequences, appended again to another log.
///
/// An event keeps its sequence: in place of one that is lost, or was erased, a filler is appended. Times, append ids,
/// salts, metadata and payloads are those that were recorded. Revisions of streams and the chain are computed again: up
/// to the first filler they are what they were, and no position of the old log after it is taken for one of the new.
///
/// Nothing of the damaged store is changed, and none of its locks is taken.
package struct LogRecovery {
  /// What is appended in place of an event that is not there.
  package struct Filler: Sendable {
    package var stream: [UInt8]
    package var type: [UInt8]
    package var codec: UInt64

    package init(stream: [UInt8], type: [UInt8], codec: UInt64) {
      (self.stream, self.type, self.codec) = (stream, type, codec)
    }
  }

  /// The most events that may be missing in one place. More than that is no loss but a wrong name or header.
  package static let missingMax: UInt64 = 100_000_000
  /// What is appended in one step: drafts, and bytes of them.
  private static let batchCount = 4096
  private static let batchBytes = 1 << 20

  private let fileSystem: any FileSystem
  private let layout: StoreLayout
  private let target: Log
  private let filler: Filler
  /// Called now and then with the bytes looked at so far and the bytes in total.
  private let progress: (UInt64, UInt64) -> Void

  private var report = LogRecoveryReport()
  private var drafts: [AppendDraft] = []
  private var draftBytes = 0
  /// The ids of the drafts.
  private var ids: Set<[UInt8]> = []
  /// The sequence that the next event is to have.
  private var next: UInt64 = 1
  private var lastTime = FormatLimits.noTime
  /// The first sequence of the damaged log; what was trimmed before it is no loss.
  private var begin: UInt64 = 1
  /// What is wrong at the ends of the files since the last whole block, from the sequence on that each may concern. The
  /// next block shows which events are lost by it.
  private var pending: [StoreFinding] = []

  /// - Parameter target: an empty log, whose options allow every append of the format.
  package init(
    of fileSystem: any FileSystem, path: String, into target: Log, filler: Filler,
    progress: @escaping (UInt64, UInt64) -> Void = { _, _ in }
  ) {
    self.fileSystem = fileSystem
    layout = StoreLayout(root: fileSystem.absolutePath(path))
    self.target = target
    self.filler = filler
    self.progress = progress
  }

  /// Refuses what cannot be recovered: a folder without a log, and a store that a writer has open.
  package static func check(_ fileSystem: any FileSystem, path: String) throws(StoreError) {
    let layout = StoreLayout(root: fileSystem.absolutePath(path))
    try layout.checkRoot()
    switch try fileSystem.kind(of: layout.root) {
    case nil: throw .notFound(path: layout.root, what: "no store is there")
    case .directory: break
    default: throw .notAStore(path: layout.root, what: "a file is at that path, and a store is a folder")
    }
    guard try !SegmentCatalog.names(fileSystem, layout).isEmpty else {
      throw .notFound(path: layout.root, what: "the folder holds no segment of a log")
    }
    if try StoreLock.isHeld(fileSystem, layout) { throw .locked(path: layout.root, holder: nil) }
  }

  /// Runs the recovery. O(bytes of the log), with some blocks in memory. Blocks.
  ///
  /// - Throws: `unsupported` for what a newer version wrote; `invalid` if more than `missingMax` events are missing in
  ///   one place; what appending throws.
  package mutating func run() throws(StoreError) -> LogRecoveryReport {
    let names = try SegmentCatalog.names(fileSystem, layout)
    let head =
      Self.tolerating { () throws(StoreError) in try HeadFile.read(fileSystem, path: layout.head) } ?? nil
    let sizes = names.map { name -> UInt64 in
      Self.tolerating { () throws(StoreError) in try size(of: name) } ?? 0
    }
    let all = sizes.reduce(UInt64(0)) { $0.addingSaturated($1) }
    let storeID = head?.storeID ?? self.storeID(of: names)
    begin = max(1, min(head?.logBegin ?? 1, names.first?.firstSequence ?? 1))
    try checkMissing(begin - next, before: names.first?.path ?? StoreLayout.logName)
    var done: UInt64 = 0
    for (name, size) in zip(names, sizes) {
      try recover(name, storeID: storeID)
      done = done.addingSaturated(size)
      progress(done, all)
    }
    // The last file's name says what was before it.
    var last = max(pending.map(\.last).max() ?? 0, names.last?.lastBefore ?? 0)
    var finding = Self.missing(before: names.last?.path ?? StoreLayout.logName)
    if let head {
      if head.lastSequence > last {
        finding = StoreFinding(
          .missing, file: StoreLayout.headName, offset: 0, first: next, last: last,
          what: "HEAD names events that are in no whole block")
      }
      last = max(last, head.lastSequence)
    } else {
      wait(
        for: StoreLayout.headName, 0, from: last + 1,
        "HEAD, which says what followed, is not there or not whole")
    }
    if last >= next || !pending.isEmpty {
      try lose(through: max(last, next - 1), finding, at: lastTime, before: StoreLayout.headName)
    }
    try flush()
    return report
  }

  private static func tolerating<Result>(_ body: () throws(StoreError) -> Result) -> Result? {
    do throws(StoreError) { return try body() } catch { return nil }
  }

  private func size(of name: SegmentName) throws(StoreError) -> UInt64 {
    let file = try fileSystem.open(layout.segment(name), .read)
    defer { file.close() }
    return UInt64(try file.size())
  }

  /// The store's identity as most files say it, in their header or in that of their first block; of as many, the later
  /// ones count.
  private func storeID(of names: [SegmentName]) -> StoreID? {
    var counts: [StoreID: Int] = [:]
    var found: StoreID?
    for name in names {
      guard let id = storeID(of: name) else { continue }
      counts[id, default: 0] += 1
      if found.map({ counts[$0, default: 0] <= counts[id, default: 0] }) ?? true { found = id }
    }
    return found
  }

  private func storeID(of name: SegmentName) -> StoreID? {
    let header = Self.tolerating { () throws(StoreError) in
      try SegmentHandle.open(fileSystem, layout, first: name, storeID: nil).header
    }
    if let header { return header.storeID }
    let block = Self.tolerating { () throws(StoreError) in try firstBlock(of: name) } ?? nil
    guard let block, block.segment == name, block.ownOffset == UInt64(SegmentHeader.length) else {
      return nil
    }
    return block.storeID
  }

  private func firstBlock(of name: SegmentName) throws(StoreError) -> BlockHeader? {
    let file = try fileSystem.open(layout.segment(name), .read)
    defer { file.close() }
    var window = SegmentWindow(file: file, step: BlockHeader.lengthMax)
    let place = UInt64(SegmentHeader.length)
    return BlockHeader(decoding: try window.bytes(at: place, length: BlockHeader.lengthMax, limit: .max))
  }

  // MARK: Segments

  private mutating func recover(_ name: SegmentName, storeID: StoreID?) throws(StoreError) {
    // No event was lost by what is wrong in the files before.
    if name.firstSequence <= next { pending = [] }
    let file: any File
    let size: UInt64
    do throws(StoreError) {
      file = try fileSystem.open(layout.segment(name), .read)
      size = UInt64(try file.size())
    } catch {
      return wait(for: name.path, 0, from: name.firstSequence, error.what)
    }
    defer { file.close() }
    var header = SegmentHeader(
      storeID: storeID ?? StoreID(low: 0, high: 0), firstSequence: name.firstSequence, epoch: 0, created: 0)
    var headerTrouble: String?
    do throws(StoreError) {
      header = try SegmentHandle.readHeader(of: file, first: name, storeID: storeID)
    } catch {
      if error.reason == .unsupported { throw error }
      // The blocks say themselves where they belong.
      headerTrouble = error.what
    }
    var isTaken = false
    var salvage = SegmentSalvage(file: file, segment: header, size: size)
    while let block = try salvage.next() {
      let first = block.header.firstSequence
      guard first >= next, first >= name.firstSequence else { continue }
      if first > next {
        // A header can be forged; but nothing between two blocks of a file holds more events than its bytes can.
        let known = max(next, name.firstSequence)
        guard first - known <= salvage.eventsMax(before: block.header.ownOffset) else {
          salvage.note("a block claims to begin at sequence \(first)", at: block.header.ownOffset)
          continue
        }
        try lose(before: block.header, salvage.trouble, in: name)
      }
      try copy(block)
      salvage.take(block.header)
      isTaken = true
      // Nothing is lost by what was wrong before a block that goes on.
      pending = []
    }
    let known = max(next, name.firstSequence) - 1
    let isPlausible = max(salvage.lastNamed, known) - known <= salvage.eventsMax(before: size)
    let named = isPlausible ? salvage.lastNamed : 0
    // A file without a header and without a block was more than that.
    if let headerTrouble, !isTaken {
      return wait(for: name.path, 0, from: name.firstSequence, through: named, headerTrouble)
    }
    guard let trouble = salvage.trouble else { return }
    let isZero = Self.tolerating { () throws(StoreError) in try file.isZero(from: trouble.offset, to: size) }
    if isZero == true { return }
    wait(for: name.path, trouble.offset, from: name.firstSequence, through: named, trouble.what)
  }

  /// Keeps what is wrong until it is known which events are lost by it: those from a sequence on.
  private mutating func wait(
    for file: String, _ offset: UInt64, from first: UInt64, through last: UInt64 = 0, _ what: String
  ) {
    let first = max(next, first)
    pending.append(
      StoreFinding(
        .corrupt, file: file, offset: offset, first: first, last: last >= first ? last : 0, what: what))
  }

  private func checkMissing(_ count: UInt64, before file: String) throws(StoreError) {
    guard count > Self.missingMax else { return }
    throw .invalid(
      what: "\(count) events are missing before \(file), which is more than \(Self.missingMax)",
      next: "if the file does not belong there, move it out of a copy of the store, and recover that")
  }

  /// Appends fillers for the events before a block.
  private mutating func lose(
    before block: BlockHeader, _ trouble: SegmentSalvage.Trouble?, in name: SegmentName
  ) throws(StoreError) {
    let time = block.firstTime
    if next < begin { try fill(through: begin - 1, at: time) }
    if next < name.firstSequence {
      try lose(through: name.lastBefore, Self.missing(before: name.path), at: time, before: name.path)
    }
    guard next < block.firstSequence else { return }
    pending = []
    let finding = StoreFinding(
      .corrupt, file: name.path, offset: trouble?.offset ?? block.ownOffset, first: next,
      last: block.firstSequence - 1, what: trouble?.what ?? "the block before this one is not there")
    try lose(through: block.firstSequence - 1, finding, at: time, before: name.path)
  }

  private static func missing(before file: String) -> StoreFinding {
    StoreFinding(
      .missing, file: file, offset: 0, first: 0, last: 0, what: "the events before this file are in no other")
  }

  /// Reports the events up to a sequence as lost by what is pending, or else by a finding, and appends fillers.
  private mutating func lose(
    through last: UInt64, _ finding: StoreFinding, at time: Int64, before file: String
  ) throws(StoreError) {
    try checkMissing(last - (next - 1), before: file)
    var findings = pending
    pending = []
    // What is pending concerns later events.
    if findings.first.map({ $0.first > next && last >= next }) ?? true {
      let file = findings.first?.file ?? finding.file
      let isOfFile = file == finding.file || file == StoreLayout.headName
      findings.insert(isOfFile ? finding : Self.missing(before: file), at: 0)
    }
    findings[0].first = next
    for number in findings.indices {
      let following = number + 1 < findings.count ? findings[number + 1].first - 1 : last
      findings[number].last = max(min(following, last), findings[number].first - 1)
    }
    report.losses += findings
    try fill(through: last, at: time)
  }

  // MARK: Appending

  /// Each filler is an append, so that every sequence is a point. Their time is that of what follows them: whatever raised
  /// it is lost.
  private mutating func fill(through last: UInt64, at time: Int64) throws(StoreError) {
    while next <= last {
      let draft = AppendDraft()
      addFiller(to: draft)
      if time != FormatLimits.noTime { draft.given = time }
      try add(draft)
    }
  }

  private func addFiller(to draft: AppendDraft) {
    filler.stream.withUnsafeBytes { stream in
      filler.type.withUnsafeBytes { type in
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        draft.add(stream: stream, type: type, codec: filler.codec, metadata: nothing, payload: nothing)
      }
    }
  }

  /// Appends a block's appends again.
  private mutating func copy(_ block: DecodedBlock) throws(StoreError) {
    var failure: StoreError?
    do throws(ContentProblem) {
      try block.forEachAppend { append, first throws(ContentProblem) in
        guard failure == nil else { return }
        let draft = try self.draft(append)
        do throws(StoreError) { try add(draft) } catch { failure = error }
      }
    } catch {
      throw error.storeError(of: block.header)
    }
    if let failure { throw failure }
    lastTime = block.header.lastTime
  }

  private mutating func draft(_ append: borrowing AppendView) throws(ContentProblem) -> AppendDraft {
    let draft = AppendDraft(bytesHint: append.events.remaining + 64)
    draft.id = Array(append.id)
    draft.given = append.commitTime
    if let given = append.given { draft.given = given }
    draft.isErasable = append.flags & AppendFlag.erasable != 0
    var events = append.events
    for _ in 0..<append.eventCount {
      let event: EventView
      do throws(DecodingProblem) { event = try events.nextEvent() } catch { throw ContentProblem(error) }
      switch event.kind {
      case EventKind.event:
        draft.add(
          stream: event.stream, type: event.type, codec: event.codec, salt: event.salt,
          metadata: event.metadata, payload: event.payload)
        let isFiller = event.stream.elementsEqual(filler.stream) && event.type.elementsEqual(filler.type)
        if isFiller { report.erasedCount += 1 } else { report.eventCount += 1 }
      case EventKind.erased:
        addFiller(to: draft)
        report.erasedCount += 1
      default:
        throw .unsupported("event kind \(event.kind)")
      }
    }
    return draft
  }

  private mutating func add(_ draft: AppendDraft) throws(StoreError) {
    // An id that the log has twice would make the second append a repetition of the first.
    if !draft.id.isEmpty {
      let isKnown = try target.index.first(ofID: draft.id) != nil
      if isKnown || !ids.insert(draft.id).inserted { draft.id = [] }
    }
    drafts.append(draft)
    draftBytes += draft.byteCount
    next += UInt64(draft.eventCount)
    if drafts.count >= Self.batchCount || draftBytes >= Self.batchBytes { try flush() }
  }

  private mutating func flush() throws(StoreError) {
    guard !drafts.isEmpty else { return }
    var last = target.mark.visible.sequence
    for result in try target.appendBlocking(drafts) {
      let outcome = try result.get()
      guard outcome.first == last + 1 else {
        throw .invalid(what: "the append at sequence \(last + 1) is taken for a repetition of an earlier one")
      }
      last = outcome.last
    }
    assert(last == next - 1, "a recovery appends every event that it counts")
    drafts = []
    draftBytes = 0
    ids = []
  }
}
