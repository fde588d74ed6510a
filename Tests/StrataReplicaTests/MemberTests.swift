// What members say of themselves, and what an erasure waits for.

internal import ReplicaSchedules
internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataReplica
internal import StrataSimulation
internal import StrataTesting
internal import Testing

@Suite struct MemberTests {
  private func follow(_ carrier: any Carrier, at path: String) async throws -> EventStore {
    let copy = try await EventStore.follow(from: carrier, at: path, lookingEvery: .milliseconds(5))
    try await copy.following!.caughtUp()
    return copy
  }

  /// Waits until a copy has said what it is asked for.
  private func expectMembers(
    of carrier: any Carrier, _ condition: ([StoreMember]) -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    var members: [StoreMember] = []
    for _ in 0..<1000 {
      members = try await EventStore.members(of: carrier)
      if condition(members) { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("\(members)", sourceLocation: sourceLocation)
  }

  @Test(.timeLimit(.minutes(3)), arguments: [false, true])
  func `an erasure is done once every member has carried it out, and names those that have not`(
    isMemory: Bool
  ) async throws {
    let folder = try ReplicaFolder()
    let carrier: any Carrier = isMemory ? MemoryCarrier() : FolderCarrier(path: folder.file("carrier"))
    let store = try await EventStore.open(at: folder.file("a"))
    for number in 0..<20 { try await store.append([ShippingTests.event(number)]) }
    try await store.ship(to: carrier).replicated(within: .seconds(60))
    let copy = try await follow(carrier, at: folder.file("b"))
    let away = try await follow(carrier, at: folder.file("c"))
    try await expectMembers(of: carrier) { members in
      members.count == 3 && members.allSatisfy { $0.state?.position == store.head }
        && members.count { $0.state?.isWriter == true } == 1
    }
    let absent = try #require(away.log.replica?.member.description)
    try await away.close()
    try await store.erase(Erasure(streams: ["counter/2"], because: "asked"))
    let error = await #expect(throws: StoreError.self) {
      try await store.shipping!.erased(within: .seconds(3))
    }
    #expect(error?.what.contains(absent) == true && error?.next.contains("forget") == true, "\(error!)")
    #expect(store.shipping?.status.membersHoldingErased == [absent])
    #expect(store.shipping?.status.holdsErased == false)
    // It follows again, and says so.
    let back = try await follow(carrier, at: folder.file("c"))
    try await store.shipping!.erased(within: .seconds(60))
    #expect(store.shipping?.status.membersHoldingErased == [])
    try await back.close()
    // A machine that is gone is waited for until it is forgotten.
    try await store.erase(Erasure(streams: ["counter/3"], because: "asked"))
    await #expect(throws: StoreError.self) { try await store.shipping!.erased(within: .seconds(2)) }
    try await EventStore.forget(absent, of: carrier)
    try await store.shipping!.erased(within: .seconds(60))
    let unknown = await #expect(throws: StoreError.self) { try await EventStore.forget(absent, of: carrier) }
    #expect(unknown?.reason == .notFound)
    #expect(try await EventStore.members(of: carrier).count == 2)
    try await copy.close()
    try await store.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a note that nobody can read is a member that may hold everything`() async throws {
    let carrier = MemoryCarrier()
    let store = EventStore.inMemory()
    try await store.append([ShippingTests.event(2)])
    try await store.ship(to: carrier).replicated(within: .seconds(60))
    let note = MemberNote(
      .follower, of: .random(), member: .random(), sequence: 9, chain: 1, erasedThrough: 9, time: 0)
    try carrier.setNote(CarrierNote(member: note.member.description, bytes: note.encoded()))
    try carrier.setNote(CarrierNote(member: "later", bytes: [1, 2, 3]))
    // It has other events than the writer, and so other content, whatever it has erased.
    let astray = MemberNote(
      .writer, of: store.log.storeID, member: .random(), sequence: 1, chain: 7, erasedThrough: 1000, time: 0)
    try carrier.setNote(CarrierNote(member: astray.member.description, bytes: astray.encoded()))
    try await store.erase(Erasure(streams: ["counter/2"], because: "asked"))
    await #expect(throws: StoreError.self) { try await store.shipping!.erased(within: .seconds(2)) }
    #expect(
      store.shipping?.status.membersHoldingErased
        == [note.member.description, astray.member.description, "later"].sorted())
    for member in [note.member.description, astray.member.description, "later"] {
      try await EventStore.forget(member, of: carrier)
    }
    try await store.shipping!.erased(within: .seconds(60))
    try await store.close()
  }

  @Test func `members are known before they have anything`() async throws {
    let carrier = MemoryCarrier()
    let store = EventStore.inMemory()
    try await store.append([ShippingTests.event(1)])
    try await store.ship(to: carrier)
    #expect(try await EventStore.members(of: carrier).first?.state?.isWriter == true)
    try await store.shipping!.replicated(within: .seconds(60))
    let (copy, member) = try EventStore.openFollower(
      of: carrier, SimulatedDisk(), at: "/copy", options: ReplicaMachine.options)
    let members = try await EventStore.members(of: carrier)
    let own = try #require(members.first { $0.id == member.description }?.state)
    #expect(!own.isWriter && own.position.sequence == 0 && own.erasedThrough == 0 && copy.head.sequence == 0)
    try copy.closeBlocking()
    try await store.close()
  }

  @Test func `a note is read as it was written, and no other bytes are one`() {
    let note = MemberNote(
      .follower, of: .random(), member: .random(), sequence: 77, chain: 0xABCD, erasedThrough: 70,
      time: 1_700_000_000_000_000_000)
    let bytes = note.encoded()
    #expect(bytes.count == MemberNote.length)
    func decoded(_ bytes: [UInt8]) -> MemberNote? { bytes.withUnsafeBytes { MemberNote(decoding: $0) } }
    #expect(decoded(bytes) == note)
    for bit in 0..<bytes.count * 8 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      #expect(decoded(changed) == nil, "bit \(bit)")
    }
    for count in 0..<bytes.count { #expect(decoded(Array(bytes[..<count])) == nil) }
    #expect(decoded(bytes + [0]) == nil)
  }

  @Test func `a copy that could not erase tries again before it takes anything more`() async throws {
    let carrier = MemoryCarrier()
    let store = EventStore.inMemory()
    try await store.append([ShippingTests.event(2)])
    try await store.ship(to: carrier).replicated(within: .seconds(60))
    try await store.erase(Erasure(streams: ["counter/2"], because: "asked"))
    try await store.append([ShippingTests.event(4)])
    try await store.shipping!.replicated(within: .seconds(60))
    let (copy, _) = try EventStore.openFollower(
      of: carrier, SimulatedDisk(), at: "/copy", options: ReplicaMachine.options)
    var (tries, fails) = (0, false)
    let follower = Follower(copy.log, from: carrier, isOrder: { ErasureEvent.isOrder($0) }) {
      () throws(StoreError) in
      tries += 1
      if fails { throw .full(path: "/copy") }
    }
    fails = true
    #expect(throws: StoreError.self) { _ = try follower.step() }
    #expect(tries == 1 && copy.head.sequence == 0)
    fails = false
    _ = try follower.step()
    fails = true
    var failed = 0
    for _ in 0..<20 where failed == 0 {
      do { _ = try follower.step() } catch { failed += 1 }
    }
    #expect(failed == 1)
    let head = copy.head
    for _ in 0..<3 { #expect(throws: StoreError.self) { _ = try follower.step() } }
    #expect(copy.head == head)
    fails = false
    while try follower.step() {}
    #expect(copy.head == store.head)
    try copy.closeBlocking()
    try await store.close()
  }

  @Test func `an object that was replaced meanwhile is not replaced by an older form`() throws {
    let carrier = MemoryCarrier()
    #expect(carrier.put([CarrierObject(number: 1, bytes: [1])]) == .stored)
    let read = try #require(try carrier.object(1))
    let newer = try #require(try carrier.object(1))
    try carrier.replaceObject(CarrierObject(number: 1, bytes: [2], version: newer.version))
    #expect(throws: CarrierError.self) {
      try carrier.replaceObject(CarrierObject(number: 1, bytes: [3], version: read.version))
    }
    #expect(carrier.objects[1] == [2])
  }
}
