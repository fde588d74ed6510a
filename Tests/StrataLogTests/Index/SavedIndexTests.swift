// The saved index of the active segment: what an open takes from it, and when it takes nothing.

import StrataBase
import StrataSimulation
import Testing

@testable import StrataLog

@Suite struct SavedIndexTests {
  private static let path = "/store"
  private static let layout = StoreLayout(root: path)
  private static let file = layout.index(1)

  private static func options(_ eventsMin: Int = 16, segmentSize: Int = 1 << 20) -> StoreOptions {
    var options = StoreOptions.still(segmentSize: segmentSize, blockSize: 100)
    options.savedIndexEventsMin = eventsMin
    return options
  }

  /// Appends events, each in a block of its own, and closes.
  @discardableResult
  private static func use(
    _ disk: SimulatedDisk, _ options: StoreOptions = options(), appends: Range<Int>, stream: String = "s",
    storeID: StoreID? = nil
  ) throws -> (base: UInt64, tables: Int) {
    let log = try Log.openWriter(disk, path: path, options: options, storeID: storeID)
    let found = log.index.active.withLock { ($0.base?.lastSequence ?? 0, $0.eventCount) }
    for number in appends {
      let event = ModelEvent(
        stream: "\(stream)/\(number % 5)", type: "t", payload: Bytes(repeating: 1, count: 40))
      _ = try log.appendBlocking(ModelAppend([event], id: "\(stream)-\(number)").draft())
    }
    try log.close()
    return found
  }

  private static func covered(_ disk: SimulatedDisk) -> UInt64? {
    IndexFile.identity(disk, path: file)?.lastSequence
  }

  @Test func `an open reads only the events that the saved index does not cover`() throws {
    let disk = SimulatedDisk()
    try Self.use(disk, appends: 0..<15)
    #expect(Self.covered(disk) == nil, "few events are not worth an index")
    #expect(try Self.use(disk, appends: 15..<200) == (0, 15))
    #expect(Self.covered(disk) == 200)
    #expect(try Self.use(disk, appends: 200..<220) == (200, 0))
    #expect(Self.covered(disk) == 200, "fewer than an eighth are not worth another one")
    #expect(try Self.use(disk, appends: 220..<230) == (200, 20))
    #expect(Self.covered(disk) == 230)
    #expect(try Self.use(disk, appends: 0..<0) == (230, 0))
    let log = try Log.openWriter(disk, path: Self.path, options: Self.options())
    for number in 0..<230 {
      #expect(try log.index.first(ofID: Bytes("s-\(number)".utf8)) == UInt64(number + 1))
    }
    #expect(try log.index.revision(of: Bytes("s/1".utf8)) == 46)
    #expect(try log.index.streams(limit: 9).map(\.count) == [46, 46, 46, 46, 46])
    #expect(try IndexVerifier(disk, path: Self.path).run(skipping: []) == [])
    try log.close()
  }

  @Test func `a reader takes the saved index too, and what comes after it from the log`() throws {
    let disk = SimulatedDisk()
    try Self.use(disk, appends: 0..<100)
    let log = try Log.openWriter(disk, path: Self.path, options: Self.options())
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s/1", type: "u")], id: "new").draft())
    let reader = try Log.openReader(disk, path: Self.path, options: Self.options())
    #expect(try reader.index.revision(of: Bytes("s/1".utf8)) == 21)
    #expect(reader.index.active.withLock { $0.base?.lastSequence } == 100)
    #expect(try reader.index.first(ofID: Bytes("new".utf8)) == 101)
    #expect(try reader.index.first(ofID: Bytes("s-99".utf8)) == 100)
    #expect(try reader.index.types(limit: 9).map(\.count) == [100, 1])
    // Another index takes the file's name.
    disk.replace(Self.file, Bytes(repeating: 0, count: 4_000))
    #expect(try reader.index.revision(of: Bytes("s/2".utf8)) == 20)
    #expect(try reader.index.first(ofID: Bytes("s-98".utf8)) == 99)
    try reader.close()
    try log.close()
  }

  @Test
  func `fault 57: the saved index of another history, of another store or of a longer log is not taken`()
    throws
  {
    let ids = [StoreID(low: 1, high: 2), StoreID(low: 1, high: 2), StoreID(low: 3, high: 4)]
    let disks = try zip(ids, ["a", "b", "a"]).map { id, stream in
      let disk = SimulatedDisk()
      try Self.use(disk, appends: 0..<50, stream: stream, storeID: id)
      return disk
    }
    let longer = SimulatedDisk()
    try Self.use(longer, appends: 0..<60, stream: "a", storeID: ids[0])
    let shorter = SimulatedDisk()
    try Self.use(shorter, appends: 0..<30, stream: "a", storeID: ids[0])
    #expect(Self.covered(disks[0]) == 50)
    for (number, other) in [disks[1], disks[2], longer, shorter].enumerated() {
      disks[0].replace(Self.file, try #require(other.contents(Self.file)))
      let log = try Log.openWriter(disks[0], path: Self.path, options: Self.options(1_000))
      // The first 30 events are those of the shorter one.
      #expect(
        log.index.active.withLock { $0.base?.lastSequence } == (other === shorter ? 30 : nil), "\(number)")
      #expect(try log.index.revision(of: Bytes("a/1".utf8)) == 10, "\(number)")
      #expect(try log.index.revision(of: Bytes("b/1".utf8)) == 0, "\(number)")
      #expect(try log.index.first(ofID: Bytes("a-7".utf8)) == 8, "\(number)")
      try log.close()
    }
  }

