// Whole segments beside the objects: a copy begins with them, and objects that they replace are removed.

internal import ReplicaSchedules
internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataReplica
internal import StrataSimulation
internal import StrataTesting
internal import Testing

@Suite struct SegmentTests {
  /// A writer with its carrier, in steps.
  private final class Writer: @unchecked Sendable {
    let disk = SimulatedDisk()
    let carrier: any CarrierFiles
    let store: EventStore
    let member = StoreID.random()
    var shipper: Shipper
    var segments: SegmentShipping
    private var count = 0

    init(_ carrier: any CarrierFiles, isSlicedFinely: Bool = true) throws {
      self.carrier = carrier
      store = try EventStore.open(disk, path: "/store", .readWrite, options: ReplicaMachine.options)
      try store.log.setReplica(
        ReplicaMark(.writer, of: store.log.storeID, member: member, carrier: carrier.name))
      var limits = Shipper.Limits()
      if isSlicedFinely { limits.objectSize = 1 }
      shipper = Shipper(store.log, to: carrier, as: member, limits)
      segments = try #require(SegmentShipping(store.log, carrier, as: member))
    }

    /// Appends, ships each append, and seals.
    func addSegment(_ appends: Int = 5, text: String = "") throws {
      for _ in 0..<appends {
        count += 1
        try store.appendBlocking([ShippingTests.event(count, text: text), ShippingTests.event(count)])
        try ship()
      }
      _ = try store.log.seal()
      try putSegments()
    }

    func ship() throws { while try shipper.step() != .idle {} }

    func putSegments() throws {
      while try segments.step(through: shipper.end!.sequence, isStopped: { false }) {}
    }

    var manifest: CarrierManifest? {
      get throws { try CarrierLog(carrier, of: store.log.storeID).manifest() }
    }
  }

  private func follow(
    _ carrier: any Carrier, _ disk: SimulatedDisk = SimulatedDisk()
  ) throws -> (store: EventStore, follower: Follower) {
    let (copy, _) = try EventStore.openFollower(
      of: carrier, disk, at: "/copy", options: ReplicaMachine.options)
    return (copy, copy.follower(from: carrier))
  }

  /// Makes a copy the writer. Returns its member.
  private func takeOver(
    _ copy: EventStore, _ follower: Follower, _ carrier: any Carrier
  ) throws -> StoreID {
    var mark = try #require(copy.log.replica)
    var takeover = Takeover(follower, copy.log, carrier, as: mark.member)
    while try !takeover.step() {}
    mark.role = .writer
    try copy.log.setReplica(mark)
    return mark.member
  }

