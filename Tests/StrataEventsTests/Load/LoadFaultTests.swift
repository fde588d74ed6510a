// Loads on disks that fail, lose their power or are slow.

import Foundation
import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct LoadFaultTests {
  private static let path = "/store"

  private static func open(_ disk: SimulatedDisk, _ durability: Durability = .synced) throws -> EventStore {
    var options = StoreOptions()
    options.clock = .fixed
    options.durability = durability
    options.preallocationStep = 0
    return try EventStore.open(disk, path: path, .readWrite, options: options)
  }

  /// How many appends of a load are there after a crash, in a store that is whole; nil if it holds something else.
  private static func count(_ disk: SimulatedDisk, _ model: LoadModel) throws -> Int? {
    let store = try open(disk)
    defer { try? store.closeBlocking() }
    return model.count(of: store)
  }

  @Test(arguments: [Durability.synced, .buffered], 0..<6)
  func `fault 124: what a load says is on disk is there after a power cut, and all before it`(
    durability: Durability, number: Int
  ) async throws {
    let seed = StrataSimulation.SeededGenerator.testSeed() &+ UInt64(number)
    var random = RandomLoad(seed: seed)
    let appends = random.appends(90)
    let model = try LoadModel(appends)
    let disk = SimulatedDisk()
    let store = try Self.open(disk, durability)
    let every = Int.random(in: 1...12, using: &random.random)
    let changes = Int.random(in: 1...60, using: &random.random)
    disk.cutPower(atChange: changes)
    var reached = LoadReceipt()
    do {
      try await store.load(Delivered(appends), durableEvery: every) { reached = $0 }
    } catch let error as LoadError {
      #expect(error.loaded == reached && disk.isPoweredOff)
    }
    let count = Int(reached.appendCount + reached.knownCount)
    for seed in 0..<4 as Range<UInt64> {
      let after = disk.crash(seed: seed, model: seed == 0 ? .dropAll : .reorder)
      let found = try #require(try Self.count(after, model), "not a prefix, SEED=\(seed)")
      #expect(found >= count, "\(durability), every \(every), cut at \(changes), SEED=\(seed)")
    }
    try? await store.close()
  }

  @Test(arguments: 0..<10)
  func `fault 124: a disk that fails or is full ends a load with the append and what is there`(number: Int)
    async throws
  {
    let seed = StrataSimulation.SeededGenerator.testSeed() &+ UInt64(number)
    var random = RandomLoad(seed: seed)
    // An append that has no room has asked the clock.
    random.isTimed = true
    let appends = random.appends(90)
    let model = try LoadModel(appends)
    let disk = SimulatedDisk()
    let store = try Self.open(disk)
    let isFull = number % 2 == 0
    if isFull {
      disk.capacity = disk.usedSize + Int.random(in: 0...4_000, using: &random.random)
    } else {
      disk.inject(SimulatedFailure(number: Int.random(in: 1...20, using: &random.random)))
    }
    var failure: LoadError?
    do { try await store.load(Delivered(appends), durableEvery: 4) } catch let error as LoadError {
      failure = error
    }
    disk.capacity = nil
    disk.clearFailures()
    if isFull {
      let failure = try #require(failure, "SEED=\(seed)")
      guard case .full = failure.error else {
        Issue.record("\(failure), SEED=\(seed)")
        return
      }
      // The log has every append before the refused one, and the load goes on from there.
      let count = try #require(model.count(of: store))
      #expect(failure.loaded.appendCount + failure.loaded.knownCount == failure.index)
      #expect(count >= Int(failure.index) && store.head == model.heads[Int(failure.index)], "SEED=\(seed)")
      try await store.load(appends[Int(failure.index)...])
      #expect(store.head == model.heads.last)
    }
    try? await store.close()
    let found = try #require(try Self.count(disk.crash(seed: seed, model: .dropAll), model), "SEED=\(seed)")
    #expect(found >= Int(failure.map { $0.loaded.appendCount + $0.loaded.knownCount } ?? 0), "SEED=\(seed)")
  }

  @Test(arguments: [(loads: 1, least: 30, most: 34), (loads: 12, least: 60, most: 170)])
  func `fault 125: loads into a disk that does not answer take no more than their share, and hold up nobody`(
    loadCount: Int, least: Int, most: Int
  ) async throws {
    let disk = SimulatedDisk()
    var options = StoreOptions()
    options.pendingBytesMax = 64 << 10
    options.preallocationStep = 0
    let store = try EventStore.open(disk, path: Self.path, .readWrite, options: options)
    let isShut = Gate(true)
    disk.onOperation { call in
      if call.operation == .syncData { isShut.wait { $0 ? nil : () } }
      return .proceed
    }
    let payload = [UInt8](repeating: 7, count: 1_000)
    let appends = (0..<300).map { NewAppend([NewEvent("t", in: "s/\($0 % 5)", payload: .opaque(payload))]) }
    let taken = Lock(0)
    // Twelve are more than the pool has threads.
    let loads = (0..<loadCount).map { _ in
      Task {
        try await store.load(Delivered(appends) { _ in taken.withLock { $0 += 1 } })
      }
    }
    // Others go on, until nothing is taken any more.
    let other = EventStore.inMemory()
    var (before, quiet) = (-1, 0)
    while quiet < 100 {
      try await other.append([NewEvent("t", in: "s/1", .null)])
      let now = taken.withLock { $0 }
      quiet = now == before && now >= least ? quiet + 1 : 0
      before = now
    }
    // One load has half of what may wait. Many have what may wait, as much in the group that is being written, and each
    // an append or two that it took when there was nearly no room.
    #expect(before <= most, "\(before)")
    isShut.withLock { $0 = false }
    isShut.signalAll()
    for load in loads { #expect(try await load.value.appendCount == 300) }
    #expect(store.head.sequence == UInt64(loadCount) * 300)
    disk.onOperation(nil)
    try await store.close()
    try await other.close()
  }
}
