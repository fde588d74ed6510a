// Torn tail or corruption: the one rule of FORMAT.md, applied to the active segment and HEAD.

internal import StrataBase

/// What the rule says of an active segment. Nothing on disk was changed to find out.
package struct TailAssessment: Sendable {
  package enum State: Equatable, Sendable {
    case clean
    /// Bytes behind X that were never acknowledged.
    case torn
    case corrupt(StoreFinding)
    /// Behind X stands a block that needs a newer reader.
    case unsupported(StoreFinding)
  }

  /// X, and what a next block must continue there.
  package var link: BlockLink
  /// D: the highest durability promise found.
  package var promised: UInt64
  /// The highest sequence that HEAD, or a header at or behind X, counts.
  package var lastPromised: UInt64
  package var fileSize: UInt64
  package var state: State
  /// What HEAD gets wrong about the valid prefix, if anything.
  package var staleHead: StoreFinding?

  /// How many bytes a torn tail has.
  package var tornBytes: UInt64 { state == .torn ? fileSize - link.offset : 0 }
}

/// The rule itself.
package enum TailRule {
  /// Applies the rule to one file. `visit` sees every valid block on the way.
  package static func assess(
    file: any File, name: String, segment: SegmentHeader, head: HeadSlot?,
    visit: (BlockHeader, UnsafeRawBufferPointer) throws(StoreError) -> Void = { _, _ throws(StoreError) in }
  ) throws(StoreError) -> TailAssessment {
    let size = UInt64(try file.size())
    let slot = head.flatMap { $0.segment == segment.segment ? $0 : nil }
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
    // HEAD's offsets are those of the segment as it was first written.
    if let slot { tail.promise(segment.isRewritten ? 0 : slot.durable.offset, through: slot.lastSequence) }
    var state = try judge(
      tail, problem: problem, link: link, segment: segment, slot: slot, file: file, name: name)
    assert(state != .torn || tail.promised <= link.offset, "what was promised is no tail to be cut off")
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
    // A rewritten segment is a closed one: its header names its end.
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
      case nil: return finding(.corrupt, "blocks stand behind the end that a clean close promised")
      }
    }
    return tail.isZero ? .clean : .torn
  }
}

extension HeadSlot {
  /// The highest sequence that HEAD's marks name.
  package var lastSequence: UInt64 { max(visible.sequence, durable.sequence) }

  /// The finding where the durable mark is no place of the segment that it names.
  package func stale(after link: BlockLink, in name: String) -> StoreFinding {
    StoreFinding(
      .stale, file: StoreLayout.headName, offset: 0, first: link.nextSequence,
      last: max(lastSequence, link.lastSequence),
      what: "HEAD's durable mark is not the end of a block of \(name) with that sequence and chain")
  }
}

/// What stands behind X.
private struct Tail {
  var size: UInt64
  var promised: UInt64 = 0
  var lastPromised: UInt64 = 0
  var isZero = true

  /// Looks at every multiple of 8 behind X for headers that promise something, and for bytes that are not
  /// zero. No length is trusted.
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
