// Shipping, following, takeover, restoring and erasing, as a program calls them.

internal import ReplicaSchedules
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataReplica
internal import StrataSimulation
internal import StrataTesting
internal import Testing

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A folder for one test.
final class ReplicaFolder {
  let path: String

  init() throws {
    path = "\(FileManager.default.temporaryDirectory.path)/strata-replica-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite struct ShippingTests {
  static func event(_ number: Int, text: String = "") -> NewEvent {
    NewEvent(
      "counted", in: StreamName("counter/\(number % 5)"),
      ["number": .int(Int64(number)), "text": .string(text)])
  }

  /// Expects that two stores have the same events, byte by byte, and the same positions.
  func expectEqual(_ a: EventStore, _ b: EventStore, sourceLocation: SourceLocation = #_sourceLocation) throws
  {
    #expect(a.head == b.head, sourceLocation: sourceLocation)
    let (left, right) = (try a.log.modelAppends(), try b.log.modelAppends())
    #expect(left.map(\.append) == right.map(\.append), sourceLocation: sourceLocation)
    #expect(left.map(\.revisions) == right.map(\.revisions), sourceLocation: sourceLocation)
  }

  @Test(.timeLimit(.minutes(3)))
  func `a folder has what a store appends, and a copy follows it live`() async throws {
    let folder = try ReplicaFolder()
    let carrier = FolderCarrier(path: folder.file("carrier"))
    let store = try await EventStore.open(at: folder.file("a"))
    for number in 0..<300 { try await store.append([Self.event(number)]) }
    try await store.ship(to: carrier)
    try await store.shipping!.replicated(within: .seconds(60))
    #expect(store.shipping?.status.lag == 0 && store.shipping?.status.position == store.head)

    let copy = try await EventStore.follow(
      from: carrier, at: folder.file("b"), lookingEvery: .milliseconds(5))
    try await copy.following!.caughtUp()
    try expectEqual(store, copy)
    #expect(copy.id == store.id)

    let feed = Task {
      var count = 0
      for try await append in copy.feed(from: .head) {
        count += append.events.count
        if count == 100 { break }
      }
      return count
    }
    for number in 0..<100 {
      let receipt = try await store.append([Self.event(number, text: "live")])
      if number % 10 == 9 { try await receipt.replicated(within: .seconds(60)) }
    }
    #expect(try await feed.value == 100)
    try await copy.following!.caughtUp()
    try expectEqual(store, copy)
    try await copy.close()
    try await store.close()
  }

  @Test(.timeLimit(.minutes(3)))
  func `a copy refuses appends, erasures and saved positions by name, before anything is changed`()
    async throws
  {
    let folder = try ReplicaFolder()
    let carrier = MemoryCarrier()
    let store = try await EventStore.open(at: folder.file("a"))
    try await store.append([Self.event(1)])
    try await store.ship(to: carrier).replicated(within: .seconds(60))
    let copy = try await EventStore.follow(
      from: carrier, at: folder.file("b"), lookingEvery: .milliseconds(5))
    try await copy.following!.caughtUp()
    let before = copy.head
    func expectFollowing(_ body: () async throws -> Void) async {
      let error = await #expect(throws: StoreError.self) { try await body() }
      #expect(error?.reason == .following, "\(String(describing: error))")
    }
    await expectFollowing { try await copy.append([Self.event(2)]) }
    await expectFollowing { try copy.appendBlocking([Self.event(2)]) }
    await expectFollowing { _ = try await copy.erase(Erasure(streams: ["counter/1"], because: "asked")) }
    await expectFollowing { _ = try await copy.load([NewAppend([Self.event(2)])]) }
    let isErasing = try copy.log.isErasing
    #expect(copy.head == before && !isErasing)
    try await copy.close()
    // Another process that opens it by its path is refused, too, and may read it.
    await expectFollowing { _ = try await EventStore.open(at: folder.file("b")) }
    let reader = try await EventStore.open(at: folder.file("b"), .readOnly)
    #expect(reader.head == before)
    try await reader.close()
    try await store.close()
  }

  @Test(.timeLimit(.minutes(3)))
  func `the writer that was overtaken is refused, keeps what it has, and the new one goes on`() async throws {
    let folder = try ReplicaFolder()
    let carrier = MemoryCarrier()
    let store = try await EventStore.open(at: folder.file("a"))
    let first = try await store.append([Self.event(1)])
    try await store.ship(to: carrier)
    try await first.replicated(within: .seconds(60))
    let copy = try await EventStore.follow(
      from: carrier, at: folder.file("b"), lookingEvery: .milliseconds(5))
    try await copy.takeOver()
    let receipt = try await copy.append([Self.event(2)])
    try await receipt.replicated(within: .seconds(60))
    // The one before does not know yet.
    let late = try await store.append([Self.event(3)])
    // Its sequence is in the carrier, with the new writer's event.
    let lateError = await #expect(throws: StoreError.self) { try await late.replicated(within: .seconds(60)) }
    #expect(lateError?.reason == .fenced, "\(String(describing: lateError))")
    let error = await #expect(throws: StoreError.self) {
      try await store.shipping!.replicated(through: late.sequences.upperBound, within: .seconds(60))
    }
    #expect(error?.reason == .fenced, "\(String(describing: error))")
    let refused = await #expect(throws: StoreError.self) { try await store.append([Self.event(4)]) }
    #expect(refused?.reason == .fenced && refused?.next.contains("rejoin") == true)
    #expect(try await store.events(in: "counter/3").count == 1)
    try await store.close()
    let again = await #expect(throws: StoreError.self) { _ = try await EventStore.open(at: folder.file("a")) }
    #expect(again?.reason == .fenced)
    // A third member has the order of the new writer.
    let third = try await EventStore.follow(
      from: carrier, at: folder.file("c"), lookingEvery: .milliseconds(5))
    try await third.following!.caughtUp()
    try expectEqual(copy, third)
    try await third.close()
    try await copy.close()
    // The new writer ships again after it was opened.
    let reopened = try await EventStore.open(at: folder.file("b"))
    try await reopened.append([Self.event(5)])
    try await reopened.ship(to: carrier).replicated(within: .seconds(60))
    try await reopened.close()
  }

  @Test(.timeLimit(.minutes(3)))
  func `a restore at each point is the store as it was there, with an id of its own`() async throws {
    let folder = try ReplicaFolder()
    let carrier = FolderCarrier(path: folder.file("carrier"))
    var options = StoreOptions()
    options.clock = SimulatedClock(step: 1_000_000_000).storeClock
    let store = try await EventStore.open(at: folder.file("a"), options: options)
    try await store.ship(to: carrier)
    var ends: [LogPosition] = []
    for number in 0..<60 {
      let receipt = try await store.append((0...number % 3).map { Self.event(number * 3 + $0) })
      ends.append(try receipt.position)
      if number % 7 == 0 { try await receipt.replicated(within: .seconds(60)) }
    }
    try await store.shipping!.replicated(within: .seconds(60))
    for (number, end) in ends.enumerated() where number % 3 == 0 {
      let point: LogPoint = [.sequence(end.sequence), .position(end)][number % 2]
      let receipt = try await EventStore.restore(from: carrier, at: point, to: folder.file("r\(number)"))
      #expect(receipt.position == end && receipt.origin == store.id && receipt.store != store.id)
      let restored = try await EventStore.open(at: folder.file("r\(number)"))
      let expected = try store.log.modelAppends().map(\.append).filter { $0.last <= end.sequence }
      #expect(try restored.log.modelAppends().map(\.append) == expected)
      // It is a store of its own.
      try await restored.append([Self.event(1)])
      try await restored.close()
    }
    // A sequence inside of an append, and one that is not there, are refused before anything is made.
    for (sequence, what) in [(UInt64(2), "inside"), (10_000, "10000")] {
      let error = await #expect(throws: StoreError.self) {
        _ = try await EventStore.restore(from: carrier, at: .sequence(sequence), to: folder.file("none"))
      }
      #expect("\(error!)".contains(what), "\(error!)")
      #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
    }
    let time = try #require(try store.log.modelAppends()[20].append.time)
    let byTime = try await EventStore.restore(
      from: carrier, at: .time(Timestamp(nanoseconds: time)), to: folder.file("time"))
    #expect(byTime.position == ends[20])
    try await store.close()
  }

