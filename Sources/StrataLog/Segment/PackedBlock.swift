// A block in memory, compressed in short parts, so that an event of it costs a few kilobytes of decoding.

internal import StrataBase
internal import Synchronization

/// A decoded block that was cut between events into parts of about `partLength` bytes, each compressed by itself. It
/// takes a fifth or so of the decoded bytes, and a third more than the block on disk, where bytes can refer to all those
/// before them. Immutable but for the counts of reads, so it may be shared between threads.
final class PackedBlock: @unchecked Sendable {
  // Safe to share: the bytes do not change after `init`, and the counts are atomic.

  /// The decoded bytes of a part; one event that is longer is a part of its own.
  static let partLength = 8 << 10
  /// Each part is decoded whole, and handed out for keeping, once in that many reads. The others decode it as far as
  /// they need it.
  private static let keptOnce: UInt32 = 8
  private static let overhead = 512

  private struct Part {
    var begin: EventMark
    /// The index of its first event in the block.
    var first: UInt32
    /// The offset of its bytes in `stored`.
    var offset: UInt32
    var rawLength: UInt32
    /// Whether the bytes are compressed.
    var isCompressed: Bool
  }

  let header: BlockHeader
  private let parts: [Part]
  private let stored: UnsafeRawBufferPointer
  /// How often a part was decoded, of all parts together.
  private let readCount = Atomic<UInt32>(0)

  /// Packs a block. O(its bytes), about a nanosecond each.
  init(_ block: DecodedBlock) throws(ContentProblem) {
    header = block.header
    let raw = block.raw
    var parts: [Part] = []
    parts.reserveCapacity(raw.count / Self.partLength * 5 / 4 + 1)
    var begin = 0
    _ = try raw.forEachMark(of: header) { mark, append, index in
      // An append's head is in the part of its first event.
      let offset = append ?? mark.offset
      if index > 0, Int(offset) - begin < Self.partLength { return }
      let from = append.map { EventMark(offset: $0) } ?? mark
      begin = Int(offset)
      parts.append(Part(begin: from, first: UInt32(index), offset: 0, rawLength: 0, isCompressed: true))
    }
    var output = RawBuffer(capacity: raw.count / 4 + Self.partLength)
    for index in parts.indices {
      let from = Int(parts[index].begin.offset)
      let to = index + 1 < parts.count ? Int(parts[index + 1].begin.offset) : raw.count
      let bytes = UnsafeRawBufferPointer(rebasing: raw[from..<to])
      let room = Compression.bound(bytes.count)
      let target = UnsafeMutableRawBufferPointer(start: output.reserve(room), count: room)
      parts[index].offset = UInt32(output.count)
      parts[index].rawLength = UInt32(bytes.count)
      parts[index].begin.offset = 0
      if let count = Compression.compress(bytes, into: target, .fast) {
        output.count += count
      } else {
        parts[index].isCompressed = false
        output.append(bytes)
      }
    }
    withExtendedLifetime(block) {}
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: output.count, alignment: 16)
    copy.copyMemory(from: output.bytes)
    stored = UnsafeRawBufferPointer(copy)
    self.parts = parts
  }

  deinit { stored.deallocate() }

  /// The bytes of memory that it takes.
  var byteCount: Int { stored.count + parts.count * MemoryLayout<Part>.stride + Self.overhead }

  /// The index of the part that has an event.
  func index(of sequence: UInt64) -> Int {
    let number = sequence - header.firstSequence
    return parts.countAhead { $0.first <= number } - 1
  }

  private func end(ofPart index: Int) -> UInt32 {
    index + 1 < parts.count ? parts[index + 1].first : header.eventCount
  }

  /// The sequence after the last event of a part.
  func endSequence(ofPart index: Int) -> UInt64 { header.firstSequence + UInt64(end(ofPart: index)) }

  /// Decodes a part as far as its events are needed, and now and then whole.
  ///
  /// - Parameter last: the last event that is wanted; one that the part does not have is left out.
  /// - Returns: some events, the one with the sequence among them, and whether they may be kept.
  func part(
    _ index: Int, holding sequence: UInt64, through last: UInt64
  ) -> (part: EventPart, mayBeKept: Bool) {
    let part = parts[index]
    let end = end(ofPart: index)
    let length = Int(part.rawLength)
    let mayBeKept = readCount.wrappingAdd(1, ordering: .relaxed).newValue % Self.keptOnce == 0
    if !mayBeKept {
      let wanted = min(max(sequence, last), endSequence(ofPart: index) - 1)
      let share = Double(wanted - header.firstSequence - UInt64(part.first) + 1) / Double(end - part.first)
      let needed = Int(Double(length) * share) + length / 8
      if needed < length {
        let cut = decode(part, index, end, length: needed, isKept: false)
        if sequence < cut.endSequence { return (cut, false) }
      }
    }
    let whole = decode(part, index, end, length: length, isKept: mayBeKept)
    assert(
      whole.endSequence == header.firstSequence + UInt64(end), "a part has the events that were put into it")
    return (whole, mayBeKept)
  }

  private func decode(
    _ part: Part, _ index: Int, _ end: UInt32, length: Int, isKept: Bool
  ) -> EventPart {
    let storedEnd = index + 1 < parts.count ? Int(parts[index + 1].offset) : stored.count
    let bytes = UnsafeRawBufferPointer(rebasing: stored[Int(part.offset)..<storedEnd])
    let target = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
    if part.isCompressed {
      let isDecoded =
        length < Int(part.rawLength)
        ? Compression.decompress(bytes, beginningInto: target) : Compression.decompress(bytes, into: target)
      precondition(isDecoded, "memory holds what was put there")
    } else {
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<length]))
    }
    let first = header.firstSequence + UInt64(part.first)
    return EventPart(
      header, first..<header.firstSequence + UInt64(end), from: part.begin, taking: target,
      isKept: isKept)
  }
}
