// Where a backup ends: its last segment, and what that segment's file is in the copy.

internal import StrataBase

/// The end of a backup. The file of the source's segment is held open, so that its offsets stay valid.
///
/// The copy of the last segment is: its header, then the source's bytes up to an offset, then a tail. At the end of the
/// source there is no tail, and the header is the source's. At an earlier point the tail may have the first appends of a
/// block, and, in a segment that was rewritten, another FOOTER; then the header says where the copy ends.
struct BackupEnd {
  var handle: SegmentHandle
  /// The header of the copy.
  var header: SegmentHeader
  /// The end of the copy.
  var mark: LogMark
  /// The source's bytes from the header to this offset are copied.
  var copiedThrough: UInt64
  var tail: [UInt8] = []
  var logBegin: UInt64
  /// Whether the source may have an order to erase, up to the mark, that was not carried out.
  var isErasing: Bool
  /// The commit time of the last append and the epoch of its block; nil if they have to be read.
  var last: (time: Int64, epoch: UInt64)?

  var segment: SegmentName { header.segment }
  /// Whether the header is not that of the source's file.
  var hasOwnHeader: Bool { header != handle.header }
}

extension BackupEnd {
  /// The end of everything that is durable.
  init(_ handle: SegmentHandle, _ mark: VisibleMark, isErasing: Bool) {
    self.init(
      handle: handle, header: handle.header, mark: mark.durable, copiedThrough: mark.durable.offset,
      logBegin: mark.logBegin, isErasing: isErasing)
  }

  /// The end after an append of a segment.
  ///
  /// - Parameters:
  ///   - handle: the segment that holds the sequence.
  ///   - limit: the end of its blocks.
  /// - Throws: `invalid` if the sequence is not the last of an append; a finding for damage, or for what a newer version
  ///   wrote.
  init(
    after sequence: UInt64, _ handle: SegmentHandle, limit: UInt64, logBegin: UInt64
  ) throws(StoreError) {
    let old = handle.header
    let block = try Self.block(holding: sequence, handle, limit: limit)
    let cut = try CutBlock(block, after: sequence)
    var link = BlockLink(old)
    link.pass(cut.header)
    self.init(
      handle: handle, header: old, mark: link.mark, copiedThrough: block.header.ownOffset, tail: cut.bytes,
      logBegin: logBegin, isErasing: true, last: (cut.header.lastTime, link.epoch))
    if cut.bytes.isEmpty { copiedThrough = link.offset }
    if old.isRewritten { try addFooter(at: link) }
  }

  /// The block that holds a sequence.
  private static func block(
    holding sequence: UInt64, _ handle: SegmentHandle, limit: UInt64
  ) throws(StoreError) -> DecodedBlock {
    let name = handle.name
    guard let place = try handle.place(forSequence: sequence, end: limit) else {
      throw .damaged(SegmentChain.missing(handle.header.segment, before: sequence &+ 1))
    }
    var source = BlockSource(file: handle.file, segment: handle.header, step: 1 << 16)
    let verdict = try source.block(at: place.offset, limit: limit)
    switch verdict {
    case .invalid(let problem):
      throw .damaged(
        problem.finding(in: name, at: place.offset, first: place.firstSequence, last: sequence))
    case .valid(let header, let payload):
      do throws(ContentProblem) { return try DecodedBlock(header: header, stored: payload) } catch {
        throw error.storeError(of: header, through: sequence)
      }
    }
  }

