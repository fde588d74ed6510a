// Erasing: the content is in no file any more, everything else is as it was, and a crash is made good.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct EraseTests {
  static let root = "/store"
  static let secret = "Schwarzwälder Kirschtorte"

  static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 6_000
    options.writesInStep = true
    options.headSyncInterval = .seconds(3_600)
    return options
  }

  static func open(_ disk: SimulatedDisk, _ options: StoreOptions = options()) throws -> EventStore {
    try EventStore.open(
      disk, path: root, .readWrite, options: options, storeID: StoreID(low: 1, high: 2))
  }

  /// A store in which one stream among three holds the secret, in several segments, in payloads and in metadata.
  static func store(_ disk: SimulatedDisk, _ options: StoreOptions = options()) throws -> EventStore {
    let store = try open(disk, options)
    for number in 0..<60 {
      let stream = StreamName("person/\(number % 3)")
      let text = number % 3 == 1 ? "\(secret) \(number)" : "harmless \(number)"
      try store.appendBlocking(
        [
          NewEvent("noted", in: stream, .object(["text": .string(text)])),
          NewEvent("seen", in: stream, .int(Int64(number)), metadata: ["by": .string(text)]),
        ], id: "id-\(number)")
    }
    return store
  }

  /// Orders an erasure on a disk that has room for the order, and not for the next segment.
  static func orderWithoutRoom(_ store: EventStore, _ disk: SimulatedDisk) throws {
    disk.capacity = disk.usedSize + 900
    #expect(throws: StoreError.self) {
      try store.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    }
    disk.capacity = nil
  }

  /// The files in which the secret can be read, compressed blocks decoded.
  static func filesWithSecret(_ disk: SimulatedDisk) throws -> [String] {
    let layout = StoreLayout(root: root)
    let wanted = Array(secret.utf8)
    func holds(_ bytes: some Collection<UInt8>) -> Bool {
      let bytes = Array(bytes)
      guard bytes.count >= wanted.count else { return false }
      return (0...(bytes.count - wanted.count)).contains {
        bytes[$0] == wanted[0] && bytes[$0...].starts(with: wanted)
      }
    }
    var found = disk.paths.filter { holds(disk.contents($0)!) }
    for first in try SegmentCatalog.names(disk, layout) {
      let handle = try SegmentHandle.open(disk, layout, first: first, storeID: nil)
      var walk = BlockWalk(
        file: handle.file, segment: handle.header, limit: UInt64(try handle.file.size()))
      while !walk.isAtLimit, case .valid(let block, let payload) = try walk.next() {
        guard block.kind == BlockKind.events else { continue }
        let decoded = try DecodedBlock(header: block, stored: payload)
        if holds(decoded.raw) { found.append(handle.name) }
        withExtendedLifetime(decoded) {}
      }
    }
    return found
  }

  static func findings(_ disk: SimulatedDisk) throws -> [StoreFinding] {
    try disk.findings(inStore: root)
  }

  @Test func `what is erased is in no file, and everything else is as it was`() async throws {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    #expect(try !Self.filesWithSecret(disk).isEmpty)
    let before = try await store.events(in: "person/1", limit: 1_000)
    let others = try await store.events(in: "person/2", limit: 1_000)
    let head = store.head
    let receipt = try store.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    #expect(receipt.eventCount == 40 && receipt.sequence == head.sequence + 1)
    #expect(try Self.filesWithSecret(disk).isEmpty)
    let after = try await store.events(in: "person/1", limit: 1_000)
    #expect(
      after.map(\.sequence) == before.map(\.sequence) && after.map(\.revision) == before.map(\.revision))
    #expect(after.map(\.type) == before.map(\.type) && after.map(\.time) == before.map(\.time))
    #expect(after.allSatisfy { $0.state == .erased && $0.payload.bytes.isEmpty && $0.metadataBytes.isEmpty })
    #expect(try await store.events(in: "person/2", limit: 1_000) == others)
    // The chain still proves that nothing else changed.
    #expect(try store.log.chain(after: head.sequence) == head.chain)
    let next = try store.appendBlocking(
      [NewEvent("noted", in: "person/1", .null)], expecting: ["person/1": .exactly(40)])
    #expect(try await store.events(in: "person/1", after: 40).map(\.sequence) == [next.sequences.lowerBound])
    // An append that was made before is still known by its id and its content.
    #expect(
      try store.appendBlocking(
        [
          NewEvent("noted", in: "person/1", .object(["text": .string("\(Self.secret) 1")])),
          NewEvent("seen", in: "person/1", .int(1), metadata: ["by": .string("\(Self.secret) 1")]),
        ], id: "id-1"
      ).wasKnown)
    try store.closeBlocking()
    #expect(try Self.findings(disk).isEmpty)
    let again = try Self.open(disk)
    #expect(try await again.events(in: "person/1", limit: 40) == after)
    try again.closeBlocking()
  }

  @Test func `a stream that can have no name is refused with advice about names, and not about appends`()
    throws
  {
    let store = try Self.store(SimulatedDisk())
    for name in ["", String(repeating: "x", count: FormatLimits.streamLengthMax + 1)] {
      let error = #expect(throws: StoreError.self) {
        try store.eraseBlocking(Erasure(streams: [StreamName(name)], because: "asked to"))
      }
      #expect(error?.what.contains("the stream's name has a size of \(name.utf8.count)") == true)
      #expect(error?.next == "correct what was given", "\(String(describing: error))")
    }
    try store.closeBlocking()
  }

  @Test func `single events are erased by their sequences, and what comes later stays`() async throws {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    #expect(try store.eraseBlocking(Erasure(sequences: [3...4, 119...120], because: "x")).eventCount == 4)
    #expect(try store.eraseBlocking(Erasure(sequences: [4...5], because: "x")).eventCount == 1)
    var erased: [UInt64] = []
    for try await append in store.feed(until: .caughtUp) {
      erased += append.events.filter { $0.state == .erased }.map(\.sequence)
    }
    #expect(erased == [3, 4, 5, 119, 120])
    #expect(throws: StoreError.self) { try store.eraseBlocking(Erasure(because: "nothing")) }
    #expect(throws: StoreError.self) {
      try store.eraseBlocking(Erasure(sequences: [1...10_000], because: ""))
    }
    #expect(throws: StoreError.self) { try store.eraseBlocking(Erasure(streams: ["$erasures"], because: "")) }
    try store.closeBlocking()
    #expect(try Self.findings(disk).isEmpty)
  }

  @Test func `what a recovery kept of a torn tail goes too`() throws {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    try store.closeBlocking()
    let path = store.log.layout.segment(store.log.mark.segment)
    disk.replace(path, disk.contents(path)! + Array("torn \(Self.secret)".utf8))
    disk.delete(store.log.layout.head)
    let opened = try Self.open(disk)
    try opened.appendBlocking([NewEvent("noted", in: "person/0", .null)])
    #expect(try Self.filesWithSecret(disk).contains { $0.contains("quarantine") })
    try opened.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    #expect(try Self.filesWithSecret(disk).isEmpty)
    try opened.closeBlocking()
  }

  @Test func `a salt is in every event where the store asks for it, and goes with the content`() async throws
  {
    let disk = SimulatedDisk()
    var options = Self.options()
    options.saltsEvents = true
    let store = try Self.open(disk, options)
    for _ in 0..<2 { try store.appendBlocking([NewEvent("t", in: "s/1", .int(7))]) }
    func salts() throws -> [[UInt8]] {
      var salts: [[UInt8]] = []
      var cursor = store.log.cursor(after: 0)
      while let block = try cursor.next() {
        try block.forEachEvent { event, _, _ throws(ContentProblem) in
          if event.stream.count == 3 { salts.append(Array(event.salt)) }
        }
      }
      return salts
    }
    let found = try salts()
    #expect(found.allSatisfy { $0.count == 16 } && Set(found).count == 2)
    try store.eraseBlocking(Erasure(streams: ["s/1"], because: "x"))
    #expect(try salts() == [[], []])
    try store.closeBlocking()
    #expect(try Self.findings(disk).isEmpty)
  }

  @Test func `fault 26: after a power cut at any call of an erasure the next open finishes it`() throws {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let prepared = SimulatedDisk()
    try Self.store(prepared).closeBlocking()
    // How many calls an erasure makes, and which of them comes behind the order's acknowledgement.
    let counted = prepared.clone()
    let whole = try Self.open(counted)
    let callCount = try counted.changeCount {
      try whole.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    }
    try whole.closeBlocking()
    #expect(callCount > 30)
    var finished = 0
    for number in 1...callCount {
      let disk = prepared.clone()
      let store = try Self.open(disk)
      disk.cutPower(atChange: number)
      #expect(throws: StoreError.self) {
        try store.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
      }
      try? store.closeBlocking()
      let after = disk.crash(seed: random.next(), model: number % 4 == 0 ? .dropAll : .reorder)
      let again = try Self.open(after)
      let isOrdered = try again.eventsBlocking(in: "$erasures", limit: 10).contains { $0.type == "$erase" }
      if isOrdered {
        finished += 1
        #expect(try Self.filesWithSecret(after).isEmpty, "call \(number) of \(callCount), SEED=\(seed)")
        #expect(try again.eventsBlocking(in: "$erasures", limit: 10).map(\.type) == ["$erase", "$erased"])
      }
      #expect(try again.eventsBlocking(in: "person/1", limit: 100).count == 40)
      #expect(try again.eventsBlocking(in: "person/0", limit: 100).allSatisfy { $0.state == .whole })
      try again.closeBlocking()
      // An order that the cut tore was never given; its tail is there until something else is appended.
      let found = try Self.findings(after).filter { isOrdered || $0.class != .torn }
      #expect(found.isEmpty, "\(found) call \(number) of \(callCount), SEED=\(seed)")
    }
    #expect(finished > 20)
  }

  @Test func `a disk that is too full for an erasure keeps the order, and the next open finishes it`() throws
  {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    disk.capacity = disk.namedSize + 5_500
    #expect(throws: StoreError.self) {
      try store.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    }
    #expect(try !Self.filesWithSecret(disk).isEmpty)
    try store.appendBlocking([NewEvent("t", in: "x", .null)])
    try store.closeBlocking()
    let full = try Self.open(disk)
    #expect(try !Self.filesWithSecret(disk).isEmpty)
    try full.closeBlocking()
    disk.capacity = nil
    let roomy = try Self.open(disk)
    #expect(try Self.filesWithSecret(disk).isEmpty)
    #expect(try roomy.eventsBlocking(in: "$erasures", limit: 10).map(\.type) == ["$erase", "$erased"])
    try roomy.closeBlocking()
    #expect(try Self.findings(disk).isEmpty)
  }

  @Test func `an erasure that goes on behind a failed sync of the folder is on the disk and is what is read`()
    throws
  {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    let first = StoreLayout(root: Self.root).segment(1)
    #expect(try store.eventsBlocking(in: "person/1", limit: 1).first?.state == .whole)
    let erasure = Erasure(sequences: [3...4], because: "asked to")
    // The new file has the name, and whether it has it on the disk is not known.
    let isNamed = Lock(false)
    disk.onOperation { call in
      if call.operation == .rename, call.path.hasPrefix(first) { isNamed.withLock { $0 = true } }
      let fails = call.operation == .syncDirectory && isNamed.withLock { $0 }
      return fails ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    #expect(throws: StoreError.self) { try store.eraseBlocking(erasure) }
    #expect(isNamed.withLock { $0 })
    // A second sync says nothing of what the first one failed to do, so the file is written and named once more.
    let isNamedAgain = Lock(false)
    disk.onOperation { call in
      if call.operation == .rename, call.path.hasPrefix(first) { isNamedAgain.withLock { $0 = true } }
      return .proceed
    }
    #expect(try store.eventsBlocking(in: "person/1", limit: 1).first?.state == .erased)
    try store.eraseBlocking(erasure)
    disk.onOperation(nil)
    #expect(isNamedAgain.withLock { $0 })
    let after = try Self.open(disk.crash(seed: 1, model: .dropAll))
    let events = try after.eventsBlocking(in: "person/1", limit: 100)
    #expect(events.prefix(2).allSatisfy { $0.state == .erased })
    #expect(events.dropFirst(2).allSatisfy { $0.state == .whole } && events.count == 40)
    try after.closeBlocking()
    try store.closeBlocking()
  }

  @Test func `a bad sector keeps no store from being opened because an erasure is unfinished`() throws {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    try Self.orderWithoutRoom(store, disk)
    try store.closeBlocking()
    // Nothing says where the order is but the log, a part of which cannot be read.
    for path in disk.paths where path.hasPrefix("\(Self.root)/derived/") { disk.delete(path) }
    let first = StoreLayout(root: Self.root).segment(1)
    let payload = SegmentHeader.length + BlockHeader.length
    disk.makeUnreadable(first, payload..<payload + 1)
    let again = try Self.open(disk)
    #expect(try again.log.isErasing)
    try again.closeBlocking()
    disk.makeReadable()
    let whole = try Self.open(disk)
    #expect(try Self.filesWithSecret(disk).isEmpty)
    try whole.closeBlocking()
  }

  @Test func `a bad sector in an order keeps no store from being opened`() throws {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    try Self.orderWithoutRoom(store, disk)
    let order = store.log.mark.sequence
    // So that the order is in a closed segment, which no open reads but to find orders.
    try store.log.roll()
    try store.closeBlocking()
    let layout = StoreLayout(root: Self.root)
    let closed = try #require(try SegmentCatalog.names(disk, layout).last { $0.firstSequence <= order })
    let handle = try SegmentHandle.open(disk, layout, first: closed, storeID: nil)
    var walk = BlockWalk(
      file: handle.file, segment: handle.header, limit: UInt64(try handle.file.size()))
    var sector: Int?
    while !walk.isAtLimit, case .valid(let block, _) = try walk.next() {
      if block.firstSequence <= order, order < block.nextSequence { sector = Int(block.end) - 1 }
    }
    let last = try #require(sector)
    disk.makeUnreadable(layout.segment(closed), last..<last + 1)
    let again = try Self.open(disk)
    #expect(try again.log.isErasing)
    try again.closeBlocking()
    disk.makeReadable()
    let whole = try Self.open(disk)
    #expect(try Self.filesWithSecret(disk).isEmpty)
    try whole.closeBlocking()
  }

  @Test func `an order that is carried out late leaves what was appended after it`() throws {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    try Self.orderWithoutRoom(store, disk)
    try store.appendBlocking([NewEvent("later", in: "person/1", .string("kept"))])
    try store.closeBlocking()
    let again = try Self.open(disk)
    let events = try again.eventsBlocking(in: "person/1", limit: 100)
    #expect(events.dropLast().allSatisfy { $0.state == .erased } && events.count == 41)
    #expect(events.last?.state == .whole)
    #expect(try Self.filesWithSecret(disk).isEmpty)
    try again.closeBlocking()
  }
}
