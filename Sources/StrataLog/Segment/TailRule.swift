// Torn tail or corruption: the one rule of FORMAT.md, applied to the active segment and HEAD.

internal import StrataBase

/// The result of the rule for an active segment. Finding it out changes nothing on disk.
package struct TailAssessment: Sendable {
  package enum State: Equatable, Sendable {
    case clean
    /// There are bytes after X that were never acknowledged.
    case torn
    case corrupt(StoreFinding)
    /// There is a block that needs a newer reader.
    case unsupported(StoreFinding)
  }

  /// X, and what the next block must continue there.
  package var link: BlockLink
  /// D: the highest durability promise found.
  package var promised: UInt64
  /// The highest sequence that HEAD, or a header at or after X, counts.
  package var lastPromised: UInt64
  /// The length of the file, without what an unfinished backup has added to it.
  package var fileSize: UInt64
  package var state: State
  /// The finding if HEAD does not match the valid prefix.
  package var staleHead: StoreFinding?

  /// The length of a torn tail in bytes, 0 if there is none.
  package var tornBytes: UInt64 { state == .torn ? fileSize - link.offset : 0 }
}

/// The rule itself.
package enum TailRule {
  /// Applies the rule to one file. Calls `visit` with every valid block on the way.
  package static func assess(
    file: any File, name: String, segment: SegmentHeader, head: HeadSlot?,
    visit: (BlockHeader, UnsafeRawBufferPointer) throws(StoreError) -> Void = { _, _ throws(StoreError) in }
  ) throws(StoreError) -> TailAssessment {
    let slot = head.flatMap { $0.segment == segment.segment ? $0 : nil }
    let fileSize = UInt64(try file.size())
    let size = slot?.length(of: segment, fileSize: fileSize) ?? fileSize
    var walk = BlockWalk(file: file, segment: segment, limit: size)
    var problem: BlockProblem?
    var unsupported: StoreFinding?
    var isMarkSeen = slot.map { $0.durable == walk.link.mark } ?? true
    while !walk.isAtLimit, problem == nil {
      let before = walk.link
      switch try walk.next() {
      case .valid(let block, let payload):
        if let what = block.unsupported, unsupported == nil {
          unsupported = StoreFinding(
            .unsupported, file: name, offset: before.offset, first: before.nextSequence,
            last: block.nextSequence &- 1, what: what)
        }
        if slot?.durable == walk.link.mark { isMarkSeen = true }
        try visit(block, payload)
      case .invalid(let why):
        problem = why
      }
    }
    let link = walk.link
    var tail = try Tail(file: file, from: link, segment: segment, size: size)
    // HEAD's offsets refer to the segment as it was first written.
    if let slot { tail.promise(segment.isRewritten ? 0 : slot.durable.offset, through: slot.lastSequence) }
    var state = try judge(
      tail, problem: problem, link: link, segment: segment, slot: slot, file: file, name: name)
    assert(state != .torn || tail.promised <= link.offset, "a torn tail contains nothing that was promised")
    if let unsupported { state = .unsupported(unsupported) }
    var staleHead: StoreFinding?
    if let slot, !segment.isRewritten, slot.durable.offset <= link.offset, !isMarkSeen {
      staleHead = slot.stale(after: link, in: name)
    }
    return TailAssessment(
      link: link, promised: tail.promised, lastPromised: tail.lastPromised, fileSize: size, state: state,
      staleHead: staleHead)
  }

  private static func judge(
    _ tail: Tail, problem: BlockProblem?, link: BlockLink, segment: SegmentHeader, slot: HeadSlot?,
    file: any File, name: String
  ) throws(StoreError) -> TailAssessment.State {
    let isShort = tail.size < tail.promised
    // A rewritten segment is closed: its header names its end.
    let mustBeWhole =
      segment.isRewritten && (link.offset < tail.size || link.offset < segment.rewrittenEnd)
    var isBehindClean = false
    if let slot, slot.isClean, !segment.isRewritten, slot.durable.offset < tail.size {
      isBehindClean = try !file.isZero(from: slot.durable.offset, to: tail.size)
    }
    if tail.promised > link.offset || isShort || isBehindClean || mustBeWhole {
      let offset = link.offset
      let last = max(tail.lastPromised, link.lastSequence)
      func finding(_ kind: StoreFinding.Class, _ what: String) -> TailAssessment.State {
        .corrupt(
          StoreFinding(kind, file: name, offset: offset, first: link.nextSequence, last: last, what: what))
      }
      if mustBeWhole, offset == tail.size {
        return finding(.missing, "the file ends before its header says")
      }
      if isShort, tail.size <= offset {
        return finding(.missing, "the file is \(tail.promised - tail.size) bytes shorter than was promised")
      }
      switch problem {
      case .misplaced(let what): return finding(.misplaced, what)
      case .stale(let what): return finding(.stale, what)
      case .corrupt(let what): return finding(.corrupt, what)
      case nil: return finding(.corrupt, "there are blocks after the end that a clean close promised")
      }
    }
    return tail.isZero ? .clean : .torn
  }
}

