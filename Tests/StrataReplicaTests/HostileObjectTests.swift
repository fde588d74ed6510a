// Objects that somebody else has made or changed, with checksums that are right.

internal import ReplicaSchedules
internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataReplica
internal import StrataSimulation
internal import StrataTesting
internal import Testing

@Suite struct HostileObjectTests {
  /// A carrier with a store in objects of one append each, and the store.
  private func shipped(_ count: Int = 4) throws -> (MemoryCarrier, EventStore) {
    let carrier = MemoryCarrier()
    let store = EventStore.inMemory(clock: SimulatedClock().storeClock)
    for number in 0..<count { try store.appendBlocking([ShippingTests.event(number)], id: "id\(number)") }
    var mark = ReplicaMark(.writer, of: store.log.storeID, member: .random(), carrier: carrier.name)
    mark.erasedThrough = 0
    try store.log.setReplica(mark)
    var limits = Shipper.Limits()
    limits.objectSize = 1
    let shipper = Shipper(store.log, to: carrier, as: mark.member, limits)
    while try shipper.step() != .idle {}
    return (carrier, store)
  }

  private func object(_ number: UInt64, of carrier: MemoryCarrier) throws -> WireObject {
    try WireObject(
      decoding: CarrierObject(number: number, bytes: try #require(carrier.objects[number])), of: nil,
      in: "object", after: 0)
  }

  /// Follows until an error, which it returns; what was taken is a part of the store, from its begin.
  private func follow(_ carrier: MemoryCarrier, _ store: EventStore) throws -> (
    error: StoreError?, taken: UInt64
  ) {
    let disk = SimulatedDisk()
    let (copy, _) = try EventStore.openFollower(
      of: carrier, disk, at: "/copy", options: ReplicaMachine.options)
    defer { try? copy.closeBlocking() }
    let follower = copy.follower(from: carrier)
    var error: StoreError?
    do throws(StoreError) { while try follower.step() {} } catch let failure { error = failure }
    let head = copy.head
    #expect(head.sequence <= store.head.sequence)
    #expect(try store.log.chain(after: head.sequence) == head.chain)
    return (error, head.sequence)
  }

  @Test func `an object with other events, of another place or of another store is refused by name`() throws {
    let (carrier, store) = try shipped()
    let (other, _) = try shipped()
    let second = try object(2, of: carrier)
    let third = try object(3, of: carrier)
    let events = try third.block(in: "object")
    let payload = events.raw
    func with(_ change: (inout WireHeader) -> Void) -> [UInt8] {
      var header = second.header
      change(&header)
      let own = try! second.block(in: "object")
      defer { withExtendedLifetime(own) {} }
      return WireObject(header, payload: own.raw).bytes
    }
    let cases: [(String, [UInt8], String)] = [
      ("another's events", WireObject(second.header, payload: payload).bytes, "chain"),
      ("another number", third.bytes, "number 3"),
      ("another store", try object(2, of: other).bytes, "is of the store"),
      ("later events", with { $0.firstSequence += 1 }, ""),
      ("earlier times", with { ($0.firstTime, $0.lastTime) = (0, 0) }, "time"),
      ("more appends", with { $0.appendCount += 1 }, "contradicts"),
      ("more events", with { $0.eventCount += 1 }, ""),
      ("another chain before", with { $0.chainBefore ^= 1 }, "chain"),
      ("another chain after", with { $0.chainAfter ^= 1 }, "chain"),
      ("another count before", with { $0.appendsBefore += 1 }, "other events"),
      ("a kind that is not known", with { $0.kind = 7 }, "object kind 7"),
      ("a flag that is not known", with { $0.flags = 1 }, "object flags 1"),
      ("a takeover with events", with { $0.kind = WireKind.takeover }, "contradicts"),
      ("sequences past the end of numbers", with { $0.firstSequence = .max }, ""),
      ("sequence zero", with { $0.firstSequence = 0 }, "contradicts"),
      ("nothing", [], "header"),
      ("half of it", Array(second.bytes.prefix(second.bytes.count / 2)), ""),
      ("more than it", second.bytes + [0], "lengths"),
    ]
    withExtendedLifetime(events) {}
    for (name, bytes, word) in cases {
      carrier.damage(2, bytes)
      let (error, taken) = try follow(carrier, store)
      #expect(taken == 1, "\(name)")
      let text = error.map { "\($0)" } ?? "no error"
      #expect(text.contains("log/00000000000000000002") && text.contains(word), "\(name): \(text)")
    }
    carrier.damage(2, second.bytes)
    #expect(try follow(carrier, store).error == nil)
  }

  @Test func `an object that claims to decode to more than it can is refused before anything is allocated`()
    throws
  {
    let (carrier, store) = try shipped()
    let second = try object(2, of: carrier)
    for length in [UInt32(60 << 20), .max] {
      var bytes = second.bytes
      bytes.withUnsafeMutableBytes { buffer in
        let base = buffer.baseAddress!
        base.setLittleEndian(length, at: WireHeader.Offset.rawLength)
        base.setLittleEndian(BlockCodec.lz4, at: WireHeader.Offset.codec)
        let header = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<WireHeader.length])
        base.setLittleEndian(
          CRC32C.of(header, zeroing: WireHeader.Offset.headerChecksum), at: WireHeader.Offset.headerChecksum)
      }
      carrier.damage(2, bytes)
      let (error, taken) = try follow(carrier, store)
      #expect(taken == 1 && error?.what.contains("lengths") == true, "\(String(describing: error))")
    }
  }

  @Test func `revisions that no store gives are refused before the append is in the log`() throws {
    let (carrier, store) = try shipped(1)
    let first = try object(1, of: carrier)
    let draft = AppendDraft()
    let stream = Array("counter/9".utf8)
    let type = Array("counted".utf8)
    stream.withUnsafeBytes { stream in
      type.withUnsafeBytes { type in
        draft.add(
          stream: stream, type: type, codec: 3, metadata: UnsafeRawBufferPointer(start: nil, count: 0),
          payload: UnsafeRawBufferPointer(start: nil, count: 0))
      }
    }
    draft.setRevision(5, of: draft.marks[0])
    let time = first.header.lastTime
    var raw = RawBuffer(capacity: 512)
    let head = withUnsafeTemporaryAllocation(byteCount: AppendDraft.headLengthMax, alignment: 8) { buffer in
      let length = draft.writeHead(commitTime: time, given: time, to: buffer.baseAddress!)
      let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<length])
      raw.append(varint: UInt64(length + draft.byteCount))
      raw.append(bytes)
      return XXH64.of(bytes)
    }
    raw.append(draft.events.bytes)
    var header = first.header
    (header.number, header.firstSequence, header.appendsBefore) = (2, 2, 1)
    (header.firstTime, header.lastTime) = (time, time)
    header.chainBefore = first.header.chainAfter
    header.chainAfter = draft.chain(after: header.chainBefore, first: 2, head: head)
    carrier.damage(2, WireObject(header, payload: raw.bytes).bytes)
    let (error, taken) = try follow(carrier, store)
    #expect(taken == 1 && error?.isDiverged == true, "\(String(describing: error))")
  }

  @Test func `a folder that was copied with its part does not write beside the first, and loses nothing`()
    throws
  {
    let carrier = MemoryCarrier()
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: ReplicaMachine.options)
    try store.appendBlocking([ShippingTests.event(0)])
    let mark = ReplicaMark(.writer, of: store.log.storeID, member: .random(), carrier: carrier.name)
    try store.log.setReplica(mark)
    let shipper = Shipper(store.log, to: carrier, as: mark.member)
    while try shipper.step() != .idle {}
    // The same member twice: both think that they write.
    let twin = try EventStore.open(disk.clone(), path: "/store", .readWrite, options: ReplicaMachine.options)
    let second = Shipper(twin.log, to: carrier, as: mark.member)
    while try second.step() != .idle {}
    try store.appendBlocking([ShippingTests.event(1)])
    try twin.appendBlocking([ShippingTests.event(2)])
    while try shipper.step() != .idle {}
    let error = #expect(throws: StoreError.self) { while try second.step() != .idle {} }
    #expect(error?.reason == .fenced, "\(String(describing: error))")
    #expect(throws: StoreError.self) { try twin.appendBlocking([ShippingTests.event(3)]) }
    // Put back to an earlier state, the first one is refused as well.
    #expect(try CarrierLog(carrier, of: nil).end().sequence == 2)
    try store.closeBlocking()
    try twin.closeBlocking()
  }

  @Test func `an object of a member that has not taken over, a gap, and a place that went back are named`()
    throws
  {
    let (carrier, store) = try shipped()
    let whole = carrier.objects
    let third = try object(3, of: carrier)
    var header = third.header
    header.writer = .random()
    let events = try third.block(in: "object")
    carrier.damage(3, WireObject(header, payload: events.raw).bytes)
    withExtendedLifetime(events) {}
    var (error, taken) = try follow(carrier, store)
    #expect(taken == 2 && error?.what.contains("has not taken over") == true, "\(String(describing: error))")
    carrier.damage(3, nil)
    (error, taken) = try follow(carrier, store)
    #expect(taken == 2 && error?.what.contains("missing") == true, "\(String(describing: error))")
    // A copy that has more than the place.
    for (number, bytes) in whole { carrier.damage(number, bytes) }
    let disk = SimulatedDisk()
    let (copy, _) = try EventStore.openFollower(
      of: carrier, disk, at: "/copy", options: ReplicaMachine.options)
    let follower = copy.follower(from: carrier)
    while try follower.step() {}
    for number in UInt64(3)...4 { carrier.damage(number, nil) }
    let lost = #expect(throws: StoreError.self) { _ = try copy.follower(from: carrier).step() }
    #expect(lost?.reason == .diverged && copy.head == store.head, "\(String(describing: lost))")
    try copy.closeBlocking()
  }

  @Test func `a part that is damaged, no file, or of another store keeps a writer out, and no reader`() throws
  {
    let (carrier, _) = try shipped()
    for damage in 0..<4 {
      let disk = SimulatedDisk()
      let store = try EventStore.open(disk, path: "/store", .readWrite, options: ReplicaMachine.options)
      try store.appendBlocking([ShippingTests.event(0)])
      let owner = damage == 3 ? StoreID.random() : store.log.storeID
      let mark = ReplicaMark(.writer, of: owner, member: .random(), carrier: carrier.name)
      try store.closeBlocking()
      var bytes = mark.encoded()
      if damage == 0 { bytes[40] ^= 1 }
      if damage == 1 { bytes.removeLast() }
      if damage == 2 { try disk.createDirectory("/store/REPLICA") } else { disk.add("/store/REPLICA", bytes) }
      let error = #expect(throws: StoreError.self) {
        _ = try EventStore.open(disk, path: "/store", .readWrite, options: ReplicaMachine.options)
      }
      #expect(error?.place.contains("REPLICA") == true, "\(String(describing: error))")
      let reader = try EventStore.open(disk, path: "/store", .readOnly, options: ReplicaMachine.options)
      #expect(reader.head.sequence == 1)
      try reader.closeBlocking()
    }
  }
}
