// Events that come into a store: with open orders, beside other events, and with errors.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct TransferStoreTests {
  @Test func `fault 122: an order to erase that is open is carried out before the import is done`()
    async throws
  {
    let source = SimulatedDisk()
    let store = try EraseTests.store(source)
    try EraseTests.orderWithoutRoom(store, source)
    let lines = try TransferStores.lines(store)
    #expect(String(decoding: lines, as: UTF8.self).contains(EraseTests.secret))
    let disk = SimulatedDisk()
    let other = try EraseTests.open(disk)
    let report = try TransferStores.take(lines, into: other)
    #expect(report.relation == .same && report.erased == 40, "\(report)")
    #expect(try EraseTests.filesWithSecret(disk).isEmpty)
    #expect(try other.eventsBlocking(in: "$erasures", limit: 10).map(\.type) == ["$erase", "$erased"])
    #expect(try other.log.chain(after: store.head.sequence) == store.log.chain(after: store.head.sequence))
    #expect(try !other.log.isErasing)
    // The same lines again: everything is known, and nothing is left to erase.
    let again = try TransferStores.take(lines, into: other)
    #expect(again.appended == 0 && again.erased == 0 && again.known == report.appended)
    try other.closeBlocking()
    #expect(try EraseTests.findings(disk).isEmpty)
    // Beside other events, the order is left out, and that is said.
    let third = EventStore.inMemory(clock: .fixed)
    try third.appendBlocking([NewEvent("first", in: "of/its", .int(1))])
    let added = try TransferStores.take(lines, into: third)
    #expect(added.openOrdersLeftOut == 1 && added.ownLeftOut == 1)
  }

  @Test
  func
    `fault 121: after a power cut at any call of an import there are the first events, and the next import adds the rest`()
    throws
  {
    let store = try EraseTests.store(SimulatedDisk())
    try store.eraseBlocking(Erasure(streams: ["person/1"], because: "asked to"))
    let lines = try TransferStores.lines(store)
    let chains = try TransferStores.chains(store)
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let counted = SimulatedDisk()
    let whole = try EraseTests.open(counted)
    var callCount = try counted.changeCount { _ = try TransferStores.take(lines, into: whole) }
    var cuts = 0
    for _ in 0..<16 {
      let number = Int.random(in: 1...callCount, using: &random)
      let disk = SimulatedDisk()
      let other = try EraseTests.open(disk)
      disk.cutPower(atChange: number)
      // Appends are grouped as they come, so there may be fewer calls than were counted.
      if (try? TransferStores.take(lines, into: other)) != nil {
        callCount = max(1, number - 1)
        continue
      }
      try? other.closeBlocking()
      cuts += 1
      let after = disk.crash(seed: random.next(), model: number % 4 == 0 ? .dropAll : .reorder)
      let reopened = try EraseTests.open(after)
      let found = try TransferStores.chains(reopened)
      #expect(found == Array(chains.prefix(found.count)), "call \(number), SEED=\(seed)")
      _ = try TransferStores.take(lines, into: reopened)
      #expect(try TransferStores.chains(reopened) == chains, "call \(number), SEED=\(seed)")
    }
    #expect(cuts > 3)
  }

  @Test
  func `a disk that is too full for an import keeps the first events, and takes the rest once there is room`()
    throws
  {
    let store = try EraseTests.store(SimulatedDisk())
    let lines = try TransferStores.lines(store)
    let chains = try TransferStores.chains(store)
    let disk = SimulatedDisk()
    let other = try EraseTests.open(disk)
    disk.capacity = disk.usedSize + 2_000
    let error = #expect(throws: StoreError.self) { try TransferStores.take(lines, into: other) }
    guard case .full = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let found = try TransferStores.chains(other)
    #expect(found.count < chains.count && found == Array(chains.prefix(found.count)))
    disk.capacity = nil
    #expect(try TransferStores.take(lines, into: other).relation == .same)
    #expect(try TransferStores.chains(other) == chains)
  }

  @Test
  func
    `fault 120: an append of another log is recorded with both of its times, but not before the one ahead of it`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    for (given, committed) in [(100, 900), (950, 950), (30, 800)] as [(Int64, Int64)] {
      let draft = ModelAppend([ModelEvent(stream: "a/1", type: "t")], given: given).draft()
      draft.committed = committed
      _ = try store.log.appendBlocking(draft)
    }
    let appends = try await TransferStores.appends(store)
    #expect(appends.map(\.time.nanoseconds) == [900, 950, 950])
    #expect(appends.map(\.givenTime?.nanoseconds) == [100, nil, 30])
  }

  @Test func `an export that grew is taken as far as it is new, by a store that has its own events since`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    for number in 0..<10 { try store.appendBlocking([NewEvent("n", in: "a/1", .int(Int64(number)))]) }
    let other = EventStore.inMemory(clock: .fixed)
    try TransferStores.take(try TransferStores.lines(store), into: other)
    try other.appendBlocking([NewEvent("own", in: "b/1", .int(0))])
    for number in 10..<15 {
      try store.appendBlocking(
        [NewEvent("n", in: "a/1", .int(Int64(number)))], id: number == 12 ? "twelve" : nil)
    }
    let lines = try TransferStores.lines(store)
    let report = try TransferStores.take(lines, into: other)
    #expect(report.known == 10 && report.appended == 5 && report.relation == .added)
    let again = try TransferStores.take(lines, into: other)
    #expect(again.known == 15 && again.appended == 0)
    let ids = try await TransferStores.appends(other).suffix(5).map(\.id)
    #expect(ids == [11, 12, 13, 14, 15].map { $0 == 13 ? "twelve" : "\(store.id)@\($0)" })
    // What is erased in the source since is not another append.
    try store.eraseBlocking(Erasure(sequences: [14...14], because: "asked to"))
    let erased = try TransferStores.take(try TransferStores.lines(store), into: other)
    #expect(erased.appended == 0 && erased.erasedLeftOut == 1 && erased.known == 15, "\(erased)")
  }

  @Test
  func `fault 121: events keep their sequences, or the import ends: another caller's append moves none`()
    throws
  {
    let store = try TransferStores.open(SimulatedDisk())
    for number in 0..<60 { try store.appendBlocking([NewEvent("n", in: "a/1", .int(Int64(number)))]) }
    let lines = try TransferStores.lines(store).splitLines
    let other = EventStore.inMemory(clock: .fixed)
    let importer = try EventImporter(into: other, source: nil)
    func take(_ lines: some Collection<[UInt8]>) throws {
      for line in lines {
        try (line + [0x0A]).lendBytes { bytes throws(StoreError) in try importer.take(bytes) }
      }
    }
    let half = try #require(
      lines.lastIndex { String(decoding: $0, as: UTF8.self).contains("\"sequence\":30,") })
    try take(lines[...half])
    importer.abandon()
    let before = other.head.sequence
    #expect(before > 0 && before <= 30)
    try other.appendBlocking([NewEvent("own", in: "b/1", .int(0))])
    let error = #expect(throws: StoreError.self) {
      try take(lines[(half + 1)...])
      _ = try importer.finish()
    }
    #expect(error?.what.contains("another caller appended") == true, "\(String(describing: error))")
    importer.abandon()
    #expect(other.head.sequence == before + 1)
    let report = try TransferStores.take(lines.joinedLines, into: other)
    #expect(
      report.relation == .added && report.known == before && report.appended == 60 - before, "\(report)")
  }

  @Test
  func `an append whose id the store knows with other content is refused, also if a part of it was erased`()
    throws
  {
    let store = try TransferStores.open(SimulatedDisk())
    try store.appendBlocking(
      [NewEvent("a", in: "a/1", .int(1)), NewEvent("b", in: "b/1", .int(2))], id: "order-7")
    let whole = EventStore.inMemory(clock: .fixed)
    try whole.appendBlocking([NewEvent("own", in: "c/1", .int(0))])
    try TransferStores.take(try TransferStores.lines(store), into: whole)
    try store.eraseBlocking(Erasure(sequences: [1...1], because: "asked to"))
    let lines = try TransferStores.lines(store)
    // The store that took it before has what is left of it.
    #expect(try TransferStores.take(lines, into: whole).known == 1)
    let other = EventStore.inMemory(clock: .fixed)
    try other.appendBlocking([NewEvent("b", in: "b/1", .int(3))], id: "order-7")
    let error = #expect(throws: StoreError.self) { try TransferStores.take(lines, into: other) }
    #expect(error == .idReused(id: "order-7", sequences: 1...1))
    #expect(other.head.sequence == 1)
  }

  @Test func `an export ends and begins between appends, and does not begin after its end`() throws {
    let store = EventStore.inMemory(clock: .fixed)
    try store.appendBlocking([NewEvent("a", in: "a/1", .int(1)), NewEvent("b", in: "a/1", .int(2))])
    try store.appendBlocking([NewEvent("c", in: "a/1", .int(3))])
    for (start, end) in [(1, 3), (0, 1), (3, 2), (0, 4)] as [(UInt64, UInt64)] {
      #expect(throws: StoreError.self) {
        try TransferStores.lines(store, from: .sequence(start), to: .sequence(end))
      }
    }
    #expect(try TransferStores.lines(store, from: .sequence(3)).splitLines.count == 2)
    #expect(try TransferStores.lines(store, to: .sequence(2)).splitLines.count == 4)
  }

  @Test func `an append that is refused is named, and what comes before it stays`() throws {
    let store = EventStore.inMemory(clock: .fixed)
    let lines = (1...5).map {
      "{\"stream\":\"a/1\",\"type\":\"t\",\"data\":\($0),\"expected\":\($0 == 4 ? 9 : $0 - 1)}\n"
    }
    let importer = try EventImporter(into: store, source: "s")
    let error = #expect(throws: StoreError.self) {
      try Array(lines.joined().utf8).lendBytes { bytes throws(StoreError) in try importer.take(bytes) }
      _ = try importer.finish()
    }
    #expect(error == .conflict(stream: "a/1", expected: .exactly(9), actual: 3))
    #expect(importer.failedLine == 4 && store.head.sequence == 3)
  }

  @Test func `a version of the lines that is newer, and a header that is none, are refused`() throws {
    let header =
      #"{"strata":"events","version":VERSION,"store":"STORE","after":0,"through":0,"chain":"0000000000000000"}"#
    for (version, id, why) in [("2", "x", "version 2"), ("1", "short", "not the id of a store")] {
      let text = header.replacing("VERSION", with: version).replacing("STORE", with: id)
      let error = #expect(throws: StoreError.self) {
        try TransferStores.take(Array("\(text)\n".utf8), into: EventStore.inMemory(clock: .fixed))
      }
      #expect(error?.what.contains(why) == true, "\(error?.what ?? "")")
    }
    // The greatest number is no sequence: nothing could come after it.
    let ends = header.replacing("VERSION", with: "1").replacing("STORE", with: "\(StoreID(low: 1, high: 2))")
      .replacing(":0,\"through\":0", with: ":\(UInt64.max),\"through\":\(UInt64.max)")
    let error = #expect(throws: StoreError.self) {
      try TransferStores.take(Array("\(ends)\n".utf8), into: EventStore.inMemory(clock: .fixed))
    }
    #expect(error?.what.contains("no sequence") == true, "\(error?.what ?? "")")
  }

  @Test func `a payload whose JSON would be many times as long is in base 64, and comes back`() throws {
    let store = EventStore.inMemory(clock: .fixed)
    for payload in [
      DocumentValue.string(String(repeating: "\0", count: 3 << 20)),
      .array(DocumentArray(repeatElement(.null, count: 4 << 20))),
      .string(String(repeating: "\0", count: 2 << 20)),
    ] {
      try store.appendBlocking([NewEvent("long", in: "a/1", payload)])
    }
    let lines = try TransferStores.lines(store)
    let payloads = lines.split(separator: UInt8(ascii: "\n")).dropFirst().dropLast()
    #expect(
      payloads.map { $0.prefix(1_000).firstRange(of: Array("\"base64\":".utf8)) != nil } == [
        true, true, false,
      ])
    #expect(payloads.allSatisfy { $0.count < 16 << 20 })
    let other = EventStore.inMemory(clock: .fixed)
    #expect(try TransferStores.take(lines, into: other).relation == .same)
    #expect(try TransferStores.chains(other) == TransferStores.chains(store))
  }

  @Test func `a payload that takes more than an event has room for is refused by its line and column`() throws
  {
    // Each of these four bytes becomes nine.
    let many = Array(repeatElement(Array("0.1,".utf8), count: 7_500_000).joined())
    let first = #"{"stream":"a/1","type":"x","data":1}"# + "\n"
    for name in ["data", "metadata"] {
      let (open, close) = name == "data" ? ("[", "0]}") : (#"{"a":["#, "0]}}")
      let line =
        Array((first + #"{"stream":"a/1","type":"x","\#(name)":\#(open)"#).utf8) + many
        + Array((close + "\n").utf8)
      let store = EventStore.inMemory(clock: .fixed)
      let error = #expect(throws: StoreError.self) { try TransferStores.take(line, into: store) }
      let what = error?.what ?? ""
      #expect(what.hasPrefix("line 2, column ") && what.contains("takes more than 67108864 bytes"), "\(what)")
      #expect(store.head.sequence == 1)
    }
  }
}
