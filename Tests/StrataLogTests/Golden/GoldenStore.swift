// Small stores whose every byte a test may damage, and what must come of it.

import StrataLog
import StrataSimulation
import Testing

/// A store with some appends in its active segment, on a simulated disk, under a HEAD of some age.
struct GoldenStore {
  /// What became of HEAD.
  enum Head: String, CaseIterable {
    /// As the last acknowledged append left it.
    case fresh
    /// As a power cut may leave it: from when the store was opened.
    case stale
    case missing
    /// The store was closed cleanly.
    case clean
  }

  static let root = "/store"
  static let layout = StoreLayout(root: root)
  let disk: SimulatedDisk
  let model: LogModel
  /// The active segment.
  let active: SegmentName
  /// Appends that stand before each block's end in the active segment, by the offset of that end.
  let ends: [(offset: UInt64, appends: Int)]
  let options: StoreOptions

  var segment: String { Self.layout.segment(active) }
  var bytes: [UInt8] { disk.contents(segment)! }

  static func options(pads: Bool = false) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 6_000
    options.sealsInBackground = false
    options.blockSizeTarget = 200
    options.padsGroupsToPages = pads
    options.headSyncInterval = .seconds(3_600)
    return options
  }

  /// One closed segment and an active one with a few blocks.
  init(_ head: Head, seed: UInt64 = 1, pads: Bool = false, durability: Durability = .synced) throws {
    let disk = SimulatedDisk()
    var options = Self.options(pads: pads)
    options.durability = durability
    var model = LogModel()
    var source = RandomAppends(seed: seed, sizeTypical: 60, sizeMax: 120, streamCount: 4, eventsMax: 3)
    let id = StoreID(low: 7, high: 9)
    func append(_ log: Log, _ count: Int) throws {
      for _ in 0..<count {
        let append = source.append()
        model.add(append, time: try log.appendBlocking(append.draft()).time)
      }
    }
    let first = try Log.openWriter(disk, path: Self.root, options: options, storeID: id)
    while first.mark.segment == 1 { try append(first, 1) }
    try first.close()
    let log = try Log.openWriter(disk, path: Self.root, options: options, storeID: id)
    let opened = disk.contents(Self.layout.head)!
    try append(log, 4)
    if head == .clean {
      try log.close()
    } else {
      let live = disk.contents(Self.layout.head)!
      try log.close()
      disk.replace(Self.layout.head, head == .stale ? opened : live)
      if head == .missing { disk.delete(Self.layout.head) }
    }
    self.disk = disk
    self.model = model
    self.options = options
    active = log.mark.segment
    var ends: [(UInt64, Int)] = [(UInt64(SegmentHeader.length), 0)]
    let file = try disk.open(Self.layout.segment(active), .read)
    let header = try SegmentHandle.readHeader(of: file, first: active, storeID: nil)
    ends[0].1 = Int(header.appendsBefore)
    var walk = BlockWalk(file: file, segment: header, limit: UInt64(try file.size()))
    while !walk.isAtLimit, case .valid = try walk.next() {
      ends.append((walk.link.offset, Int(walk.link.appends)))
    }
    file.close()
    self.ends = ends
  }

  /// The appends before X.
  func appends(upTo offset: UInt64) -> Int { ends.last { $0.offset <= offset }!.appends }

  /// A copy of the disk with another active segment.
  func damaged(_ bytes: [UInt8]) -> SimulatedDisk {
    let copy = disk.clone()
    copy.replace(segment, bytes)
    return copy
  }
}

/// What the rule of FORMAT.md says of an active segment, computed from the bytes by itself: no code of the
/// log's is asked but the decoding of a header whose checksum holds.
struct ExpectedRule {
  enum State: Equatable { case clean, torn, corrupt }
  var state: State
  var validEnd: UInt64

  /// `pristine` are the bytes as they were written, `ends` the ends of their blocks: X is the last end before
  /// the first byte that differs, because every byte of a block is under a checksum or must be zero.
  init(bytes: [UInt8], pristine: [UInt8], store: GoldenStore, head: HeadSlot?) {
    let firstDifference =
      zip(bytes, pristine).enumerated().first { $0.element.0 != $0.element.1 }?.offset
      ?? min(bytes.count, pristine.count)
    let isWhole = bytes.count >= pristine.count && firstDifference == pristine.count
    validEnd = isWhole ? UInt64(pristine.count) : store.ends.last { $0.offset <= firstDifference }!.offset
    var promised: UInt64 = 0
    let slot = head.flatMap { $0.segment == store.active ? $0 : nil }
    if let slot { promised = slot.durable.offset }
    for (offset, _) in store.ends where offset >= validEnd {
      let place = Int(offset)
      guard place + BlockHeader.length <= bytes.count else { continue }
      let header = bytes.withUnsafeBytes {
        BlockHeader(decoding: UnsafeRawBufferPointer(rebasing: $0[place...]))
      }
      if let header { promised = max(promised, header.syncedThrough) }
    }
    let tail = bytes.dropFirst(Int(validEnd))
    let isZero = tail.allSatisfy { $0 == 0 }
    let isBehindClean =
      slot?.isClean == true && !bytes.dropFirst(Int(slot!.durable.offset)).allSatisfy { $0 == 0 }
    if promised > validEnd || promised > UInt64(bytes.count) || isBehindClean {
      state = .corrupt
    } else {
      state = isZero ? .clean : .torn
    }
  }
}
