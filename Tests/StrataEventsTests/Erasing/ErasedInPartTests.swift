// Orders to erase that cannot be carried out whole: each is carried out as far as it can be, and holds up no other.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct ErasedInPartTests {
  private static let erasure = Erasure(streams: ["person/1"], because: "asked to")
  private static let damaged = StoreLayout(root: EraseTests.root).segment(1)

  /// A store of several closed segments, of which the first is damaged.
  private func damagedStore() throws -> (disk: SimulatedDisk, whole: [UInt8]) {
    let disk = SimulatedDisk()
    try EraseTests.store(disk).closeBlocking()
    let whole = try #require(disk.contents(Self.damaged))
    disk.flipBit(Self.damaged, 8 * (SegmentHeader.length + BlockHeader.length + 20))
    return (disk, whole)
  }

  private func orders(_ store: EventStore) throws -> [String] {
    try store.eventsBlocking(in: "$erasures", limit: 100).map(\.type)
  }

  /// The whole appends of the third segment, as sequences.
  private func third(_ store: EventStore) -> ClosedRange<UInt64> {
    let closed = store.log.closedSegments
    return closed[2].firstSequence...closed[3].lastBefore
  }

  private func expectCorrupt(_ store: EventStore, _ erasure: Erasure, _ note: String = "") {
    let error = #expect(throws: StoreError.self) { try store.eraseBlocking(erasure) }
    guard case .damaged(let finding) = error else {
      Issue.record("\(String(describing: error)) \(note)")
      return
    }
    #expect(finding.file == SegmentName(1).path)
  }

  /// The segments, apart from the damaged one, and the other files in which the secret is.
  private func othersWithSecret(_ disk: SimulatedDisk) throws -> [String] {
    try EraseTests.filesWithSecret(disk).filter { !$0.hasSuffix(SegmentName(1).path) }
  }

  @Test func `fault 47: an order that meets damage is carried out elsewhere, and holds up no order after it`()
    throws
  {
    let (disk, whole) = try damagedStore()
    let store = try EraseTests.open(disk)
    #expect(store.log.closedSegments.count > 3)
    expectCorrupt(store, Erasure(sequences: [1...2], because: "in the damaged segment"))
    let third = third(store)
    // Content of one segment that nothing is wrong with.
    let receipt = try store.eraseBlocking(Erasure(sequences: [third], because: "elsewhere"))
    #expect(receipt.eventCount == UInt64(third.count))
    #expect(try orders(store).filter { $0 == "$erased" }.count == 1)
    expectCorrupt(store, Self.erasure)
    #expect(try othersWithSecret(disk).isEmpty)
    #expect(try orders(store).filter { $0 == "$erased" }.count == 1)
    try store.closeBlocking()
    // An open is not kept from happening, and tries again in vain.
    let again = try EraseTests.open(disk)
    #expect(try again.log.isErasing && orders(again).filter { $0 == "$erased" }.count == 1)
    try again.closeBlocking()
    // The damage is healed from a backup, content and all.
    disk.replace(Self.damaged, whole)
    let healed = try EraseTests.open(disk)
    #expect(try EraseTests.filesWithSecret(disk).isEmpty)
    #expect(try !healed.log.isErasing)
    let types = try orders(healed)
    #expect(types.filter { $0 == "$erase" }.count == 3 && types.filter { $0 == "$erased" }.count == 3)
    try healed.closeBlocking()
    #expect(try EraseTests.findings(disk).isEmpty)
  }

  @Test func `trying again finds the order that is open, and leaves no second one`() throws {
    let (disk, whole) = try damagedStore()
    let store = try EraseTests.open(disk)
    expectCorrupt(store, Self.erasure)
    let once = try orders(store)
    let head = store.head
    for _ in 0..<3 { expectCorrupt(store, Self.erasure) }
    #expect(try orders(store) == once && store.head == head)
    // Another order: what is in the stream by now is more than what the first one meant.
    try store.appendBlocking([NewEvent("noted", in: "person/1", .string(EraseTests.secret))])
    expectCorrupt(store, Self.erasure)
    #expect(try orders(store).filter { $0 == "$erase" }.count == 2)
    #expect(try othersWithSecret(disk).isEmpty)
    disk.replace(Self.damaged, whole)
    let open = try store.eventsBlocking(in: "$erasures", limit: 100).filter { $0.type == "$erase" }
    let receipt = try store.eraseBlocking(Self.erasure)
    #expect(receipt.sequence == open.last?.sequence && receipt.eventCount == 1)
    #expect(try orders(store).filter { $0 == "$erased" }.count == 2)
    #expect(try EraseTests.filesWithSecret(disk).isEmpty)
    try store.closeBlocking()
    #expect(try EraseTests.findings(disk).isEmpty)
  }

  @Test func `an order that was carried out in part counts all that it erased once it is done`() throws {
    let (disk, whole) = try damagedStore()
    let store = try EraseTests.open(disk)
    expectCorrupt(store, Self.erasure)
    disk.replace(Self.damaged, whole)
    #expect(try store.eraseBlocking(Self.erasure).eventCount == 40)
    #expect(try orders(store).last == "$erased")
    try store.closeBlocking()
  }

  @Test func `fault 47: a note that does not say what is left makes the whole order be tried again`() throws {
    let (disk, whole) = try damagedStore()
    let store = try EraseTests.open(disk)
    expectCorrupt(store, Self.erasure)
    let order = try #require(
      try store.eventsBlocking(in: "$erasures", limit: 100).first { $0.type == "$erase" })
    let note = NewEvent(
      "$erasing", in: "$erasures",
      ["order": .uint(order.sequence), "events": 0, "left": [[2, 1], [.uint(order.sequence)]]])
    let draft = try store.draft([note], id: nil, time: nil, expecting: [:], isOwn: false)
    _ = try store.log.appendBlocking(draft)
    disk.replace(Self.damaged, whole)
    try store.eraseBlocking(Self.erasure)
    #expect(try orders(store).last == "$erased")
    #expect(try EraseTests.filesWithSecret(disk).isEmpty)
    try store.closeBlocking()
  }

  @Test func `an order in a damaged block keeps no other from being given and carried out`() throws {
    let disk = SimulatedDisk()
    let store = try EraseTests.store(disk)
    let first = try store.eraseBlocking(Erasure(sequences: [1...2], because: "done"))
    // So that the order is in a closed segment, and what comes after it in another.
    try store.sealBlocking()
    try store.closeBlocking()
    let segment = try #require(
      try SegmentCatalog.names(disk, StoreLayout(root: EraseTests.root)).last {
        $0.firstSequence <= first.sequence
      })
    disk.flipBit(
      StoreLayout(root: EraseTests.root).segment(segment),
      8 * (SegmentHeader.length + BlockHeader.length + 20))
    let again = try EraseTests.open(disk)
    #expect(try again.eraseBlocking(Erasure(sequences: [3...4], because: "later")).eventCount == 2)
    let events = try again.eventsBlocking(in: "person/1", limit: 2)
    #expect(events.map(\.state) == [.erased, .erased])
    try again.closeBlocking()
  }

  @Test func `fault 47: a power cut at any call of such an erasure leaves what the next opens carry out`()
    throws
  {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let (prepared, whole) = try damagedStore()
    let counted = prepared.clone()
    let store = try EraseTests.open(counted)
    let callCount = counted.changeCount { expectCorrupt(store, Self.erasure) }
    try store.closeBlocking()
    #expect(callCount > 30)
    var ordered = 0
    for number in 1...callCount {
      let note = "call \(number) of \(callCount), SEED=\(seed)"
      let disk = prepared.clone()
      let store = try EraseTests.open(disk)
      disk.cutPower(atChange: number)
      #expect(throws: StoreError.self) { try store.eraseBlocking(Self.erasure) }
      try? store.closeBlocking()
      let after = disk.crash(seed: random.next(), model: number % 4 == 0 ? .dropAll : .reorder)
      let again = try EraseTests.open(after)
      // Where no order is, only the index of the damaged segment could say so, and that may be lost.
      let isOrdered = (try? orders(again))?.contains("$erase") ?? false
      if isOrdered {
        ordered += 1
        #expect(try othersWithSecret(after).isEmpty, "\(note)")
        #expect(try again.log.isErasing && !orders(again).contains("$erased"), "\(note)")
        let given = try orders(again)
        expectCorrupt(again, Self.erasure, note)
        #expect(try orders(again) == given, "\(note)")
      }
      try again.closeBlocking()
      after.replace(Self.damaged, whole)
      let healed = try EraseTests.open(after)
      #expect(try healed.eventsBlocking(in: "person/1", limit: 100).count == 40, "\(note)")
      let types = try orders(healed)
      #expect(types.contains("$erase") == isOrdered, "\(note)")
      if isOrdered {
        #expect(try EraseTests.filesWithSecret(after).isEmpty, "\(note)")
        #expect(types.filter { $0 == "$erase" } == ["$erase"] && types.last == "$erased", "\(note)")
      }
      try healed.closeBlocking()
      let found = try EraseTests.findings(after).filter { isOrdered || $0.class != .torn }
      #expect(found.isEmpty, "\(found) \(note)")
    }
    #expect(ordered > 20)
  }
}
