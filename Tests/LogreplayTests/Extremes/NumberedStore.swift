// A small store that has a number of every kind, and where each is.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

/// Three segments: the first sealed, the second closed behind a recovery, the third active; documents with ids.
struct NumberedStore {
  static let root = "/store"
  static let layout = StoreLayout(root: root)

  static var options: StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.writesInStep = true
    options.preallocationStep = 0
    options.headSyncInterval = .seconds(3_600)
    options.patience = .zero
    return options
  }

  private(set) var files: FileBytesByPath = [:]
  private(set) var segments: [SegmentName] = []
  /// The blocks of each.
  private(set) var blocks: [[BlockHeader]] = []

  init() throws {
    let disk = SimulatedDisk()
    var store = try EventStore.open(
      disk, path: Self.root, .readWrite, options: Self.options, storeID: StoreID(low: 1, high: 2))
    var random = SeededGenerator(seed: 7)
    func append(_ count: Int, _ name: String) throws {
      for number in 0..<count {
        let noise = DocumentValue.bytes((0..<40).map { _ in UInt8.random(in: 0...255, using: &random) })
        let event = NewEvent("$put", in: StreamName("incident/\(number)"), ["noise": noise, "n": 1])
        _ = try store.appendBlocking([event], id: "\(name):\(number)")
      }
    }
    try append(3, "a")
    _ = try store.sealBlocking()
    try append(2, "b")
    let closed = Self.layout.segment(store.log.mark.segment)
    try store.closeBlocking()
    disk.replace(closed, disk.contents(closed)! + [UInt8](repeating: 0xA5, count: 40))
    disk.delete(Self.layout.head)
    store = try EventStore.open(disk, path: Self.root, .readWrite, options: Self.options)
    try append(2, "c")
    try store.log.roll()
    try append(3, "d")
    try store.closeBlocking()
    for path in disk.paths where path.hasPrefix(Self.root + "/") {
      files[String(path.dropFirst(Self.root.count + 1))] = disk.contents(path)
    }
    segments = try SegmentCatalog.names(disk, Self.layout)
    try #require(segments.count == 3)
    try storeFooterPlainly()
    blocks = try segments.map { segment in try Self.disk(files).blocks(of: segment, in: Self.layout) }
    try #require(
      blocks[0].last?.kind == BlockKind.footer && blocks[1].contains { $0.kind == BlockKind.recovery })
    try #require(blocks.joined().allSatisfy { $0.codec == BlockCodec.none }, "a payload is compressed")
  }

  /// A disk with these files in a folder.
  static func disk(_ files: FileBytesByPath, at root: String = root) -> SimulatedDisk {
    let disk = SimulatedDisk()
    for (path, bytes) in files { disk.add("\(root)/\(path)", bytes) }
    return disk
  }

  /// Gives the sealed segment blocks whose payloads are not compressed, as any writer may.
  private mutating func storeFooterPlainly() throws {
    let path = segments[0].path
    let bytes = try #require(files[path])
    let disk = Self.disk(files)
    let file = try disk.open(Self.layout.segment(segments[0]), .read)
    defer { file.close() }
    var header = try SegmentHandle.readHeader(of: file, first: segments[0], storeID: nil)
    var walk = BlockWalk(file: file, segment: header, limit: UInt64(bytes.count))
    var plain = [UInt8](repeating: 0, count: SegmentHeader.length)
    var places: [BlockAddress] = []
    while !walk.isAtLimit {
      guard case .valid(var block, let stored) = try walk.next() else {
        Issue.record("the sealed segment is not valid")
        return
      }
      let decoded = try DecodedBlock(header: block, stored: stored)
      block.ownOffset = UInt64(plain.count)
      block.syncedThrough = block.ownOffset
      if block.kind == BlockKind.footer { header.footerOffset = block.ownOffset }
      let payload = block.kind == BlockKind.footer ? FooterIndex.encoded(places) : Array(decoded.raw)
      if block.kind == BlockKind.events { places.append(BlockAddress(block)) }
      var output = RawBuffer(capacity: 4096)
      payload.withUnsafeBytes { output.append(block: &block, payload: $0, .none) }
      plain += Array(output.bytes)
      withExtendedLifetime(decoded) {}
    }
    header.rewrittenEnd = UInt64(plain.count)
    plain.replaceSubrange(..<SegmentHeader.length, with: header.encoded())
    files[path] = plain
  }

  // MARK: The numbers

  var headFields: [NumberField] {
    typealias Offset = HeadSlot.Offset
    let places: [(String, Int, Int)] = [
      ("major", Offset.major, 2), ("minor", Offset.minor, 2), ("slot length", Offset.slotLength, 4),
      ("generation", Offset.generation, 8), ("segment", Offset.segment, 8), ("epoch", Offset.epoch, 8),
      ("flags", Offset.flags, 4), ("durability", Offset.durability, 4),
      ("visible offset", Offset.visible, 8), ("visible sequence", Offset.visible + 8, 8),
      ("visible chain", Offset.visible + 16, 8), ("durable offset", Offset.durable, 8),
      ("durable sequence", Offset.durable + 8, 8), ("durable chain", Offset.durable + 16, 8),
      ("last time", Offset.lastTime, 8), ("first sequence of all", Offset.logBegin, 8),
    ]
    return places.map {
      NumberField(path: StoreLayout.headName, name: $0.0, offset: $0.1, width: $0.2, seal: .head)
    }
  }

  var segmentHeaderFields: [NumberField] {
    typealias Offset = SegmentHeader.Offset
    let places: [(String, Int, Int)] = [
      ("major", Offset.major, 2), ("minor", Offset.minor, 2), ("header length", Offset.headerLength, 4),
      ("first sequence", Offset.firstSequence, 8), ("read-only features", Offset.readOnlyFeatures, 8),
      ("compatible features", Offset.compatibleFeatures, 8), ("previous first", Offset.previousFirst, 8),
      ("previous last", Offset.previousLast, 8), ("previous chain", Offset.previousChain, 8),
      ("previous time", Offset.previousTime, 8), ("appends before", Offset.appendsBefore, 8),
      ("epoch", Offset.epoch, 8), ("created", Offset.created, 8), ("revision", Offset.revision, 4),
      ("footer offset", Offset.footerOffset, 8), ("rewritten last", Offset.rewrittenLast, 8),
      ("rewritten chain", Offset.rewrittenChain, 8), ("rewritten end", Offset.rewrittenEnd, 8),
    ]
    return [segments[0], segments[2]].flatMap { first in
      places.map {
        NumberField(
          path: first.path, name: $0.0, offset: $0.1, width: $0.2, seal: .segmentHeader)
      }
    }
  }

  var blockHeaderFields: [NumberField] {
    typealias Offset = BlockHeader.Offset
    let places: [(String, Int, Int)] = [
      ("header length", Offset.headerLength, 2), ("flags", Offset.flags, 4),
      ("stored length", Offset.storedLength, 4), ("raw length", Offset.rawLength, 4),
      ("event count", Offset.eventCount, 4), ("append count", Offset.appendCount, 4),
      ("span", Offset.span, 8),
      ("own offset", Offset.ownOffset, 8), ("first sequence", Offset.firstSequence, 8),
      ("appends before", Offset.appendsBefore, 8), ("segment", Offset.segment, 8), ("epoch", Offset.epoch, 8),
      ("synced through", Offset.syncedThrough, 8), ("first time", Offset.firstTime, 8),
      ("last time", Offset.lastTime, 8), ("chain before", Offset.chainBefore, 8),
      ("chain after", Offset.chainAfter, 8),
    ]
    return chosenBlocks.flatMap { path, start, name in
      places.map {
        NumberField(
          path: path, name: "\(name) \($0.0)", offset: start + $0.1, width: $0.2, seal: .block(start))
      }
    }
  }

  /// One block of each kind in each state of a segment.
  private var chosenBlocks: [(path: String, offset: Int, name: String)] {
    func chosen(_ segment: Int, _ block: BlockHeader?, _ name: String) -> (String, Int, String)? {
      block.map { (segments[segment].path, Int($0.ownOffset), name) }
    }
    return [
      chosen(0, blocks[0].first, "sealed block's"), chosen(0, blocks[0].last, "FOOTER's"),
      chosen(1, blocks[1].first { $0.kind == BlockKind.recovery }, "RECOVERY's"),
      chosen(2, blocks[2].last, "last block's"),
    ].compactMap { $0 }
  }

  var payloadFields: [NumberField] {
    func fields(_ segment: Int, _ block: BlockHeader?, _ places: [(String, Int, Int)]) -> [NumberField] {
      guard let block else { return [] }
      let start = Int(block.ownOffset)
      return places.map {
        NumberField(
          path: segments[segment].path, name: $0.0,
          offset: start + BlockHeader.length + $0.1, width: $0.2, seal: .payload(start))
      }
    }
    let footer: [(String, Int, Int)] = [
      ("footer count", 0, 4), ("footer sequence", 8, 8), ("footer time", 16, 8), ("footer appends", 24, 8),
      ("footer offset", 32, 8),
    ]
    let recovery: [(String, Int, Int)] = [
      ("cut offset", RecoveryNote.Offset.cutOffset, 8), ("cut length", RecoveryNote.Offset.cutLength, 8),
      ("recovery time", RecoveryNote.Offset.time, 8), ("path length", RecoveryNote.Offset.pathLength, 2),
    ]
    return fields(0, blocks[0].last, footer)
      + fields(1, blocks[1].first { $0.kind == BlockKind.recovery }, recovery)
      + fields(1, blocks[1].first, eventPlaces(1, blocks[1][0]))
      + fields(2, blocks[2].last, eventPlaces(2, blocks[2].last!))
  }

  /// The commit time and the first revision in a payload, which are not varints.
  private func eventPlaces(_ segment: Int, _ block: BlockHeader) -> [(String, Int, Int)] {
    let bytes = files[segments[segment].path]!
    let start = Int(block.ownOffset) + BlockHeader.length
    return bytes[start..<start + Int(block.storedLength)].withUnsafeBytes { payload in
      var cursor = ByteCursor(payload.baseAddress!, count: payload.count)
      guard let append = try? cursor.nextAppend() else { return [] }
      // Behind the head: the event's length of two bytes at most, its kind and its flags.
      let event = append.events.position - payload.baseAddress!
      let length = payload[event] < 0x80 ? 1 : 2
      let head = append.head.baseAddress! - payload.baseAddress!
      return [("commit time", head + 2, 8), ("event's revision", event + length + 2, 8)]
    }
  }

  var indexFields: [NumberField] {
    let path =
      "\(StoreLayout.derivedName)/\(segments[0].digits).idx"
    guard let count = files[path]?.count else { return [] }
    let places: [(String, Int, Int)] = [
      ("version", 8, 4), ("trailer length", 12, 4), ("first", 32, 8), ("last", 40, 8), ("entries", 56, 8),
      ("chunks", 64, 8), ("chunks length", 72, 8), ("filter length", 80, 8), ("fences length", 88, 8),
      ("ids", 104, 8),
    ]
    return places.map {
      NumberField(
        path: path, name: "index \($0.0)", offset: count - IndexFormat.trailerLength + $0.1, width: $0.2,
        seal: .indexTrailer)
    }
  }
}
