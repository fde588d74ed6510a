import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct SimulatedFaultTests {
  private func disk(holding bytes: [UInt8]) throws -> (disk: SimulatedDisk, file: any File) {
    let disk = SimulatedDisk()
    disk.add("/a", bytes)
    return (disk, try disk.open("/a", .readWrite))
  }

  // MARK: Calls that fail

  @Test func `the call that is to fail fails and only that`() throws {
    let (disk, file) = try disk(holding: [])
    disk.inject(SimulatedFailure(of: [.write], number: 2, code: SystemErrorCode.noSpace))
    try file.write([1], at: 0)
    #expect(try file.size() == 1)
    expectFailure(SystemErrorCode.noSpace) { try file.write([2], at: 1) }
    try file.write([3], at: 1)
    #expect(disk.contents("/a") == [1, 3])
  }

  @Test func `a lasting failure ends when it is taken back`() throws {
    let (disk, file) = try disk(holding: [])
    disk.inject(SimulatedFailure(number: 2, isLasting: true))
    _ = try file.size()
    expectFailure(SystemErrorCode.inputOutput) { _ = try file.size() }
    expectFailure(SystemErrorCode.inputOutput) { _ = try disk.kind(of: "/a") }
    disk.clearFailures()
    try file.write([1], at: 0)
  }

  @Test func `every call of a workload can be made to fail`() throws {
    func workload(_ disk: SimulatedDisk) throws {
      try disk.createDirectory("/store")
      let file = try disk.open("/store/a", .createNew)
      _ = try file.tryLock(.exclusive)
      try file.write([1, 2, 3], at: 0)
      _ = try file.bytes()
      try file.truncate(to: 2)
      _ = try file.size()
      try file.syncData()
      try file.sync()
      try disk.rename("/store/a", to: "/store/b")
      try disk.syncDirectory("/store")
      _ = try file.isStillAtItsPath()
      _ = try disk.contents(ofDirectory: "/store")
      try disk.remove("/store/b")
    }
    let whole = SimulatedDisk()
    try workload(whole)
    var seen: Set<SimulatedOperation> = []
    for number in 1...whole.operationCount {
      let disk = SimulatedDisk()
      let called = Lock<SimulatedOperation?>(nil)
      disk.onOperation { call in
        if call.number == number { called.withLock { $0 = call.operation } }
        return .proceed
      }
      disk.inject(SimulatedFailure(number: number, code: SystemErrorCode.inputOutput))
      expectFailure(SystemErrorCode.inputOutput) { try workload(disk) }
      #expect(disk.operationCount == number)
      seen.insert(try #require(called.withLock { $0 }))
    }
    #expect(seen == Set(SimulatedOperation.allCases))
  }

  @Test func `a failing write may be done in part`() throws {
    let (disk, file) = try disk(holding: [])
    disk.inject(SimulatedFailure(of: [.write], code: SystemErrorCode.inputOutput, partOfWrite: 0.5))
    expectFailure(SystemErrorCode.inputOutput) { try file.write([1, 2, 3, 4], at: 0) }
    #expect(disk.contents("/a") == [1, 2])
  }

  @Test func `a full disk takes what fits`() throws {
    let (disk, file) = try disk(holding: [1, 2])
    disk.capacity = 5
    expectFailure(SystemErrorCode.noSpace) { try file.write([3, 4, 5, 6], at: 2) }
    #expect(disk.contents("/a") == [1, 2, 3, 4, 5])
    #expect(disk.usedSize == 5)
    // What is there can be written over, and what is given back can be had again.
    try file.write([9], at: 0)
    try file.truncate(to: 3)
    try file.write([4, 5], at: 3)
    expectFailure(SystemErrorCode.noSpace) { try disk.put("x", at: "/b") }
    file.close()
    try disk.remove("/a")
    try disk.put("12345", at: "/b")
    #expect(disk.crash(seed: 0, model: .lossless).capacity == 5)
  }

  // MARK: Syncs that fail

  @Test func `a failed sync that keeps its data can be made good`() throws {
    let (disk, file) = try disk(holding: [1])
    disk.inject(SimulatedSyncFailure(keepsData: true, isReported: true))
    try file.write([2], at: 0)
    expectFailure(SystemErrorCode.inputOutput) { try file.syncData() }
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [1])
    try file.syncData()
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [2])
  }

  @Test func `a failed sync that drops its data looks well until the cache is dropped`() throws {
    for isReported in [false, true] {
      let (disk, file) = try disk(holding: [1])
      disk.inject(SimulatedSyncFailure(keepsData: false, isReported: isReported))
      try file.write([2], at: 0)
      let first = Result { try file.syncData() }
      #expect((try? first.get()) == nil ? isReported : !isReported)
      // The next sync says that all is well, and writes nothing.
      try file.syncData()
      #expect(try file.bytes() == [2])
      #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [1])
      // A new process still sees the page that is not on the medium; one that drops the cache does not.
      let after = disk.crash(seed: 0, model: .lossless)
      let reopened = try after.open("/a", .readWrite)
      #expect(try reopened.bytes() == [2])
      try reopened.sync()
      reopened.dropCache()
      #expect(try reopened.bytes() == [1])
      #expect(after.unsynced.isEmpty)
    }
  }

  @Test func `writing again brings a lost sector back`() throws {
    let (disk, file) = try disk(holding: [1, 1])
    disk.inject(SimulatedSyncFailure(keepsData: false, isReported: true))
    try file.write([2], at: 0)
    expectFailure(SystemErrorCode.inputOutput) { try file.sync() }
    try file.write([3], at: 1)
    try file.sync()
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [2, 3])
  }

  @Test func `a length can reach the medium without the bytes that were lost`() throws {
    let (disk, file) = try disk(holding: [])
    disk.inject(SimulatedSyncFailure(keepsData: false, isReported: true))
    try file.write(Array(repeating: 7, count: 512), at: 0)
    expectFailure(SystemErrorCode.inputOutput) { try file.sync() }
    try file.write(Array(repeating: 8, count: 512), at: 512)
    try file.sync()
    let left = disk.crash(seed: 0, model: .dropAll).contents("/a")
    #expect(left == Array(repeating: 0, count: 512) + Array(repeating: 8, count: 512))
  }

  @Test func `a disk may lie forever`() throws {
    let (disk, file) = try disk(holding: [1])
    disk.inject(SimulatedSyncFailure(keepsData: true, isReported: false, isLasting: true))
    try file.write([2], at: 0)
    try file.sync()
    try file.sync()
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [1])
  }

  @Test func `only the sync that is to fail fails`() throws {
    let (disk, file) = try disk(holding: [1])
    disk.inject(SimulatedSyncFailure(number: 2, keepsData: true, isReported: true))
    try file.sync()
    expectFailure(SystemErrorCode.inputOutput) { try file.syncData() }
    try file.sync()
  }

  // MARK: Power cuts

  @Test func `after the power is cut every call fails`() throws {
    let (disk, file) = try disk(holding: [1])
    disk.cutPower(atOperation: disk.operationCount + 2)
    try file.write([2], at: 0)
    expectFailure(SimulatedPowerCut.code) { try file.sync() }
    #expect(disk.isPoweredOff)
    expectFailure(SimulatedPowerCut.code) { _ = try file.bytes() }
    expectFailure(SimulatedPowerCut.code) { _ = try disk.open("/a", .read) }
    do {
      try file.sync()
      Issue.record("the sync went through")
    } catch {
      #expect(error.isSimulatedPowerCut)
    }
    file.unlock()
    file.dropCache()
    file.close()
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [1])
    let after = disk.crash(seed: 0, model: .lossless)
    #expect(!after.isPoweredOff)
    #expect(try after.open("/a", .read).bytes() == [2])
  }

  @Test func `a write under which the power goes is done in part`() throws {
    let (disk, file) = try disk(holding: [])
    disk.cutPower(atOperation: disk.operationCount + 1, partOfWrite: 0.5)
    expectFailure(SimulatedPowerCut.code) { try file.write([1, 2, 3, 4], at: 0) }
    #expect(disk.contents("/a") == [1, 2])
  }

  @Test func `a hook sees every call and decides on it`() throws {
    let (disk, file) = try disk(holding: [])
    let clones = Lock<[SimulatedDisk]>([])
    disk.onOperation { [unowned disk] call in
      switch call.operation {
      case .write:
        clones.withLock { $0.append(disk.clone()) }
        return .proceed
      case .size: return .fail(SystemErrorCode.inputOutput)
      case .sync: return .cutPower()
      default: return .proceed
      }
    }
    try file.write([1], at: 0)
    try file.write([2], at: 1)
    #expect(clones.withLock { $0.map { $0.contents("/a") } } == [[], [1]])
    expectFailure(SystemErrorCode.inputOutput) { _ = try file.size() }
    expectFailure(SimulatedPowerCut.code) { try file.sync() }
    #expect(disk.isPoweredOff)
  }

  // MARK: Damage

  @Test func `bits are flipped on the medium too`() throws {
    let (disk, file) = try disk(holding: [0, 0])
    disk.flipBit("/a", 9)
    #expect(try file.bytes() == [0, 2])
    disk.flipBit("/a", 0)
    for model in CrashModel.allCases { #expect(disk.crash(seed: 0, model: model).contents("/a") == [1, 2]) }
    disk.replace("/a", [5])
    #expect(disk.unsynced.isEmpty)
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [5])
    disk.delete("/a")
    #expect(disk.crash(seed: 0, model: .dropAll).paths == [])
  }

  @Test func `the generator is split mix64`() {
    // The first numbers for the seed 1234567, as published with the reference implementation.
    var random = SeededGenerator(seed: 1_234_567)
    let first = (0..<5).map { _ in random.next() }
    #expect(
      first == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ]
    )
  }
}
