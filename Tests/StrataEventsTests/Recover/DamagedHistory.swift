// A store with random appends, erasures and seals, whose blocks are known, and that is damaged then.

import StrataBase
import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

struct DamagedHistory {
  struct Event: Equatable {
    var sequence: UInt64
    var stream: [UInt8]
    var type: [UInt8]
    var metadata: [UInt8]
    var payload: [UInt8]
    var id: [UInt8]
    var time: Int64
    var isErased: Bool

    var isOfErasures: Bool { stream == Array(ErasureEvent.stream.text.utf8) }

    var isFiller: Bool {
      stream == Array(LossEvent.stream.text.utf8) && type == Array(LossEvent.type.utf8) && !isErased
    }
  }

  struct Block {
    var segment: SegmentName
    /// The bytes in the file.
    var range: Range<Int>
    var sequences: Range<UInt64>
  }

  let disk = SimulatedDisk()
  private(set) var events: [Event] = []
  private(set) var hasHead = true
  private var blocks: [Block] = []
  private var damaged: [SegmentName: [Range<Int>]] = [:]

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.sealsInBackground = false
    return options
  }

  init(_ random: inout SeededGenerator) throws {
    var options = Self.options
    options.segmentSizeTarget = [1_500, 6_000, 20_000].randomElement(using: &random)!
    options.blockSizeTarget = [400, 4_000].randomElement(using: &random)!
    options.saltsEvents = Bool.random(using: &random)
    options.padsGroupsToPages = Int.random(in: 0..<5, using: &random) == 0
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    for number in 0..<Int.random(in: 5...70, using: &random) {
      let events = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
          UInt8.random(in: 0...3, using: &random)
        }
        let stream = StreamName(category: "a", id: String(Int.random(in: 0..<6, using: &random)))
        return NewEvent(
          "t", in: stream, payload: .opaque(bytes),
          metadata: Bool.random(using: &random) ? ["by": DocumentValue(number)] : [:])
      }
      let time =
        Int.random(in: 0..<3, using: &random) == 0
        ? Timestamp(nanoseconds: Int64.random(in: 0..<(1 << 61), using: &random)) : nil
      try store.appendBlocking(events, id: Bool.random(using: &random) ? "id \(number)" : nil, time: time)
      switch Int.random(in: 0..<40, using: &random) {
      case 0: _ = try store.sealBlocking()
      case 1:
        // A stream that there is.
        let stream = events[0].stream
        _ = try store.eraseBlocking(Erasure(streams: [stream], because: "asked for"))
      default: break
      }
    }
    try store.closeBlocking()
    events = try events(of: "/store")
    for name in try SegmentCatalog.names(disk, StoreLayout(root: "/store")) {
      blocks += Self.blocks(disk, name)
    }
  }

  /// The blocks of a segment without damage.
  static func blocks(_ disk: SimulatedDisk, _ name: SegmentName) -> [Block] {
    let path = "/store/" + name.path
    guard let file = try? disk.open(path, .read),
      let header = try? SegmentHandle.readHeader(of: file, first: name, storeID: nil),
      let size = disk.contents(path)?.count
    else { return [] }
    var walk = BlockWalk(file: file, segment: header, limit: UInt64(size))
    var blocks: [Block] = []
    while !walk.isAtLimit, case .valid(let block, _)? = try? walk.next() {
      guard !block.isControl else { continue }
      blocks.append(
        Block(
          segment: name, range: Int(block.ownOffset)..<Int(block.end),
          sequences: block.firstSequence..<block.nextSequence))
    }
    return blocks
  }

  /// All events of a store.
  func events(of path: String) throws -> [Event] {
    let store = try EventStore.open(disk, path: path, .readOnly, options: Self.options)
    defer { try? store.closeBlocking() }
    var events: [Event] = []
    var cursor = store.log.cursor(after: 0)
    while let block = try cursor.next() {
      try block.forEachEvent { event, append, sequence throws(ContentProblem) in
        events.append(
          Event(
            sequence: sequence, stream: Array(event.stream), type: Array(event.type),
            metadata: Array(event.metadata), payload: Array(event.payload), id: Array(append.id),
            time: append.commitTime, isErased: event.kind == EventKind.erased))
      }
    }
    return events
  }

  // MARK: Damage

  mutating func damage(_ random: inout SeededGenerator) throws {
    let names = try SegmentCatalog.names(disk, StoreLayout(root: "/store"))
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let name = names.randomElement(using: &random)!
      let path = "/store/" + name.path
      guard var bytes = disk.contents(path), bytes.count > SegmentHeader.length else { continue }
      let begin = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        disk.flipBit(path, begin * 8 + Int.random(in: 0..<8, using: &random))
        damaged[name, default: []].append(begin..<begin + 1)
      case 4:
        let end = min(bytes.count, begin + Int.random(in: 1...3_000, using: &random))
        // Bytes that were zero already are not damaged.
        for place in begin..<end where bytes[place] != 0 {
          damaged[name, default: []].append(place..<place + 1)
        }
        bytes.replaceSubrange(begin..<end, with: [UInt8](repeating: 0, count: end - begin))
        disk.replace(path, bytes)
      case 5:
        let sector = begin / 4096 * 4096
        disk.makeUnreadable(path, sector..<min(sector + 4096, bytes.count))
        damaged[name, default: []].append(sector..<sector + 4096)
      case 6:
        damaged[name, default: []].append(begin..<bytes.count)
        disk.replace(path, Array(bytes[..<begin]))
      case 7:
        let header = Int.random(in: 0..<128, using: &random)
        disk.flipBit(path, header * 8)
      case 8:
        damaged[name, default: []].append(0..<bytes.count)
        disk.delete(path)
      default:
        guard hasHead else { continue }
        hasHead = false
        disk.delete("/store/HEAD")
      }
    }
  }

  func isWhole(_ event: Event) -> Bool {
    guard let block = blocks.first(where: { $0.sequences.contains(event.sequence) }) else { return false }
    return !(damaged[block.segment] ?? []).contains { $0.overlaps(block.range) }
  }

  /// Recovers the store; nil if nothing of it says which store it is, or no file is left.
  func recovered() throws -> StoreRecovery? {
    guard try !SegmentCatalog.names(disk, StoreLayout(root: "/store")).isEmpty else { return nil }
    let recovery = try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    return recovery.eventCount == 0 && !hasHead ? nil : recovery
  }

  /// The new store takes appends, and knows the ids of its appends.
  func goesOn(_ found: [Event]) throws {
    let store = try EventStore.open(disk, path: "/new", .readWrite, options: Self.options)
    if let known = found.first(where: { !$0.id.isEmpty }) {
      let first = try store.log.index.first(ofID: known.id)
      #expect(first == known.sequence)
    }
    try store.appendBlocking([NewEvent("t", in: "a/1", payload: .opaque([1]))])
    try store.closeBlocking()
  }
}
