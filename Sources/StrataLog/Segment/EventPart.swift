// Decoded bytes of a block, in which single events are found.

internal import StrataBase

/// Events of one block that follow each other, and their bytes: a whole block, its beginning, or a part of one that is
/// packed in memory. Finding an event passes fewer than `markStep` others, except in a part that is decoded for one read,
/// which has no marks. Immutable, so it may be shared between threads.
package final class EventPart: @unchecked Sendable {
  // Safe to share: nothing changes after `init`.

  package static let markStep = 8
  /// The bytes that a part takes besides its content and its marks, approximately.
  private static let overhead = 320

  package let header: BlockHeader
  package let firstSequence: UInt64
  /// The sequence after the last event that is here whole.
  package let endSequence: UInt64
  /// The content, which this object owns.
  private let bytes: UnsafeMutableRawBufferPointer
  private let begin: EventMark
  /// Where each event is whose index is a multiple of `markStep`, except for the first.
  private let marks: [EventMark]

  /// Takes over bytes of a block from its beginning on.
  ///
  /// - Parameter isCut: whether they are not all, so that the last event may be incomplete.
  private init(
    _ header: BlockHeader, taking bytes: UnsafeMutableRawBufferPointer, isCut: Bool
  ) throws(ContentProblem) {
    self.header = header
    self.bytes = bytes
    firstSequence = header.firstSequence
    begin = EventMark()
    var marks: [EventMark] = []
    do throws(ContentProblem) {
      let count = try UnsafeRawBufferPointer(bytes).forEachMark(of: header, isCut: isCut) { mark, _, index in
        if index > 0, index % Self.markStep == 0 { marks.append(mark) }
      }
      endSequence = firstSequence + UInt64(count)
    } catch {
      bytes.deallocate()
      throw error
    }
    self.marks = marks
  }

  /// Takes over bytes that were a part of a packed block, or the beginning of one.
  ///
  /// - Parameter isKept: whether many reads will look for events in it.
  init(
    _ header: BlockHeader, _ sequences: Range<UInt64>, from begin: EventMark,
    taking bytes: UnsafeMutableRawBufferPointer, isKept: Bool
  ) {
    self.header = header
    self.bytes = bytes
    self.begin = begin
    firstSequence = sequences.lowerBound
    var marks: [EventMark] = []
    if isKept { marks.reserveCapacity(sequences.count / Self.markStep) }
    var walk = EventWalk(UnsafeRawBufferPointer(bytes), begin)
    var count = 0
    while count < sequences.count {
      if isKept, count > 0, count % Self.markStep == 0 {
        marks.append(walk.mark(in: UnsafeRawBufferPointer(bytes)))
      }
      guard walk.pass() else { break }
      count += 1
    }
    endSequence = sequences.lowerBound + UInt64(count)
    self.marks = marks
  }

  deinit { bytes.deallocate() }

  /// The bytes of memory that it takes.
  package var byteCount: Int {
    bytes.count + marks.count * MemoryLayout<EventMark>.stride + Self.overhead
  }

  /// An event of the part, and the own time of its append. Valid as long as the part.
  package func event(_ sequence: UInt64) throws(StoreError) -> (event: EventView, time: Int64) {
    precondition(sequence >= firstSequence && sequence < endSequence, "the part does not have the event")
    let index = Int(sequence - firstSequence)
    let markCount = min(index / Self.markStep, marks.count)
    var walk = EventWalk(UnsafeRawBufferPointer(bytes), markCount > 0 ? marks[markCount - 1] : begin)
    for _ in markCount * Self.markStep..<index { _ = walk.pass() }
    do throws(DecodingProblem) { return (try walk.event(), walk.time) } catch {
      throw ContentProblem(error).storeError(of: header, through: sequence)
    }
  }
}

extension EventPart {
  /// A block is decoded whole if a read needs more than this share of it.
  private static let longShare = 0.75

  /// Decodes a stored payload as far as an event needs it, or more. Lengths must have been checked by `BlockSource`, and
  /// the checksum of the stored bytes too: what is not decoded is known to be as it was written.
  package static func decoding(
    _ header: BlockHeader, stored: UnsafeRawBufferPointer, through sequence: UInt64
  ) throws(ContentProblem) -> EventPart {
    if let problem = header.unsupported { throw .unsupported(problem) }
    let length = lengthNeeded(of: header, through: sequence)
    if length < Int(header.rawLength), header.codec == BlockCodec.lz4 {
      let part = try decoding(header, stored: stored, length: length)
      if sequence < part.endSequence { return part }
    }
    return try decoding(header, stored: stored, length: Int(header.rawLength))
  }

  /// The bytes up to the end of an event, if all events are about as long as each other, and some more.
  private static func lengthNeeded(of header: BlockHeader, through sequence: UInt64) -> Int {
    let length = Int(header.rawLength)
    assert(header.firstSequence <= sequence && sequence < header.nextSequence, "the block has the event")
    let share = Double(sequence - header.firstSequence + 1) / Double(max(1, header.eventCount))
    let needed = Int(Double(length) * share) + length / 16 + 1024
    return Double(needed) > Double(length) * longShare ? length : needed
  }

  private static func decoding(
    _ header: BlockHeader, stored: UnsafeRawBufferPointer, length: Int
  ) throws(ContentProblem) -> EventPart {
    let isCut = length < Int(header.rawLength)
    let target = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
    let isDecoded =
      if header.codec == BlockCodec.none {
        stored.count >= length
      } else if isCut {
        Compression.decompress(stored, beginningInto: target)
      } else {
        Compression.decompress(stored, into: target)
      }
    guard isDecoded else {
      target.deallocate()
      throw .damaged("the payload is not LZ4 for \(length) bytes")
    }
    if header.codec == BlockCodec.none {
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: stored[..<length]))
    }
    return try EventPart(header, taking: target, isCut: isCut)
  }
}
