// Stores whose files a test writes itself, with checksums that hold.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

/// A closed store of noise, whose blocks stand uncompressed and are all of one length, one append in each.
struct ForgedStore {
  static let layout = FaultStore.layout
  let disk: SimulatedDisk
  let options: StoreOptions
  let model: LogModel

  init(
    appends: Int, seed: UInt64 = 1, segmentSizeTarget: Int = 1 << 20, storeID: StoreID = FaultStore.storeID
  ) throws {
    options = FaultStore.options(segmentSizeTarget: segmentSizeTarget)
    disk = SimulatedDisk()
    var model = LogModel()
    let log = try Log.openWriter(disk, path: FaultStore.root, options: options, storeID: storeID)
    var random = SeededGenerator(seed: seed)
    for number in 0..<appends {
      let noise = (0..<301).map { _ in UInt8.random(in: 0...255, using: &random) }
      let append = ModelAppend([ModelEvent(stream: "s", type: "t", payload: noise)], id: "id-\(100 + number)")
      model.add(append, time: try log.appendBlocking(append.draft()).time)
    }
    try log.close()
    self.model = model
  }

  func bytes(_ first: SegmentName = 1) -> [UInt8] { disk.contents(Self.layout.segment(first))! }

  /// The blocks of a segment as they were written.
  func blocks(_ first: SegmentName = 1) throws -> [BlockHeader] {
    try disk.blocks(of: first, in: Self.layout)
  }

  /// A copy with other bytes in a segment, under the same HEAD or under none.
  func with(_ bytes: [UInt8], in first: SegmentName = 1, keepsHead: Bool = true) -> SimulatedDisk {
    let copy = disk.clone()
    copy.replace(Self.layout.segment(first), bytes)
    if !keepsHead { copy.delete(Self.layout.head) }
    return copy
  }

  /// A block's bytes from a header and a payload; lengths, span and checksums are set.
  static func block(_ header: BlockHeader, _ payload: [UInt8], rawLength: Int? = nil) -> [UInt8] {
    var header = header
    header.storedLength = UInt32(payload.count)
    header.rawLength = UInt32(rawLength ?? payload.count)
    header.span = UInt64(FormatLimits.aligned(BlockHeader.length + payload.count))
    header.payloadChecksum = payload.withUnsafeBytes { CRC32C.of($0) }
    var bytes = [UInt8](repeating: 0, count: Int(header.span))
    bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress!) }
    bytes.replaceSubrange(BlockHeader.length..<BlockHeader.length + payload.count, with: payload)
    return bytes
  }

  /// A header for a block behind the last one of segment 1.
  func headerBehindEnd(kind: UInt8) throws -> BlockHeader {
    var header = try #require(try blocks().last)
    (header.ownOffset, header.syncedThrough) = (header.end, header.end)
    header.firstSequence = header.nextSequence
    header.appendsBefore += UInt64(header.appendCount)
    header.chainBefore = header.chainAfter
    (header.kind, header.codec, header.eventCount, header.appendCount) = (kind, BlockCodec.none, 0, 0)
    return header
  }
}