  /// Ends a copy of a rewritten segment as one: with a FOOTER, and a header that names its end.
  private mutating func addFooter(at link: BlockLink) throws(StoreError) {
    let old = handle.header
    if let what = old.unknownToRewrites ?? (old.revision == .max ? "the last revision" : nil) {
      throw .unsupported(
        StoreFinding(
          .unsupported, file: handle.name, offset: 0, first: old.firstSequence, last: link.lastSequence,
          what: "the segment holds \(what), which this version would lose in a part of it"))
    }
    var footer = BlockHeader(
      kind: BlockKind.footer, ownOffset: link.offset, firstSequence: link.nextSequence,
      appendsBefore: link.appends, segment: old.segment, storeID: old.storeID, epoch: link.epoch,
      syncedThrough: link.offset, chainBefore: link.chain, chainAfter: link.chain)
    (footer.firstTime, footer.lastTime) = (link.lastTime, link.lastTime)
    // By sequence: the first part of a block may be longer than all of it was, if that was compressed harder.
    let places = handle.places.filter { $0.firstSequence < link.nextSequence }
    var output = RawBuffer(capacity: 4 << 10)
    FooterIndex.encoded(places).withUnsafeBytes { output.append(block: &footer, payload: $0, .fast) }
    tail += Array(output.bytes)
    mark.offset = footer.end
    header.revision += 1
    header.footerOffset = link.offset
    header.rewrittenLast = link.lastSequence
    header.rewrittenChain = link.chain
    header.rewrittenEnd = footer.end
    // A part of what is erased has another mark, and only its events say which.
    if header.erasureMark != ErasureMark.none.value { header.erasures = ErasureMark.unknown }
  }
}

/// The first appends of a block, as a block at the same offset.
private struct CutBlock {
  private(set) var header: BlockHeader
  /// The block; empty if it is the whole one, which can be copied.
  private(set) var bytes: [UInt8] = []

  /// - Throws: `invalid` if the sequence is not the last of an append; a finding for damage, or for what a newer version
  ///   wrote.
  init(_ block: DecodedBlock, after sequence: UInt64) throws(StoreError) {
    header = block.header
    header.eventCount = 0
    header.appendCount = 0
    header.chainAfter = header.chainBefore
    var length = 0
    var around: ClosedRange<UInt64>?
    do throws(ContentProblem) {
      try block.forEachAppend { append, first throws(ContentProblem) in
        guard first <= sequence else { return }
        let last = first + UInt64(append.eventCount) - 1
        guard last <= sequence else {
          around = first...last
          return
        }
        length = try add(append, first: first, in: block)
      }
    } catch {
      throw error.storeError(of: block.header, through: sequence)
    }
    if let around {
      throw .invalid(
        what:
          "sequence \(sequence) is inside the append \(around.lowerBound)…\(around.upperBound), and a backup holds "
          + "whole appends",
        next: "end it at \(around.upperBound), or at \(around.lowerBound - 1)")
    }
    guard header.nextSequence < block.header.nextSequence else {
      header = block.header
      return
    }
    if let what = block.header.unknownToRewrites {
      throw .unsupported(
        StoreFinding(
          .unsupported, file: block.header.segment.path, offset: block.header.ownOffset,
          first: block.header.firstSequence, last: block.header.nextSequence - 1,
          what: "there is \(what), which this version would lose in a part of it"))
    }
    var output = RawBuffer(capacity: length + 4096)
    output.append(block: &header, payload: UnsafeRawBufferPointer(rebasing: block.raw[..<length]), .fast)
    bytes = Array(output.bytes)
    withExtendedLifetime(block) {}
  }

  /// Counts an append, and returns where it ends in the block's payload.
  private mutating func add(
    _ append: borrowing AppendView, first: UInt64, in block: DecodedBlock
  ) throws(ContentProblem) -> Int {
    let head = XXH64.of(append.head)
    var events = append.events
    for number in 0..<append.eventCount {
      let event: EventView
      do throws(DecodingProblem) { event = try events.nextEvent() } catch { throw ContentProblem(error) }
      header.chainAfter = Chain.next(
        after: header.chainAfter, sequence: first + UInt64(number), revision: event.revision, head: head,
        names: XXH64.of(event.names), content: event.contentHash)
    }
    header.eventCount += UInt32(append.eventCount)
    header.appendCount += 1
    header.lastTime = append.commitTime
    guard let begin = block.raw.baseAddress else { throw .damaged("the block has no content") }
    return events.position - begin
  }
}