extension HeadSlot {
  /// The highest sequence that HEAD's marks name.
  package var lastSequence: UInt64 { max(visible.sequence, durable.sequence) }

  /// The finding for a durable mark that is not the end of a block of the segment that it names.
  package func stale(after link: BlockLink, in name: String) -> StoreFinding {
    StoreFinding(
      .stale, file: StoreLayout.headName, offset: 0, first: link.nextSequence,
      last: max(lastSequence, link.lastSequence),
      what: "HEAD's durable mark is not the end of a block of \(name) with that sequence and chain")
  }
}

/// The bytes after X.
private struct Tail {
  var size: UInt64
  var promised: UInt64 = 0
  var lastPromised: UInt64 = 0
  var isZero = true

  /// Searches every multiple of 8 from X on for headers that promise something, and for bytes that are not zero. No
  /// length is trusted.
  init(file: any File, from link: BlockLink, segment: SegmentHeader, size: UInt64) throws(StoreError) {
    self.size = size
    guard link.offset < size else { return }
    var window = SegmentWindow(file: file)
    var offset = link.offset
    let step = 1 << 16
    let magic = UInt32(littleEndian: BlockHeader.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
    while offset < size {
      let bytes = try window.bytes(at: offset, length: step + BlockHeader.lengthMax, limit: size)
      guard bytes.count > 0 else { break }
      let stop = min(step, bytes.count)
      var place = 0
      while place < stop {
        if place + 8 <= bytes.count {
          let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
          if word != 0 {
            isZero = false
            if UInt32(truncatingIfNeeded: UInt64(littleEndian: word)) == magic {
              consider(bytes, place, at: offset + UInt64(place), link: link, segment: segment)
            }
          }
        } else if bytes[place...].contains(where: { $0 != 0 }) {
          isZero = false
        }
        place += 8
      }
      offset += UInt64(step)
    }
  }

  private mutating func consider(
    _ bytes: UnsafeRawBufferPointer, _ place: Int, at offset: UInt64, link: BlockLink, segment: SegmentHeader
  ) {
    guard let block = BlockHeader(decoding: UnsafeRawBufferPointer(rebasing: bytes[place...])),
      block.ownOffset == offset, block.segment == segment.segment, block.storeID == segment.storeID,
      block.epoch >= link.epoch, block.syncedThrough <= block.ownOffset
    else { return }
    promise(block.syncedThrough, through: block.nextSequence &- 1)
  }

  mutating func promise(_ offset: UInt64, through sequence: UInt64) {
    promised = max(promised, offset)
    lastPromised = max(lastPromised, sequence)
  }
}

extension File {
  /// True when all bytes of a range are zero.
  package func isZero(from start: UInt64, to end: UInt64) throws(StoreError) -> Bool {
    var window = SegmentWindow(file: self)
    var offset = start
    while offset < end {
      let bytes = try window.bytes(at: offset, length: 1 << 16, limit: end)
      guard bytes.count > 0 else { return true }
      if !bytes.isAllZero { return false }
      offset += UInt64(bytes.count)
    }
    return true
  }
}

extension UnsafeRawBufferPointer {
  /// True when every byte is zero.
  package var isAllZero: Bool {
    var place = 0
    while place + 8 <= count {
      if loadUnaligned(fromByteOffset: place, as: UInt64.self) != 0 { return false }
      place += 8
    }
    return self[place...].allSatisfy { $0 == 0 }
  }
}