  @Test func `fault 57: a changed byte in what the saved index covers keeps a writer out`() throws {
    let disk = SimulatedDisk()
    try Self.use(disk, appends: 0..<50)
    let segment = Self.layout.segment(1)
    let whole = try #require(disk.contents(segment))
    for place in [4_100, 4_400, whole.count / 2, whole.count - 50] {
      disk.flipBit(segment, place * 8 + 3)
      let evidence = disk.evidence(of: Self.layout)
      #expect(throws: StoreError.self) {
        try Log.openWriter(disk, path: Self.path, options: Self.options())
      }
      #expect(disk.evidence(of: Self.layout) == evidence)
      disk.flipBit(segment, place * 8 + 3)
    }
    #expect(try Self.use(disk, appends: 0..<0) == (50, 0))
  }

  @Test func `fault 57: a changed byte in the saved index changes no answer of a writer and no append`()
    throws
  {
    let disk = SimulatedDisk()
    let options = Self.options()
    try Self.use(disk, appends: 0..<40)
    let whole = try #require(disk.contents(Self.file))
    for place in stride(from: 0, to: whole.count, by: 5) {
      var bytes = whole
      bytes[place] ^= 0x10
      disk.replace(Self.file, bytes)
      let log = try Log.openWriter(disk, path: Self.path, options: options)
      #expect(try log.index.revision(of: Bytes("s/3".utf8)) == 8, "byte \(place)")
      let known = ModelAppend(
        [ModelEvent(stream: "s/3", type: "t", payload: Bytes(repeating: 1, count: 40))], id: "s-3")
      let outcome = try log.appendBlocking(known.draft(expecting: [(stream: "s/3", version: .exactly(8))]))
      #expect(outcome.isKnown && outcome.first == 4, "byte \(place)")
      try log.close()
    }
  }

  @Test func `a segment that is closed gets an index of all of it, whatever was saved of it`() throws {
    for inStep in [false, true] {
      let disk = SimulatedDisk()
      var options = Self.options()
      options.writesInStep = inStep
      try Self.use(disk, options, appends: 0..<50)
      let log = try Log.openWriter(disk, path: Self.path, options: options)
      _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s/1", type: "u")], id: "last").draft())
      try log.roll()
      let new = ModelAppend([ModelEvent(stream: "s/1", type: "u")], id: "next")
      #expect(
        try log.appendBlocking(new.draft(expecting: [(stream: "s/1", version: .exactly(11))])).first == 52)
      #expect(try log.appendBlocking(new.draft()).isKnown)
      try log.close()
      #expect(Self.covered(disk) == 51)
      #expect(try IndexVerifier(disk, path: Self.path).run(skipping: []) == [])
      let reader = try Log.openReader(disk, path: Self.path, options: options)
      #expect(try reader.index.revision(of: Bytes("s/1".utf8)) == 12)
      #expect(try reader.index.first(ofID: Bytes("last".utf8)) == 51)
      try reader.close()
    }
  }

  @Test func `a suspended log goes on with the index that it saved`() throws {
    let disk = SimulatedDisk()
    let log = try Log.openWriter(disk, path: Self.path, options: Self.options())
    for round in 0..<4 {
      for number in 0..<20 {
        let append = ModelAppend([ModelEvent(stream: "s/\(number)", type: "t")], id: "\(round)-\(number)")
        _ = try log.appendBlocking(append.draft())
      }
      try log.suspend()
      #expect(Self.covered(disk) == UInt64(20 * (round + 1)))
      try log.resume()
      #expect(try log.index.revision(of: Bytes("s/7".utf8)) == UInt64(round + 1))
      #expect(try log.index.first(ofID: Bytes("0-7".utf8)) == 8)
    }
    try log.close()
  }

  @Test func `fault 58: ids with the same fingerprint are told apart by the log`() throws {
    var groups: [UInt64: [String]] = [:]
    var alike: [String] = []
    for number in 0..<50_000 where alike.count < 3 {
      let id = "id-\(number)"
      let remainder = XXH64.of(Bytes(id.utf8)) & 0xFFFF
      groups[remainder, default: []].append(id)
      alike = groups[remainder]!
    }
    try #require(alike.count > 2)
    for segmentSize in [1, 1 << 20] {
      let disk = SimulatedDisk()
      let options = Self.options(1, segmentSize: segmentSize)
      let append = { (id: String) in ModelAppend([ModelEvent(stream: id, type: "t")], id: id).draft() }
      var log = try Log.openWriter(disk, path: Self.path, options: options)
      for id in [alike[0], "other", alike[1]] { _ = try log.appendBlocking(append(id)) }
      try log.close()
      log = try Log.openWriter(disk, path: Self.path, options: options)
      #expect(try log.index.first(ofID: Bytes(alike[0].utf8)) == 1)
      #expect(try log.index.first(ofID: Bytes(alike[1].utf8)) == 3)
      #expect(try log.index.first(ofID: Bytes(alike[2].utf8)) == nil)
      let outcome = try log.appendBlocking(append(alike[2]))
      #expect(outcome.first == 4 && !outcome.isKnown)
      for (number, id) in [(1, alike[0]), (3, alike[1]), (4, alike[2])] {
        let known = try log.appendBlocking(append(id))
        #expect(known.isKnown && known.first == UInt64(number))
      }
      try log.close()
    }
  }
}
