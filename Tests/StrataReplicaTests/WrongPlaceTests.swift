// A place that is not the one that was meant, or that has lost what it had.

internal import ReplicaSchedules
internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataReplica
internal import StrataSimulation
internal import StrataTesting
internal import Testing

@Suite struct WrongPlaceTests {
  private func store(_ count: Int, shippedTo carrier: any Carrier) throws -> EventStore {
    let store = try EventStore.open(SimulatedDisk(), path: "/store", .readWrite, options: StoreOptions())
    for number in 1...count { try store.appendBlocking([ShippingTests.event(number)]) }
    try ship(store, to: carrier)
    return store
  }

  private func ship(_ store: EventStore, to carrier: any Carrier, startingOver: Bool = false) throws {
    let shipping = try store.shipBlocking(to: carrier, startingOver: startingOver)
    let deadline = MonotonicTime.now().advanced(by: .seconds(20))
    while shipping.status.lag > 0 || !shipping.settle(), MonotonicTime.now() < deadline {
      _ = Gate(()).wait(timeout: .milliseconds(5)) { _ in false }
    }
    #expect(shipping.status.lag == 0 && shipping.status.failure == nil)
  }

  /// What a carrier has, with the notes in it.
  private func content(_ carrier: MemoryCarrier) throws -> [[UInt8]] {
    let last = try carrier.extent().last
    let objects = try (0..<last).compactMap { try carrier.object($0 + 1)?.bytes }
    return try objects + carrier.notes().map { Array($0.member.utf8) }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a store leaves the place of another one as it is, and goes on to its own`() throws {
    let (own, other) = (MemoryCarrier(), MemoryCarrier())
    let writer = try store(2, shippedTo: own)
    let stranger = try store(3, shippedTo: other)
    let before = try content(other)
    let mark = writer.log.replica
    let error = #expect(throws: StoreError.self) { try writer.shipBlocking(to: other) }
    guard case .invalid(let what, _) = error else {
      Issue.record("\(error!)")
      return
    }
    #expect(what.contains("\(stranger.log.storeID)"))
    #expect(try content(other) == before && writer.log.replica == mark)
    // Nor does one that has never shipped.
    let fresh = try EventStore.open(SimulatedDisk(), path: "/store", .readWrite, options: StoreOptions())
    #expect(throws: StoreError.self) { try fresh.shipBlocking(to: other) }
    #expect(try content(other) == before && fresh.log.replica == nil)
    #expect(throws: StoreError.self) { _ = try CarrierCheck(writer.log, other).run() }
    try writer.appendBlocking([ShippingTests.event(9)])
    try ship(writer, to: own)
    for store in [writer, stranger, fresh] { try store.closeBlocking() }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a place that has lost everything is not filled again unless somebody says so`() throws {
    let carrier = MemoryCarrier()
    let writer = try store(2, shippedTo: carrier)
    #expect(writer.log.replica?.hasShipped == true)
    writer.shipping?.stop()
    let empty = MemoryCarrier()
    #expect(empty.name == carrier.name)
    let error = #expect(throws: StoreError.self) { try writer.shipBlocking(to: empty) }
    #expect(error?.reason == .carrierUnfit)
    #expect(try content(empty).isEmpty)
    // The place is there again.
    try ship(writer, to: carrier)
    writer.shipping?.stop()
    try ship(writer, to: empty, startingOver: true)
    #expect(try content(empty).count > 1)
    try writer.closeBlocking()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a disk that is not mounted is not written to`() async throws {
    let folder = try ReplicaFolder()
    let files = PosixFileSystem()
    try files.createDirectory(folder.file("disk"))
    let carrier = FolderCarrier(path: folder.file("disk/desk"))
    let store = try await EventStore.open(at: folder.file("a"))
    try await store.append([ShippingTests.event(1)])
    let shipping = try await store.ship(to: carrier)
    try await shipping.replicated(within: .seconds(30))
    shipping.finish()
    // Its mount point is empty, or not there.
    try files.rename(folder.file("disk"), to: folder.file("away"))
    let gone = await #expect(throws: StoreError.self) { try await store.ship(to: carrier) }
    #expect(gone?.reason == .carrierUnavailable)
    try files.createDirectory(folder.file("disk"))
    let empty = await #expect(throws: StoreError.self) { try await store.ship(to: carrier) }
    #expect(empty?.reason == .carrierUnfit)
    #expect(try files.contents(ofDirectory: folder.file("disk")).isEmpty)
    try await store.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `of two that take over at the same time one wins, and the other is told and follows it`() async throws
  {
    let folder = try ReplicaFolder()
    let carrier = FolderCarrier(path: folder.file("carrier"))
    let first = try await EventStore.open(at: folder.file("a"))
    try await first.append([ShippingTests.event(1)])
    try await first.ship(to: carrier).replicated(within: .seconds(30))
    try await first.close()
    var copies: [EventStore] = []
    for name in ["b", "c"] {
      let copy = try await EventStore.follow(
        from: carrier, at: folder.file(name), lookingEvery: .milliseconds(5))
      try await copy.following?.caughtUp()
      copies.append(copy)
    }
    // The claim of the second is made between the look of the first and its put.
    let second = copies[1]
    var takeover = Takeover(
      copies[0].follower(from: carrier), copies[0].log,
      InterruptedCarrier(carrier, at: .put) { _ = try? second.takeOverBlocking(within: .seconds(20)) },
      as: try #require(copies[0].log.replica?.member))
    for _ in 0..<5 { #expect(try !takeover.step()) }
    #expect(takeover.winner == copies[1].log.replica?.member && takeover.winner != nil)
    try await copies[1].append([ShippingTests.event(2)])
    // Whoever asks later takes over.
    try await copies[1].shipping?.replicated(within: .seconds(30))
    try await copies[0].takeOver(within: .seconds(20))
    #expect(copies[0].head.sequence == 2)
    try await copies[0].append([ShippingTests.event(3)])
    for copy in copies { try await copy.close() }
  }

  @Test(.timeLimit(.minutes(1)))
  func `a store that has not won goes on following, and is released as any other`() async throws {
    let folder = try ReplicaFolder()
    let carrier = FolderCarrier(path: folder.file("carrier"))
    let first = try await EventStore.open(at: folder.file("a"))
    try await first.append([ShippingTests.event(1)])
    try await first.ship(to: carrier).replicated(within: .seconds(30))
    try await first.close()
    let winner = try await EventStore.follow(
      from: carrier, at: folder.file("b"), lookingEvery: .milliseconds(5))
    try await winner.following?.caughtUp()
    let interrupted = InterruptedCarrier(carrier, at: .put) {
      _ = try? winner.takeOverBlocking(within: .seconds(20))
    }
    var other: EventStore? = try await EventStore.follow(
      from: interrupted, at: folder.file("c"), lookingEvery: .milliseconds(5))
    try await other?.following?.caughtUp()
    do throws(StoreError) {
      try await other?.takeOver()
      Issue.record("both have taken over")
    } catch {
      #expect(error.reason == .following)
    }
    try await winner.append([ShippingTests.event(2)]).replicated(within: .seconds(30))
    try await other?.following?.caughtUp()
    #expect(other?.head == winner.head)
    weak let released = other
    other = nil
    let deadline = MonotonicTime.now().advanced(by: .seconds(20))
    while released != nil, MonotonicTime.now() < deadline { try await Task.sleep(for: .milliseconds(5)) }
    #expect(released == nil)
    try await winner.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a copy is caught up with what was there when somebody asked, also if a look ran then`() async throws {
    let folder = try ReplicaFolder()
    let carrier = FolderCarrier(path: folder.file("carrier"))
    let store = try await EventStore.open(at: folder.file("a"))
    try await store.append([ShippingTests.event(1)])
    try await store.ship(to: carrier).replicated(within: .seconds(30))
    let (isInLook, mayGoOn) = (Gate(false), Gate(false))
    let interrupted = InterruptedCarrier(carrier, at: .object) {
      isInLook.withLock { $0 = true }
      _ = mayGoOn.wait(timeout: .seconds(20)) { $0 }
    }
    let copy = try await EventStore.follow(
      from: interrupted, at: folder.file("b"), lookingEvery: .milliseconds(5))
    while !isInLook.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    try await store.append([ShippingTests.event(2)]).replicated(within: .seconds(30))
    let asking = Task {
      try await copy.following?.caughtUp()
      return copy.head.sequence
    }
    // So that the task asks while the look runs. Asked later, the answer is the same.
    try await Task.sleep(for: .milliseconds(50))
    mayGoOn.withLock { $0 = true }
    mayGoOn.signalAll()
    #expect(try await asking.value == 2)
    try await copy.close()
    try await store.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a store that was overtaken is told from the one that writes`() async throws {
    let folder = try ReplicaFolder()
    let carrier = FolderCarrier(path: folder.file("carrier"))
    let first = try await EventStore.open(at: folder.file("a"))
    try await first.append([ShippingTests.event(1)])
    try await first.ship(to: carrier).replicated(within: .seconds(30))
    let copy = try await EventStore.follow(from: carrier, at: folder.file("b"))
    try await copy.following?.caughtUp()
    try await copy.takeOver(within: .seconds(20))
    let members = try EventStore.members(in: carrier).compactMap { member in
      member.state.map { (id: member.id, isWriter: $0.isWriter, wasOvertaken: $0.wasOvertaken, $0.position) }
    }
    #expect(members.count == 2)
    let writer = try #require(copy.log.replica?.member.description)
    for member in members {
      #expect(member.isWriter == (member.id == writer) && member.wasOvertaken == (member.id != writer))
      #expect(member.3.sequence == 1, "\(member)")
    }
    let error = #expect(throws: StoreError.self) { try copy.takeOverBlocking() }
    #expect(error?.what.contains("is the one that writes") == true)
    for store in [first, copy] { try await store.close() }
  }

  @Test(.timeLimit(.minutes(1)))
  func `an interrupted rejoin leaves lines that the next one does not stumble over`() async throws {
    let folder = try ReplicaFolder()
    let carrier = FolderCarrier(path: folder.file("carrier"))
    let first = try await EventStore.open(at: folder.file("a"))
    try await first.append([ShippingTests.event(1)])
    try await first.ship(to: carrier).replicated(within: .seconds(30))
    try await first.close()
    let copy = try await EventStore.follow(from: carrier, at: folder.file("b"))
    try await copy.following?.caughtUp()
    try await copy.takeOver(within: .seconds(20))
    let again = try await EventStore.open(at: folder.file("a"))
    try await again.append([ShippingTests.event(2)])
    try await again.close()
    try Array("{}".utf8).withUnsafeBytes { bytes in
      let file = try PosixFileSystem().open(folder.file("a.before-rejoin-1.jsonl"), .createNew)
      try file.write(bytes, at: 0)
      file.close()
    }
    let receipt = try await EventStore.rejoin(from: carrier, at: folder.file("a"))
    #expect(receipt.aside == folder.file("a.before-rejoin-2") && receipt.ownCount == 1)
    try await copy.close()
  }

  @Test func `what a store of its own has since it was made is counted, and not compared`() async throws {
    let folder = try ReplicaFolder()
    let carrier = FolderCarrier(path: folder.file("carrier"))
    let first = try await EventStore.open(at: folder.file("a"))
    for number in 1...3 { try await first.append([ShippingTests.event(number)]) }
    try await first.ship(to: carrier).replicated(within: .seconds(30))
    _ = try await EventStore.restore(from: carrier, at: .sequence(1), to: folder.file("fork"))
    let fork = try await EventStore.open(at: folder.file("fork"))
    for number in 7...8 { try await fork.append([ShippingTests.event(number)]) }
    let report = try CarrierCheck(fork.log, carrier).run()
    #expect(report.through == 1 && report.ahead == 2 && report.own == 2 && report.lag == 0)
    for store in [first, fork] { try await store.close() }
  }
}

/// A carrier whose first put has to wait for something else, or whose first list is of before it.
final class InterruptedCarrier: CarrierFiles {
  enum Call { case put, extent, object }
  private let carrier: any CarrierFiles
  private let call: Call
  private let interruption: Lock<(@Sendable () -> Void)?>

  init(_ carrier: any CarrierFiles, at call: Call, _ interruption: @escaping @Sendable () -> Void) {
    self.carrier = carrier
    self.call = call
    self.interruption = Lock(interruption)
  }

  private func interrupt(_ call: Call) {
    guard call == self.call else { return }
    let body = interruption.withLock { state in
      defer { state = nil }
      return state
    }
    body?()
  }

  var name: String { carrier.name }
  func prove() throws(CarrierError) { try carrier.prove() }
  func put(_ objects: [CarrierObject]) -> CarrierAnswer {
    interrupt(.put)
    return carrier.put(objects)
  }
  func confirm(_ object: CarrierObject) throws(CarrierError) { try carrier.confirm(object) }
  func object(_ number: UInt64) throws(CarrierError) -> CarrierObject? {
    let object = try carrier.object(number)
    if object == nil { interrupt(.object) }
    return object
  }
  func extent() throws(CarrierError) -> CarrierExtent {
    let extent = try carrier.extent()
    interrupt(.extent)
    return extent
  }
  func hasObject(_ number: UInt64) throws(CarrierError) -> Bool { try carrier.hasObject(number) }
  func replaceObject(_ object: CarrierObject) throws(CarrierError) { try carrier.replaceObject(object) }
  func waitForObject(_ number: UInt64, within interval: Duration) {}
  func createFile(_ name: String, _ bytes: [UInt8]) -> CarrierAnswer { carrier.createFile(name, bytes) }
  func replaceFile(_ name: String, _ bytes: [UInt8]) throws(CarrierError) {
    try carrier.replaceFile(name, bytes)
  }
  func replaceFile(
    _ name: String, size: Int64,
    from read: (UnsafeMutableRawBufferPointer, _ offset: Int64) throws(CarrierError) -> Void
  ) throws(CarrierError) { try carrier.replaceFile(name, size: size, from: read) }
  func readFile(
    _ name: String, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CarrierError) -> Int? { try carrier.readFile(name, at: offset, into: buffer) }
  func fileNames(in folder: String) throws(CarrierError) -> [String] { try carrier.fileNames(in: folder) }
  func removeFiles(_ names: [String], in folder: String) throws(CarrierError) {
    try carrier.removeFiles(names, in: folder)
  }
}