  @Test(.timeLimit(.minutes(3)), arguments: [false, true])
  func `what was erased is in no object of a carrier and on no copy any more`(isMemory: Bool) async throws {
    let folder = try ReplicaFolder()
    let memory = MemoryCarrier()
    let carrier: any Carrier = isMemory ? memory : FolderCarrier(path: folder.file("carrier"))
    let store = try await EventStore.open(at: folder.file("a"))
    try await store.ship(to: carrier)
    for number in 0..<50 {
      // Not to be compressed away.
      try await store.append([
        Self.event(number, text: number % 5 == 2 ? "SECRET\(number * 7919)" : "other\(number)")
      ])
    }
    try await store.shipping!.replicated(within: .seconds(60))
    let copy = try await EventStore.follow(
      from: carrier, at: folder.file("b"), lookingEvery: .milliseconds(5))
    try await copy.following!.caughtUp()
    #expect(try holds("SECRET", in: copy.log))
    try await store.erase(Erasure(streams: ["counter/2"], because: "asked"))
    try await store.shipping!.erased(within: .seconds(60))
    let objects = CarrierLog(carrier, of: store.log.storeID)
    var number: UInt64 = 1
    while let object = try objects.object(number) {
      if object.header.kind == WireKind.events {
        let block = try object.block(in: "object \(number)")
        #expect(!Self.contains("SECRET", block.raw), "object \(number)")
      }
      number += 1
    }
    try await copy.following!.caughtUp()
    #expect(try !holds("SECRET", in: copy.log))
    try expectEqual(store, copy)
    // A copy that begins now, and a restore, have the order and no content.
    let fresh = try await EventStore.follow(
      from: carrier, at: folder.file("c"), lookingEvery: .milliseconds(5))
    try await fresh.following!.caughtUp()
    try expectEqual(store, fresh)
    for open in [fresh, copy, store] { try await open.close() }
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    for path in paths where !path.hasPrefix("a/derived") {
      let data = FileManager.default.contents(atPath: folder.file(path)) ?? Data()
      #expect(!data.withUnsafeBytes { Self.contains("SECRET", $0) }, "\(path)")
    }
  }