  private func expectEqual(
    _ a: EventStore, _ b: EventStore, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(a.head == b.head, sourceLocation: sourceLocation)
    #expect(
      try a.log.modelAppends().map(\.append) == b.log.modelAppends().map(\.append),
      sourceLocation: sourceLocation)
  }

  @Test func `a new copy begins with whole segments, and objects that they hold are removed`() throws {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    for _ in 0..<4 { try writer.addSegment() }
    let manifest = try #require(try writer.manifest)
    #expect(manifest.entries.count == 4 && manifest.last == writer.store.head.sequence)
    // The objects of the last segment stay, for those that lag a little.
    let first = try #require(carrier.objects.keys.min())
    #expect(first == manifest.firstObject && carrier.objects.count < 12 && carrier.objects.count >= 5)
    try writer.store.appendBlocking([ShippingTests.event(99)])
    try writer.ship()
    let (copy, follower) = try follow(carrier)
    #expect(copy.head.sequence == manifest.last)
    while try follower.step() {}
    try expectEqual(copy, writer.store)
    // A takeover goes on after the segments that the copy has from the carrier, with the same files.
    var takeover = Takeover(follower, copy.log, carrier, as: .random())
    #expect(try takeover.step())
    for store in [copy, writer.store] { try store.closeBlocking() }
  }

  @Test
  func `a copy that lags behind the removed objects goes on with segments, and so do points and checks`()
    throws
  {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    try writer.store.appendBlocking([ShippingTests.event(1)])
    try writer.ship()
    let (copy, follower) = try follow(carrier)
    while try follower.step() {}
    #expect(copy.head.sequence == 1)
    let (waiting, waitingFollower) = try follow(carrier)
    while try waitingFollower.step() {}
    for _ in 0..<5 { try writer.addSegment() }
    #expect(try #require(carrier.objects.keys.min()) > 10)
    for (store, follower) in [(copy, copy.follower(from: carrier)), (waiting, waitingFollower)] {
      while try follower.step() {}
      try expectEqual(store, writer.store)
    }
    _ = follower
    let report = try CarrierCheck(writer.store.log, carrier).run()
    #expect(report.segments == 5 && report.lag == 0 && report.through == writer.store.head.sequence)
    for end in [3, 13, 31, writer.store.head.sequence] as [UInt64] {
      let disk = SimulatedDisk()
      let receipt = try EventStore.restore(from: carrier, at: .sequence(end), disk, to: "/then")
      #expect(receipt.position.sequence == end)
      #expect(try receipt.position.chain == writer.store.log.chain(after: end))
    }
    #expect(throws: StoreError.self) {
      _ = try EventStore.restore(from: carrier, at: .sequence(4), SimulatedDisk(), to: "/then")
    }
    for store in [copy, waiting, writer.store] { try store.closeBlocking() }
  }

  @Test func `what is erased is in no segment of the carrier any more, whoever has put it`() throws {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier, isSlicedFinely: false)
    for _ in 0..<3 { try writer.addSegment(text: "SECRET\(UInt64.random(in: 0 ... .max))") }
    func holdsSecret() -> Bool {
      let files = Array(carrier.files.values) + Array(carrier.objects.values)
      return files.contains { $0.withUnsafeBytes { ShippingTests.contains("SECRET", $0) } }
    }
    #expect(holdsSecret())
    let (copy, follower) = try follow(carrier)
    while try follower.step() {}
    // Another member takes over, whose own segments are others, and erases.
    let member = try takeOver(copy, follower, carrier)
    for number in 0..<5 {
      _ = try copy.eraseBlocking(Erasure(streams: [StreamName("counter/\(number)")], because: "asked"))
    }
    let shipper = Shipper(copy.log, to: carrier, as: member)
    while try shipper.step() != .idle {}
    var segments = try #require(SegmentShipping(copy.log, carrier, as: member))
    while try segments.step(through: shipper.end!.sequence, isStopped: { false }) {}
    let count = try copy.log.erasureCount()
    #expect(segments.erasedCount == count && shipper.erasedCount == count)
    #expect(!holdsSecret())
    // The writer before, which does not know it, puts nothing back that counts.
    try? writer.putSegments()
    let fresh = try follow(carrier)
    while try fresh.follower.step() {}
    try expectEqual(fresh.store, copy)
    for store in [fresh.store, copy, writer.store] { try store.closeBlocking() }
  }

  @Test func `a writer that slept until its number was free again has not won it`() throws {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    try writer.addSegment()
    let (copy, follower) = try follow(carrier)
    while try follower.step() {}
    let (late, lateFollower) = try follow(carrier)
    while try lateFollower.step() {}
    let member = try takeOver(copy, follower, carrier)
    var limits = Shipper.Limits()
    limits.objectSize = 1
    let shipper = Shipper(copy.log, to: carrier, as: member, limits)
    var segments = try #require(SegmentShipping(copy.log, carrier, as: member))
    for number in 0..<20 {
      try copy.appendBlocking([ShippingTests.event(number)])
      while try shipper.step() != .idle {}
      if number % 5 == 4 {
        _ = try copy.log.seal()
        while try segments.step(through: shipper.end!.sequence, isStopped: { false }) {}
      }
    }
    let manifest = try #require(try CarrierLog(carrier, of: copy.log.storeID).manifest())
    #expect(carrier.objects[manifest.firstObject - 1] == nil)
    // It wakes up, and puts what it has into the hole.
    try writer.store.appendBlocking([ShippingTests.event(777)])
    let error = #expect(throws: StoreError.self) { try writer.ship() }
    #expect(error?.reason == .fenced, "\(error!)")
    #expect(throws: StoreError.self) { try writer.store.appendBlocking([ShippingTests.event(1)]) }
    #expect(carrier.objects.keys.contains { $0 < manifest.firstObject })
    // Nobody reads it there, not even a copy that waits for just that number.
    #expect(carrier.objects[lateFollower.nextNumber] != nil)
    while try lateFollower.step() {}
    try expectEqual(late, copy)
    let fresh = try follow(carrier)
    while try fresh.follower.step() {}
    try expectEqual(fresh.store, copy)
    for store in [fresh.store, late, copy, writer.store] { try store.closeBlocking() }
  }

  @Test func `a last object that is removed while the objects are listed is none that is missing`() throws {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    try writer.addSegment(2)
    let sleepy = InterruptedCarrier(carrier, at: .extent) {
      do { for _ in 0..<2 { try writer.addSegment(3) } } catch { Issue.record(error) }
    }
    let last = try #require(try CarrierLog(sleepy, of: writer.store.log.storeID).lastObject())
    #expect(last.end.sequence == writer.store.head.sequence)
    #expect(try writer.manifest?.firstObject ?? 0 > 2)
    try writer.store.closeBlocking()
  }

  @Test func `a manifest that a power cut took away is not believed any more`() throws {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    try writer.addSegment(2)
    let reader = CarrierLog(carrier, of: writer.store.log.storeID)
    let lost = try #require(try reader.manifest())
    #expect(lost.number == 1 && lost.firstObject == 1)
    // What others put under its number says that objects are removed.
    try carrier.removeFiles(["\(SegmentName(1).digits)"], in: "manifest")
    writer.segments = try #require(SegmentShipping(writer.store.log, carrier, as: writer.member))
    for _ in 0..<2 {
      try writer.store.appendBlocking([ShippingTests.event(7)])
      try writer.ship()
      _ = try writer.store.log.seal()
    }
    try writer.putSegments()
    #expect(try writer.manifest?.number == 1 && writer.manifest?.firstObject ?? 0 > 1)
    #expect(try reader.lastNumber() == carrier.extent().last)
    #expect(try reader.manifest() == writer.manifest)
    try writer.store.closeBlocking()
  }

  @Test func `a copying of segments that is interrupted goes on, and nothing of it is a store before`() throws
  {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    for _ in 0..<4 { try writer.addSegment() }
    var (interrupted, unopened) = (0, 0)
    for stop in 1..<2000 {
      let disk = SimulatedDisk()
      disk.onOperation { $0.number == stop ? .cutPower(partOfWrite: 0.5) : .proceed }
      if let (whole, _) = try? follow(carrier, disk) {
        try? whole.closeBlocking()
        break
      }
      interrupted += 1
      let after = disk.crash(seed: UInt64(stop), model: CrashModel.allCases[stop % 4])
      // As a store of its own, it is empty or refused.
      if let reader = try? EventStore.open(
        after.clone(), path: "/copy", .readOnly, options: ReplicaMachine.options)
      {
        #expect(reader.head.sequence == 0 || reader.head.sequence == writer.store.head.sequence)
      } else {
        unopened += 1
      }
      let (copy, follower) = try follow(carrier, after)
      while try follower.step() {}
      try expectEqual(copy, writer.store)
      try copy.closeBlocking()
      #expect(try after.findings(inStore: "/copy").isEmpty)
    }
    #expect(interrupted > 50 && unopened > 10, "\(interrupted), \(unopened)")
    try writer.store.closeBlocking()
  }

  @Test func `of segments that are copied at once those before a damaged one are kept, and no later one`()
    throws
  {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    for _ in 0..<7 { try writer.addSegment(2) }
    let segments = try #require(CarrierLog(carrier, of: writer.store.log.storeID).segments)
    let offers = try #require(try segments.latest()).entries.map(segments.offer)
    try #require(offers.count == 7)
    let part = ReplicaMark(
      .follower, of: writer.store.log.storeID, member: .random(), carrier: carrier.name)
    for (number, offer) in offers.enumerated() {
      let name = try #require(carrier.files.keys.first { offer.file.path.hasSuffix($0) })
      let whole = try #require(carrier.files[name])
      var changed = whole
      changed[(4096 + whole.count) / 2] ^= 1
      try carrier.replaceFile(name, changed)
      let disk = SimulatedDisk()
      let parallel = Parallel(threads: .system, threadCountMax: 3)
      let seed = LogSeed(to: disk, path: "/copy", as: part)
      let error = #expect(throws: StoreError.self) { try seed.run(offers, on: parallel, timeout: .zero) }
      #expect(error?.place.contains(name) == true, "\(error!)")
      let kept = try disk.contents(ofDirectory: "/copy/log")
        .filter { $0.hasSuffix(StoreLayout.temporarySuffix) }
      #expect(kept.count == number)
      try carrier.replaceFile(name, whole)
      let told = Lock<[UInt64]>([])
      try seed.run(offers, on: parallel, timeout: .zero) { done, all in
        told.withLock { $0.append(done) }
        #expect(done <= all)
      }
      let bytes = offers.reduce(0) { $0 + $1.size }
      #expect(told.withLock { $0.last } == bytes && told.withLock { $0 == $0.sorted() })
      let (copy, _) = try follow(carrier, disk)
      try expectEqual(copy, writer.store)
      try copy.closeBlocking()
      #expect(try disk.findings(inStore: "/copy").isEmpty)
    }
    try writer.store.closeBlocking()
  }

  @Test func `a changed byte of a segment or of a manifest is an error that names it, and never an event`()
    throws
  {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    for _ in 0..<2 { try writer.addSegment(2) }
    let whole = carrier.files
    var random = SeededGenerator(seed: 4)
    for (name, bytes) in whole where name.hasPrefix("segments/") || name.hasPrefix("manifest/") {
      guard !bytes.isEmpty else { continue }
      let places =
        bytes.count < 400
        ? Array(bytes.indices) : (0..<400).map { _ in Int.random(in: 0..<bytes.count, using: &random) }
      for place in places {
        var changed = bytes
        changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        try carrier.replaceFile(name, changed)
        let disk = SimulatedDisk()
        let error = #expect(throws: StoreError.self) { _ = try follow(carrier, disk) }
        #expect(error?.place.contains(name) == true, "byte \(place) of \(name): \(error!)")
        #expect(throws: StoreError.self) { _ = try CarrierCheck(writer.store.log, carrier).run() }
        #expect(try SegmentCatalog.names(disk, StoreLayout(root: "/copy")).isEmpty)
      }
      try carrier.replaceFile(name, bytes)
    }
    for name in whole.keys where name.hasPrefix("segments/") {
      let bytes = try #require(whole[name])
      for cut in [0, 100, 4096, bytes.count - 1] {
        try carrier.replaceFile(name, Array(bytes[..<cut]))
        #expect(throws: StoreError.self) { _ = try follow(carrier) }
      }
      try carrier.replaceFile(name, bytes)
    }
    let (copy, _) = try follow(carrier)
    try expectEqual(copy, writer.store)
    for store in [copy, writer.store] { try store.closeBlocking() }
  }

  @Test func `only what the carrier has is put as a segment, and its files are left to later writers`() throws
  {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    try writer.addSegment()
    let end = writer.store.head.sequence
    try writer.store.appendBlocking([ShippingTests.event(9)])
    _ = try writer.store.log.seal()
    // Sealed, and not shipped.
    try writer.putSegments()
    #expect(try #require(try writer.manifest).last == end)
    let number = try #require(try writer.manifest).number
    // What a later writer puts for the manifest after the next is not this one's to remove; what nobody has named is.
    func name(_ since: UInt64) -> String {
      CarrierManifest.Entry(
        since: since, first: 1, last: 2, chain: 0, size: 9, erasures: 0, revision: 1, token: 7
      ).fileName
    }
    for since in [number, number + 1, number + 2] {
      try carrier.replaceFile("segments/\(name(since))", [1])
    }
    try writer.ship()
    try writer.putSegments()
    #expect(try #require(try writer.manifest).number == number + 1)
    let files = try carrier.fileNames(in: "segments")
    #expect(files.contains(name(number + 2)), "\(files)")
    #expect(files.count == 3 && carrier.files["manifest/\(String(repeating: "0", count: 19))1"] == [])
    try writer.store.closeBlocking()
  }

  @Test func `a manifest that contradicts itself is refused, whatever its checksum says`() throws {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    for _ in 0..<3 { try writer.addSegment(2) }
    let whole = try #require(try writer.manifest)
    func changed(_ change: (inout CarrierManifest) -> Void) -> CarrierManifest {
      var manifest = whole
      change(&manifest)
      return manifest
    }
    let wrong: [(String, CarrierManifest)] = [
      ("empty", changed { $0.entries = [] }), ("a gap", changed { $0.entries.remove(at: 1) }),
      ("begins later", changed { $0.entries.removeFirst() }), ("object 0", changed { $0.firstObject = 0 }),
      ("another number", changed { $0.number += 1 }), ("another store", changed { $0.storeID = .random() }),
      ("ends before it begins", changed { $0.entries[0].last = 0 }),
      ("put later", changed { $0.entries[0].since = 9 }), ("never put", changed { $0.entries[0].since = 0 }),
      ("too small", changed { $0.entries[0].size = 4096 }),
      ("too large", changed { $0.entries[0].size = .max }),
      ("never rewritten", changed { $0.entries[0].revision = 0 }),
      ("another chain", changed { $0.entries[0].chain ^= 1 }),
      ("another length", changed { $0.entries[0].size += 8 }),
      (
        "another end",
        changed {
          $0.entries[0].last += 1; $0.entries[1].first += 1
        }
      ),
      ("another order", changed { $0.entries.swapAt(0, 1) }),
    ]
    for (what, manifest) in wrong {
      try carrier.replaceFile(CarrierSegments.manifestName(whole.number), manifest.encoded())
      #expect(throws: StoreError.self, "\(what)") { _ = try follow(carrier) }
      #expect(throws: StoreError.self, "\(what)") { _ = try CarrierCheck(writer.store.log, carrier).run() }
    }
    try carrier.replaceFile(CarrierSegments.manifestName(whole.number), whole.encoded())
    let (copy, _) = try follow(carrier)
    for store in [copy, writer.store] { try store.closeBlocking() }
  }

  @Test(.timeLimit(.minutes(2)))
  func `an open store puts segments by itself, and an erasure waits for them`() async throws {
    let carrier = MemoryCarrier()
    let store = EventStore.inMemory()
    for number in 0..<40 {
      try await store.append([ShippingTests.event(number, text: "SECRET\(number * 7919)")])
    }
    _ = try await store.seal()
    let shipping = try await store.ship(to: carrier)
    try await shipping.replicated(within: .seconds(60))
    for _ in 0..<1000 where !shipping.settle() { try await Task.sleep(for: .milliseconds(10)) }
    let manifest = try #require(try CarrierLog(carrier, of: store.log.storeID).manifest())
    #expect(manifest.last == 40 && shipping.status.segmentTrouble == nil)
    try await store.erase(Erasure(streams: (0..<5).map { StreamName("counter/\($0)") }, because: "asked"))
    try await shipping.erased(within: .seconds(60))
    for (name, bytes) in carrier.files {
      #expect(!bytes.withUnsafeBytes { ShippingTests.contains("SECRET", $0) }, "\(name)")
    }
    // A copy says that there will be one before it has anything.
    let (copy, member) = try EventStore.openFollower(
      of: carrier, SimulatedDisk(), at: "/copy", options: ReplicaMachine.options)
    let members = try EventStore.members(in: carrier)
    #expect(members.first { $0.id == member.description }?.state?.erasedThrough == 0, "\(members)")
    try copy.closeBlocking()
    try await store.close()
  }

  @Test func `a file is kept only after the segment that it names`() throws {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    try writer.store.appendBlocking([ShippingTests.event(1)])
    try writer.ship()
    let (copy, follower) = try follow(carrier)
    while try follower.step() {}
    // The copy's first segment is a part of the writer's; the later ones hold the same events.
    _ = try copy.log.seal()
    for _ in 0..<3 {
      try writer.addSegment()
      while try follower.step() {}
      _ = try copy.log.seal()
    }
    let before = try #require(try writer.manifest)
    let member = try takeOver(copy, follower, carrier)
    try copy.appendBlocking([ShippingTests.event(5)])
    _ = try copy.log.seal()
    let shipper = Shipper(copy.log, to: carrier, as: member)
    while try shipper.step() != .idle {}
    var segments = try #require(SegmentShipping(copy.log, carrier, as: member))
    while try segments.step(through: shipper.end!.sequence, isStopped: { false }) {}
    let after = try #require(try CarrierLog(carrier, of: copy.log.storeID).manifest())
    #expect(before.entries.count == 3 && after.entries.count == 5)
    #expect(before.entries[1].holdsSame(as: after.entries[2]) && after.entries[2].since == after.number)
    #expect(after.entries[3] == before.entries[2], "the one after the same segment is kept")
    let fresh = try follow(carrier)
    while try fresh.follower.step() {}
    try expectEqual(fresh.store, copy)
    for store in [fresh.store, copy, writer.store] { try store.closeBlocking() }
  }

  @Test func `numbers that no carrier has are ignored`() throws {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier)
    for _ in 0..<2 { try writer.addSegment() }
    for number in [UInt64.max, UInt64.max - 1, UInt64(1) << 63] {
      try carrier.replaceFile(CarrierSegments.manifestName(number), [1, 2, 3])
      carrier.damage(number, [1])
    }
    let (copy, follower) = try follow(carrier)
    while try follower.step() {}
    try expectEqual(copy, writer.store)
    try writer.addSegment()
    for store in [copy, writer.store] { try store.closeBlocking() }
  }

  @Test func `a writer whose own segments are not sealed seals them to take the place of erased ones`() throws
  {
    let carrier = MemoryCarrier()
    let writer = try Writer(carrier, isSlicedFinely: false)
    try writer.addSegment(3)
    var options = ReplicaMachine.options
    options.sealsInBackground = false
    let (copy, _) = try EventStore.openFollower(of: carrier, SimulatedDisk(), at: "/copy", options: options)
    let follower = copy.follower(from: carrier)
    while try follower.step() {}
    try writer.store.appendBlocking([ShippingTests.event(99)])
    try writer.ship()
    while try follower.step() {}
    // Closed, not sealed, and not what is erased.
    try copy.log.roll()
    let end = copy.head.sequence
    try writer.addSegment(3, text: "SECRET\(UInt64.random(in: 0 ... .max))")
    while try follower.step() {}
    let member = try takeOver(copy, follower, carrier)
    _ = try copy.eraseBlocking(Erasure(sequences: [end + 1...copy.head.sequence], because: "asked"))
    #expect(try copy.log.closedSegments.contains { try copy.log.sealedSegment($0) == nil })
    let shipper = Shipper(copy.log, to: carrier, as: member)
    while try shipper.step() != .idle {}
    var segments = try #require(SegmentShipping(copy.log, carrier, as: member))
    while try segments.step(through: shipper.end!.sequence, isStopped: { false }) {}
    #expect(try segments.erasedCount == copy.log.erasureCount())
    for (name, bytes) in carrier.files {
      #expect(!bytes.withUnsafeBytes { ShippingTests.contains("SECRET", $0) }, "\(name)")
    }
    for store in [copy, writer.store] { try store.closeBlocking() }
  }
}
