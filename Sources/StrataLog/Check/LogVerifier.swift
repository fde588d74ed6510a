// Checks a whole store and reports its findings, as "What a check reports" in FORMAT.md describes.

internal import StrataBase

/// The result of a check.
package struct VerifyReport: Sendable {
  package var segments = 0
  package var blocks = 0
  package var events: UInt64 = 0
  package var findings: [StoreFinding] = []
  /// The end of the last block that was reached.
  package var end = LogMark(offset: 0, sequence: 0, chain: 0)

  package var isOK: Bool { findings.isEmpty }
  package var isOnlyTorn: Bool { !findings.isEmpty && findings.allSatisfy { $0.class == .torn } }
}

/// How much of a store is checked.
package enum VerifyDepth: Sendable {
  /// The headers of all segments, HEAD, and the last segment's blocks with their links.
  case quick
  /// Every checksum, link, padding and chain; every payload is decoded.
  case full
}

/// A read-only check. Beside a running writer it ends at the mark that was visible when it started, so that a group
/// being written is not a finding.
///
/// It goes over the segments twice: once for their headers, which are all compared with each other, and once for their
/// blocks. However many files there are, only the last one and the one being read are open.
package struct LogVerifier {
  /// One segment, with its header if that is valid.
  private struct Part {
    var segment: SegmentName
    var name: String
    var header: SegmentHeader?
    /// The finding in the header.
    var trouble: StoreFinding?
    var size: UInt64

    /// The header, or a substitute that only has the name, to compare with what the next segment says about it.
    var standIn: SegmentHeader {
      header
        ?? SegmentHeader(
          storeID: StoreID(low: 0, high: 0), firstSequence: segment.firstSequence, epoch: 0, created: 0)
    }
  }

  private let fileSystem: any FileSystem
  private let layout: StoreLayout
  private let depth: VerifyDepth
  /// `StoreOptions.patience`.
  private let patience: Duration
  /// Called now and then with the bytes checked so far and the bytes in total.
  private let progress: (UInt64, UInt64) -> Void
  private var report = VerifyReport()
  private var bytesDone: UInt64 = 0
  private var bytesAll: UInt64 = 0

  package init(
    _ fileSystem: any FileSystem, path: String, depth: VerifyDepth = .full,
    patience: Duration = StoreOptions().patience,
    progress: @escaping (UInt64, UInt64) -> Void = { _, _ in }
  ) {
    self.fileSystem = fileSystem
    layout = StoreLayout(root: fileSystem.absolutePath(path))
    self.depth = depth
    self.patience = patience
    self.progress = progress
  }

  /// How often the check runs at most: it starts again if a writer opens the store meanwhile.
  private static let runsMax = 8

  /// Runs the check. Throws only if the store cannot be read at all.
  ///
  /// Without a writer HEAD is read before the segments, and a writer may open the store in between; what it writes is
  /// not a finding. So findings count only in two cases: if HEAD is the same at the end and there is still no writer,
  /// or if there was a writer at the beginning, whose HEAD bounded the check. That HEAD bounds nothing if the segment
  /// that it names was closed and rewritten before it was opened here: HEAD names a later one by then. And until the
  /// running writer has read through the log, HEAD may be the previous writer's.
  package mutating func run() throws(StoreError) -> VerifyReport {
    try layout.checkRoot()
    let kind = try fileSystem.kind(of: layout.root)
    guard let kind else { throw .notFound(path: layout.root, what: "no store is there") }
    guard kind == .directory else {
      throw .notAStore(path: layout.root, what: "a file is at that path, and a store is a folder")
    }
    var hasWaited = patience <= .zero
    for _ in 1..<Self.runsMax {
      let (found, before, isBounded) = try runOnce()
      guard isBounded else { continue }
      if found.isOK { return found }
      let after = try state()
      if before.isAlive, let head = before.head {
        guard after.head?.epoch == head.epoch else { continue }
        if hasWaited { return found }
        hasWaited = true
        pauseThread(nanoseconds: Int(patience / .nanoseconds(1)))
        continue
      }
      if !after.isAlive, after.head == before.head { return found }
    }
    var (found, before, isBounded) = try runOnce()
    if !isBounded, let head = before.head { found.findings.append(head.rewritten) }
    return found
  }

  private func state() throws(StoreError) -> (isAlive: Bool, head: HeadSlot?) {
    try (StoreLock.isHeld(fileSystem, layout), HeadFile.read(fileSystem, path: layout.head))
  }

  private mutating func runOnce() throws(StoreError) -> (
    report: VerifyReport, before: (isAlive: Bool, head: HeadSlot?), isBounded: Bool
  ) {
    report = VerifyReport()
    bytesDone = 0
    bytesAll = 0
    // HEAD is read before the folder is listed: a roll in between then only adds a segment after the mark.
    let (isAlive, head) = try state()
    let names = try SegmentCatalog.names(fileSystem, layout)
    let bound = isAlive ? head : nil
    let considered = bound.map { bound in names.filter { $0 <= bound.segment } } ?? names
    if considered.isEmpty, head == nil, try !isUnfinishedCreation() {
      throw .notFound(path: layout.root, what: "the folder holds no store")
    }
    let (parts, last) = try parts(considered, storeID: head?.storeID)
    defer { last?.close() }
    let isBounded = bound.map { $0.isBound(of: parts.last?.header) } ?? true
    if isBounded { try check(parts, last: last, head: head, bound: bound) }
    return (report, (isAlive, head), isBounded)
  }

  private func isUnfinishedCreation() throws(StoreError) -> Bool {
    let hasLock = try fileSystem.kind(of: layout.lock) == .file
    let hasLog = try fileSystem.kind(of: layout.log) == .directory
    return hasLock || hasLog
  }

  /// The headers of all segments, and the file of the last one, which the offsets in HEAD refer to.
  private mutating func parts(
    _ names: [SegmentName], storeID: StoreID?
  ) throws(StoreError) -> (parts: [Part], last: (any File)?) {
    var storeID = storeID
    var parts: [Part] = []
    parts.reserveCapacity(names.count)
    var last: (any File)?
    for name in names {
      last?.close()
      let (part, file) = try part(name, storeID: storeID, hasPrevious: !parts.isEmpty)
      last = file
      storeID = part.header?.storeID ?? storeID
      parts.append(part)
      bytesAll = bytesAll.addingSaturated(part.size)
    }
    report.segments = parts.count
    return (parts, last)
  }

  /// A segment's header, and its open file.
  private func part(
    _ segment: SegmentName, storeID: StoreID?, hasPrevious: Bool
  ) throws(StoreError) -> (part: Part, file: any File) {
    let file = try fileSystem.open(layout.segment(segment), .read)
    var part = Part(segment: segment, name: segment.path, header: nil, size: 0)
    do throws(StoreError) {
      part.size = try UInt64(file.size())
      part.header = try SegmentHandle.readHeader(
        of: file, first: segment, storeID: storeID, hasPrevious: hasPrevious)
    } catch {
      guard let finding = error.finding else {
        file.close()
        throw error
      }
      part.trouble = finding
    }
    return (part, file)
  }

  private mutating func check(
    _ parts: [Part], last: (any File)?, head: HeadSlot?, bound: HeadSlot?
  ) throws(StoreError) {
    assert(
      zip(parts, parts.dropFirst()).allSatisfy { $0.segment < $1.segment },
      "segments are checked in ascending order")
    for (number, part) in parts.enumerated() {
      if number == 0, let gap = SegmentChain.gap(before: part.standIn, after: nil, logBegin: head?.logBegin) {
        report.findings.append(gap)
      }
      if let trouble = part.trouble { report.findings.append(trouble) }
      guard let header = part.header else { continue }
      let gap =
        number == 0
        ? nil : SegmentChain.gap(before: header, after: parts[number - 1].standIn, logBegin: nil)
      if let gap {
        report.findings.append(gap)
        if gap.file == part.name { continue }
      }
      if number < parts.count - 1 {
        if depth == .full { try checkClosed(part, next: parts[number + 1]) }
      } else if let last, !header.isRewritten {
        try checkActive(part, header, last, head: head, bound: bound)
      } else if let last, depth == .full {
        try checkClosed(part, header, last, next: nil)
      }
    }
    if let head, !parts.contains(where: { $0.segment == head.segment }) {
      report.findings.append(
        StoreFinding(
          .missing, file: head.segment.path, offset: 0, first: head.segment.firstSequence,
          last: max(head.durable.sequence, head.segment.lastBefore),
          what: "HEAD names a segment that is missing"))
    }
    try checkHead(head, in: parts)
    report.findings = Self.oneForEachFile(report.findings)
  }

  private static func oneForEachFile(_ findings: [StoreFinding]) -> [StoreFinding] {
    var seen: Set<String> = []
    return findings.filter { seen.insert($0.file).inserted }
  }

  // MARK: One segment

  private mutating func count(_ block: BlockHeader) {
    report.blocks += 1
    if block.kind == BlockKind.events { report.events += UInt64(block.eventCount) }
    bytesDone = bytesDone.addingSaturated(block.span)
    progress(bytesDone, bytesAll)
  }

  /// Decodes and counts a valid block. Returns nil if its content is correct.
  private mutating func content(
    of block: BlockHeader, _ payload: UnsafeRawBufferPointer, in name: String
  ) -> StoreFinding? {
    do throws(ContentProblem) {
      // A segment that was never rewritten has no erased events.
      var erasures = ErasureMark()
      _ = try block.checkedContent(payload, isRewritten: false, marking: &erasures)
      count(block)
      return nil
    } catch {
      return error.finding(
        in: name, at: block.ownOffset, first: block.firstSequence, last: block.nextSequence &- 1)
    }
  }

  /// Checks a closed segment, which is opened again. It may have been rewritten since its header was read: everything
  /// that other segments say about it holds for the new file as well.
  private mutating func checkClosed(_ seen: Part, next: Part) throws(StoreError) {
    let (part, file) = try part(seen.segment, storeID: seen.header?.storeID, hasPrevious: false)
    defer { file.close() }
    bytesAll = (bytesAll - min(bytesAll, seen.size)).addingSaturated(part.size)
    if let trouble = part.trouble { report.findings.append(trouble) }
    guard let header = part.header else { return }
    try checkClosed(part, header, file, next: next)
  }

  private mutating func checkClosed(
    _ part: Part, _ header: SegmentHeader, _ file: any File, next: Part?
  ) throws(StoreError) {
    let walk = ClosedWalk(
      file: file, header: header, name: part.name, size: part.size,
      last: next?.segment.lastBefore, next: next?.header)
    let outcome = try walk.run { block, _ in count(block) }
    if let end = outcome.end { report.end = end.mark }
    if let finding = outcome.finding { report.findings.append(finding) }
  }

  private mutating func checkActive(
    _ part: Part, _ header: SegmentHeader, _ file: any File, head: HeadSlot?, bound: HeadSlot?
  ) throws(StoreError) {
    if let bound { return try checkLive(part, header, file, bound) }
    var problem: StoreFinding?
    var verifier = self
    let assessment = try TailRule.assess(file: file, name: part.name, segment: header, head: head) {
      block, payload throws(StoreError) in
      if problem == nil { problem = verifier.content(of: block, payload, in: part.name) }
    }
    self = verifier
    report.end = assessment.link.mark
    switch assessment.state {
    case .unsupported(let finding):
      problem = problem ?? finding
    case .corrupt(let finding):
      problem = problem ?? finding
    case .torn:
      let count = assessment.fileSize - assessment.link.offset
      problem =
        problem
        ?? StoreFinding(
          .torn, file: part.name, offset: assessment.link.offset, first: assessment.link.nextSequence,
          last: assessment.link.lastSequence,
          what: "\(count) \(count == 1 ? "byte" : "bytes") of an unfinished write")
    case .clean:
      break
    }
    if var problem {
      if problem.class != .torn {
        problem.last = max(assessment.lastPromised, assessment.link.lastSequence, problem.first - 1)
      }
      report.findings.append(problem)
    }
    if let stale = assessment.staleHead { report.findings.append(stale) }
  }

  /// Checks the active segment of a store that is being written: it must be valid up to the mark, and whatever follows
  /// is ignored.
  private mutating func checkLive(
    _ part: Part, _ header: SegmentHeader, _ file: any File, _ bound: HeadSlot
  ) throws(StoreError) {
    var walk = BlockWalk(file: file, segment: header, limit: bound.visible.offset)
    while !walk.isAtLimit {
      let place = walk.link
      let verdict = try walk.next()
      switch verdict {
      case .valid(let block, let payload):
        if let finding = content(of: block, payload, in: part.name) { return report.findings.append(finding) }
      case .invalid(let problem):
        return report.findings.append(
          problem.finding(
            in: part.name, at: place.offset, first: place.nextSequence, last: bound.visible.sequence))
      }
    }
    report.end = walk.link.mark
    if walk.link.mark != bound.visible {
      report.findings.append(
        StoreFinding(
          .stale, file: StoreLayout.headName, offset: 0, first: walk.link.nextSequence,
          last: walk.link.lastSequence, what: "HEAD's visible mark is not the end of a block"))
    }
  }

  /// Checks a HEAD that names a closed segment: its mark must be the end of a block there.
  private mutating func checkHead(_ head: HeadSlot?, in parts: [Part]) throws(StoreError) {
    guard depth == .full, let head, let seen = parts.dropLast().first(where: { $0.segment == head.segment }),
      seen.header.map({ !$0.isRewritten }) ?? false
    else { return }
    let (part, file) = try part(seen.segment, storeID: seen.header?.storeID, hasPrevious: false)
    defer { file.close() }
    guard let header = part.header, !header.isRewritten else { return }
    var walk = BlockWalk(file: file, segment: header, limit: part.size)
    var isMarkSeen = walk.link.mark == head.durable
    while !walk.isAtLimit {
      let verdict = try walk.next()
      guard case .valid = verdict else { break }
      if walk.link.mark == head.durable { isMarkSeen = true }
    }
    guard !isMarkSeen, head.durable.offset <= walk.link.offset else { return }
    report.findings.append(head.stale(after: walk.link, in: part.name))
  }
}

extension HeadSlot {
  /// Whether the marks can be offsets in the last segment that was opened.
  fileprivate func isBound(of last: SegmentHeader?) -> Bool {
    guard let last, last.segment == segment else { return true }
    return isOf(last)
  }
}