  private func holds(_ text: String, in log: Log) throws -> Bool {
    var cursor = log.cursor(after: 0)
    while let block = try cursor.next() { if Self.contains(text, block.raw) { return true } }
    return false
  }

  static func contains(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let wanted = Array(text.utf8)
    guard bytes.count >= wanted.count else { return false }
    return (0...bytes.count - wanted.count).contains {
      bytes[$0] == wanted[0] && bytes[$0..<$0 + wanted.count].elementsEqual(wanted)
    }
  }

  @Test(.timeLimit(.minutes(3)))
  func `every changed bit of an object is an error that names it, and never an event`() async throws {
    let folder = try ReplicaFolder()
    let carrier = MemoryCarrier()
    let store = try await EventStore.open(at: folder.file("a"))
    for number in 0..<6 { try await store.append([Self.event(number)], id: "id\(number)") }
    try await store.ship(to: carrier).replicated(within: .seconds(60))
    let whole = try #require(carrier.objects[1])
    for bit in 0..<whole.count * 8 {
      var bytes = whole
      bytes[bit / 8] ^= 1 << (bit % 8)
      carrier.damage(1, bytes)
      let disk = SimulatedDisk()
      let error = #expect(throws: StoreError.self) {
        // The first object says which store it is.
        let (copy, _) = try EventStore.openFollower(
          of: carrier, disk, at: "/copy", options: ReplicaMachine.options)
        defer { #expect(copy.head.sequence == 0) }
        _ = try copy.follower(from: carrier).step()
      }
      #expect(
        error?.place.contains("log/00000000000000000001") == true, "bit \(bit): \(String(describing: error))")
    }
    try await store.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a carrier that ignores conditions is refused by name`() async throws {
    let store = EventStore.inMemory()
    try await store.append([Self.event(1)])
    let carrier = MemoryCarrier()
    var faults = MemoryCarrier.Faults()
    faults.ignoresConditions = true
    carrier.setFaults(faults, seed: 1)
    let error = await #expect(throws: StoreError.self) { try await store.ship(to: carrier) }
    #expect(error?.reason == .carrierUnfit && carrier.objects.isEmpty)
    #expect(store.log.replica == nil)
    try await store.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a carrier that sleeps holds up no append, and what waits is said to be unknown`() async throws {
    let carrier = MemoryCarrier()
    let store = EventStore.inMemory()
    try await store.ship(to: carrier)
    carrier.sleep()
    let receipt = try await store.append([Self.event(1)])
    let error = await #expect(throws: StoreError.self) {
      try await receipt.replicated(within: .milliseconds(300))
    }
    #expect(error?.reason == .carrierUnavailable && error?.what.contains("not known") == true)
    #expect(store.shipping?.status.lag == 1 && store.shipping?.status.trouble != nil)
    for number in 2..<50 { try await store.append([Self.event(number)]) }
    carrier.wakeUp()
    try await store.shipping!.replicated(within: .seconds(60))
    #expect(store.shipping?.status.trouble == nil)
    try await store.close()
  }
}
