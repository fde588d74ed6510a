// What is known of an undamaged store: where its blocks stand, and what each says.

import StrataLog
import StrataSimulation

/// A store whose every byte is right, taken apart once.
struct PlainStore {
  struct Block {
    var begin: Int
    var end: Int
    /// Where its header ends.
    var headerEnd: Int
    var epoch: UInt64
    var syncedThrough: UInt64
    /// The last sequence that it counts.
    var last: UInt64
  }

  /// The end of a block, or of the header before all of them.
  struct End: Equatable {
    var offset: Int
    var nextSequence: UInt64
    var chain: UInt64
    var epoch: UInt64
  }

  struct Segment {
    var bytes: [UInt8]
    var header: SegmentHeader
    var blocks: [Block] = []
    var ends: [End] = []

    var isRewritten: Bool { header.isRewritten }
    /// The last sequence in it.
    var last: UInt64 { ends[ends.count - 1].nextSequence - 1 }
    /// Where its blocks end.
    var end: Int { ends[ends.count - 1].offset }
  }

  let name: String
  let files: [String: [UInt8]]
  let segments: [SegmentName: Segment]

  var firsts: [SegmentName] { segments.keys.sorted() }

  init(named name: String) throws {
    self.name = name
    files = try GoldenText(named: name).files
    var segments: [SegmentName: Segment] = [:]
    for (path, bytes) in files where path.hasSuffix(".seg") {
      let header = try bytes.withUnsafeBytes { try SegmentHeader(decoding: $0) }
      var segment = Segment(bytes: bytes, header: header)
      segment.ends = [
        End(
          offset: SegmentHeader.length, nextSequence: header.firstSequence, chain: header.previousChain,
          epoch: header.epoch)
      ]
      var offset = SegmentHeader.length
      while offset < bytes.count, let block = Self.header(bytes, at: offset) {
        let end = offset + Int(block.span)
        segment.blocks.append(
          Block(
            begin: offset, end: end, headerEnd: offset + Int(block.headerLength), epoch: block.epoch,
            syncedThrough: block.syncedThrough, last: block.firstSequence + UInt64(block.eventCount) &- 1))
        offset = end
        segment.ends.append(
          End(
            offset: end, nextSequence: block.firstSequence + UInt64(block.eventCount),
            chain: block.chainAfter,
            epoch: block.epoch))
      }
      segments[header.segment] = segment
    }
    self.segments = segments
  }

  private static func header(_ bytes: [UInt8], at offset: Int) -> BlockHeader? {
    bytes.withUnsafeBytes { BlockHeader(decoding: UnsafeRawBufferPointer(rebasing: $0[offset...])) }
  }

  // MARK: HEAD of every age

  /// A HEAD that this store may have had, or none.
  struct Head: CustomStringConvertible {
    var slot: HeadSlot?
    /// The slot before it.
    var older: HeadSlot?
    var description: String {
      guard let slot else { return "no HEAD" }
      return "HEAD at \(slot.segment)+\(slot.durable.offset)\(slot.isClean ? ", clean" : "")"
    }

    /// The newer slot is the second.
    var bytes: [UInt8]? {
      guard let slot else { return nil }
      let first = older?.encoded() ?? Array(repeating: 0, count: HeadSlot.length)
      return first + Array(repeating: 0, count: HeadSlot.offsets[1] - first.count) + slot.encoded()
    }
  }

  /// No HEAD, one with its marks at each end of each block that a writer wrote, and the one of a clean close.
  func heads() -> [Head] {
    var heads = [Head()]
    var older: HeadSlot?
    var generation: UInt64 = 1
    for first in firsts {
      guard let segment = segments[first], !segment.isRewritten else { continue }
      for (number, end) in segment.ends.enumerated() {
        let mark = LogMark(offset: UInt64(end.offset), sequence: end.nextSequence - 1, chain: end.chain)
        var slot = HeadSlot(
          storeID: segment.header.storeID, generation: generation, segment: first, epoch: 9, isClean: false,
          durability: 2, visible: mark, durable: mark, lastTime: 0, logBegin: firsts[0].firstSequence)
        heads.append(Head(slot: slot, older: older))
        if first == firsts.last, number == segment.ends.count - 1 {
          // Both slots say so, or a flipped bit would bring the other back: that is the next age.
          slot.isClean = true
          heads.append(Head(slot: slot, older: older))
        }
        older = slot
        older?.isClean = false
        generation += 1
      }
    }
    return heads
  }
}
