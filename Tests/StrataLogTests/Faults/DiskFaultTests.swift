// Faults 17 to 21, 42, 43 and 44: calls that fail, disks that are full, and disks that lie.

import CStrata
import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct DiskFaultTests {
  private static let layout = FaultStore.layout
  private static let append = ModelAppend([
    ModelEvent(stream: "z", type: "t", payload: Array(repeating: 5, count: 90))
  ])

  /// What becomes of a sync that fails.
  struct SyncFault: CustomStringConvertible, Sendable {
    var keepsData: Bool
    var isLasting: Bool
    var description: String { "\(keepsData ? "kept" : "dropped"), \(isLasting ? "always" : "once")" }

    static let all = [true, false].flatMap { keeps in
      [true, false].map { SyncFault(keepsData: keeps, isLasting: $0) }
    }
  }

  @Test(arguments: SyncFault.all, [Durability.paranoid, .synced])
  func `fault 17: a sync that failed is never acknowledged, ends the writer, and shows nobody what was not`(
    fault: SyncFault, durability: Durability
  ) throws {
    for number in 1...4 {
      let store = try FaultStore(SimulatedDisk(), FaultStore.options(durability))
      try store.append(2)
      store.disk.inject(
        SimulatedSyncFailure(
          number: number, keepsData: fault.keepsData, isReported: true, isLasting: fault.isLasting))
      var unanswered: ModelAppend?
      for _ in 0..<6 {
        let append = store.nextAppend()
        do throws(StoreError) {
          try store.append(append)
          #expect(unanswered == nil, "sync \(number), \(fault): it acknowledges after a failed sync")
        } catch {
          guard error.reason == .poisoned else { throw error }
          unanswered = unanswered ?? append
        }
      }
      #expect(unanswered != nil && store.log.mark.sequence == store.model.head, "sync \(number), \(fault)")
      #expect(throws: StoreError.self) { try store.close() }
      store.disk.clearFailures()
      // What the next open shows is on the disk, and holds everything acknowledged.
      var model = store.model
      model.add(try #require(unanswered), time: nil)
      let log = try Log.openWriter(store.disk, path: FaultStore.root, options: store.options)
      #expect(
        model.difference(from: log, countMin: store.model.appends.count) == nil, "sync \(number), \(fault)")
      let cut = store.disk.crash(seed: 1, model: .dropAll)
      let after = try Log.openReader(cut, path: FaultStore.root, options: store.options)
      #expect(after.mark.appends == log.mark.appends, "sync \(number), \(fault)")
      try log.close()
    }
  }

  @Test
  func `fault 18: after a sync that failed unsaid, an open serves what is on the disk, and a feed no more`()
    throws
  {
    var losses = 0
    for number in 1...6 {
      let store = try FaultStore()
      try store.append(2)
      store.disk.inject(
        SimulatedSyncFailure(number: number, keepsData: false, isReported: false, pathSuffix: ".seg"))
      try store.append(6)
      store.kill()
      // The pages that are not on the disk are still in the cache, and look well.
      let after = store.disk.crash(seed: 0, model: .lossless)
      do throws(StoreError) {
        let log = try Log.openWriter(after, path: FaultStore.root, options: store.options)
        #expect(store.model.difference(from: log, countMin: 2) == nil, "sync \(number)")
        let cut = try Log.openReader(
          after.crash(seed: 0, model: .dropAll), path: FaultStore.root, options: store.options)
        #expect(cut.mark.appends == log.mark.appends, "sync \(number): what was served is not on the disk")
        try log.close()
      } catch {
        // HEAD had promised it: an error, where it would be served if the cache were believed.
        guard case .damaged = error else { throw error }
        losses += 1
      }
    }
    // Where a later group wrote over the same sector, it took the earlier one with it to the disk.
    #expect(losses > 1)
  }

  @Test(arguments: Durability.allCases)
  func
    `fault 19: a disk that is full at any byte fails that append alone, and the store goes on when there is room`(
      durability: Durability
    ) throws
  {
    let options = FaultStore.options(durability)
    let whole = try FaultStore(SimulatedDisk(), options)
    try whole.append(3)
    let before = whole.disk.usedSize
    try whole.append(Self.append)
    let length = whole.disk.usedSize - before
    try #require(length > 200)
    for room in 0..<length {
      let store = try FaultStore(SimulatedDisk(), options)
      try store.append(3)
      let bytes = store.bytes
      store.disk.capacity = store.disk.usedSize + room
      #expect(throws: StoreError.full(path: store.active), "room for \(room)") {
        try store.append(Self.append)
      }
      #expect(store.bytes == bytes, "room for \(room): something is left of it")
      #expect(store.model.difference(from: store.log, countMin: 3) == nil, "room for \(room)")
      // As it is, the store can be opened, by a reader beside the writer and by the next writer.
      let beside = store.disk.clone()
      #expect(try Log.openReader(beside, path: FaultStore.root, options: options).mark.appends == 3)
      try Log.openWriter(beside, path: FaultStore.root, options: options).close()
      store.disk.capacity = nil
      try store.append(Self.append)
      #expect(store.model.difference(from: store.log, countMin: 4) == nil, "room for \(room)")
      try store.close()
    }
  }

  @Test(arguments: [0, 0.3, 0.99])
  func `fault 19: a write that was done in part leaves nothing of it, whatever part that was`(part: Double)
    throws
  {
    let store = try FaultStore()
    try store.append(3)
    let bytes = store.bytes
    for code in [SystemErrorCode.noSpace, SystemErrorCode.inputOutput] {
      store.disk.inject(SimulatedFailure(of: [.write], code: code, partOfWrite: part))
      #expect(throws: StoreError.self) { try store.append(Self.append) }
      #expect(store.bytes == bytes)
    }
    try store.append(Self.append)
    try store.close()
    #expect(FaultStore.problem(store.disk, store.model, countMin: 4, store.options) == nil)
  }

  @Test
  func `fault 20: a disk that is full at a roll, an index or HEAD harms no log, whatever room there is`()
    throws
  {
    for room in stride(from: 0, to: 14_000, by: 173) {
      let store = try FaultStore(SimulatedDisk(), FaultStore.options(segmentSizeTarget: 5_000))
      store.disk.capacity = store.disk.usedSize + room
      var refused = 0
      for _ in 0..<14 {
        do throws(StoreError) { try store.append(Self.append) } catch {
          guard case .full = error else { throw error }
          refused += 1
        }
      }
      #expect(refused > 0 || room > 3_000, "room for \(room)")
      #expect(store.model.difference(from: store.log, countMin: 14 - refused) == nil, "room for \(room)")
      try store.close()
      let reader = try Log.openReader(store.disk, path: FaultStore.root, options: store.options)
      #expect(store.model.difference(from: reader, countMin: 14 - refused) == nil, "room for \(room)")
      store.disk.capacity = nil
      #expect(
        FaultStore.problem(store.disk, store.model, countMin: 14 - refused, store.options) == nil,
        "room for \(room)")
    }
  }

  @Test
  func `fault 20: a torn store opens and reads without a free byte, and its first append changes nothing`()
    throws
  {
    let store = try FaultStore()
    try store.append(4)
    store.kill()
    let tail = [UInt8](repeating: 7, count: 99)
    let segment = Self.layout.segment(1)
    store.disk.replace(segment, store.disk.contents(segment)! + tail)
    store.disk.capacity = store.disk.namedSize
    let before = store.disk.evidence(of: FaultStore.layout)
    let log = try Log.openWriter(store.disk, path: FaultStore.root, options: store.options)
    #expect(log.tornBytes == 99 && store.model.difference(from: log, countMin: 4) == nil)
    for _ in 0..<2 {
      #expect(throws: StoreError.self) { try log.appendBlocking(Self.append.draft()) }
      #expect(store.disk.contents(segment) == before[segment])
    }
    try log.close()
    store.disk.capacity = nil
    #expect(FaultStore.problem(store.disk, store.model, countMin: 4, store.options) == nil)
    #expect(store.disk.contents(in: Self.layout.quarantine) == [tail])
  }

  @Test
  func
    `fault 21: calls that are interrupted, refused for now or done in part are continued, and nobody sees it`()
    throws
  {
    let folder = try TemporaryFolder()
    let state = Lock((random: SeededGenerator(seed: SeededGenerator.testSeed()), interruptions: 0, parts: 0))
    /// How much of a call is done; nil for nothing, with a reason that is no failure.
    @Sendable func part(_ count: Int) -> Int? {
      state.withLock { state in
        switch Int.random(in: 0..<4, using: &state.random) {
        case 0:
          state.interruptions += 1
          let reasons = [SystemErrorCode.interrupted, SystemErrorCode.tryAgain]
          strata_set_errno(reasons.randomElement(using: &state.random)!)
          return nil
        case 1: return count
        default:
          state.parts += 1
          return Int.random(in: min(1, count)...count, using: &state.random)
        }
      }
    }
    let system = SystemTransfers.system
    let restless = PosixFileSystem(
      transfers: SystemTransfers(
        read: { descriptor, target, count, offset in
          part(count).map { system.read(descriptor, target, $0, offset) } ?? -1
        },
        write: { descriptor, source, count, offset in
          part(count).map { system.write(descriptor, source, $0, offset) } ?? -1
        }))
    let options = FaultStore.options(segmentSizeTarget: 6_000)
    let path = folder.file("store")
    var model = LogModel()
    var appends = RandomAppends(seed: 4, sizeTypical: 300, sizeMax: 4_000)
    for life in 0..<3 {
      let log = try Log.openWriter(restless, path: path, options: options)
      for _ in 0..<12 {
        let append = appends.append()
        model.add(append, time: try log.appendBlocking(append.draft()).time)
      }
      #expect(model.difference(from: log, countMin: model.appends.count) == nil, "life \(life)")
      try log.close()
    }
    // Every byte is the one that undisturbed calls find.
    let reader = try Log.openReader(PosixFileSystem(), path: path, options: options)
    #expect(model.difference(from: reader, countMin: model.appends.count) == nil)
    #expect(try PosixFileSystem().findings(inStore: path) == [])
    #expect(state.withLock { $0.interruptions > 50 && $0.parts > 50 })
  }

  /// The reasons why a system gives no file: too many are open, permissions, media that cannot be written.
  @Test(arguments: [SystemErrorCode.tooManyOpenFiles, SystemErrorCode.accessDenied, SystemErrorCode.readOnly])
  func `fault 42: an open that the system refuses is a typed error with the reason, and never damage`(
    code: Int32
  ) throws {
    let store = try FaultStore(SimulatedDisk(), FaultStore.options(segmentSizeTarget: 5_000))
    try store.append(12)
    try store.close()
    let before = store.disk.evidence(of: FaultStore.layout)
    for isWriter in [true, false] {
      var isEveryCallReached = false
      for number in 1...200 where !isEveryCallReached {
        let disk = store.disk.clone()
        disk.inject(
          SimulatedFailure(of: [.open, .createDirectory, .list, .lock], number: number, code: code))
        do throws(StoreError) {
          let log =
            isWriter
            ? try Log.openWriter(disk, path: FaultStore.root, options: store.options)
            : try Log.openReader(disk, path: FaultStore.root, options: store.options)
          // What failed was of no account, or nothing failed.
          isEveryCallReached = disk.hasPendingFailures
          disk.clearFailures()
          #expect(store.model.difference(from: log, countMin: 12) == nil, "call \(number)")
          try log.close()
        } catch {
          switch error.reason {
          case .system: #expect(error.systemCode == code, "call \(number)")
          case .cannotCreate: #expect(error.what == systemMessage(code), "call \(number)")
          default: Issue.record("call \(number): \(error)")
          }
          #expect(
            disk.evidence(of: FaultStore.layout).filter { $0.key != Self.layout.head }
              == before.filter { $0.key != Self.layout.head })
        }
      }
      #expect(isEveryCallReached)
    }
  }

  @Test
  func
    `fault 42: a store on media that cannot be written is read, torn or clean, and nothing is tried on it`()
    throws
  {
    for isTorn in [false, true] {
      let store = try FaultStore(SimulatedDisk(), FaultStore.options(segmentSizeTarget: 5_000))
      try store.append(12)
      if isTorn { store.kill() } else { try store.close() }
      let segment = store.active
      if isTorn { store.disk.replace(segment, store.disk.contents(segment)! + [1, 2, 3]) }
      store.disk.onOperation { call in
        // Opening for reading is no change there; syncing is refused too.
        call.operation.isChange && call.operation != .open ? .fail(SystemErrorCode.readOnly) : .proceed
      }
      let log = try Log.openReader(store.disk, path: FaultStore.root, options: store.options)
      #expect(log.tornBytes == (isTorn ? 3 : 0))
      #expect(store.model.difference(from: log, countMin: 12) == nil)
      for stream in store.model.streams.keys {
        #expect(try log.index.revision(of: Array(stream.utf8)) == store.model.version(of: stream))
      }
      try log.close()
    }
  }

  @Test
  func
    `fault 43: files that the system protects just now are an error of the call, and whole when it lets go`()
    throws
  {
    let store = try FaultStore(SimulatedDisk(), FaultStore.options(segmentSizeTarget: 5_000))
    try store.append(12)
    try store.close()
    let before = store.disk.evidence(of: FaultStore.layout)
    store.disk.onOperation { call in
      // A device that was locked gives its protected files to nobody.
      call.operation == .open && call.path.hasSuffix(".seg") ? .fail(SystemErrorCode.notPermitted) : .proceed
    }
    for isWriter in [true, false] {
      do throws(StoreError) {
        let log =
          isWriter
          ? try Log.openWriter(store.disk, path: FaultStore.root, options: store.options)
          : try Log.openReader(store.disk, path: FaultStore.root, options: store.options)
        try log.close()
        Issue.record("it opens")
      } catch {
        if case .damaged = error { Issue.record("\(error)") }
      }
    }
    store.disk.onOperation(nil)
    #expect(store.disk.evidence(of: FaultStore.layout) == before)
    #expect(FaultStore.problem(store.disk, store.model, countMin: 12, store.options) == nil)
  }

  @Test func `fault 43: a store that is put away is on the disk, and its lock is free`() throws {
    for durability in Durability.allCases {
      let store = try FaultStore(SimulatedDisk(), FaultStore.options(durability))
      try store.append(5)
      try store.close()
      let cut = store.disk.crash(seed: 1, model: .dropAll)
      #expect(try Log.openReader(cut, path: FaultStore.root, options: store.options).mark.appends == 5)
      #expect(FaultStore.problem(store.disk, store.model, countMin: 5, store.options) == nil)
    }
  }

  @Test(arguments: [Durability.paranoid, .synced])
  func `fault 44: a disk that lies about its syncs is found out where HEAD knows better, and never believed`(
    durability: Durability
  ) throws {
    // HEAD reaches the disk and the segments do not.
    let store = try FaultStore(SimulatedDisk(), FaultStore.options(durability))
    try store.append(2)
    store.disk.inject(
      SimulatedSyncFailure(keepsData: true, isReported: false, isLasting: true, pathSuffix: ".seg"))
    try store.append(3)
    if durability == .synced { try store.close() } else { store.kill() }
    let cut = store.disk.crash(seed: 1, model: .dropAll)
    FaultStore.expectCorrupt(cut, store.options, "\(durability)")
    var damaged = store.options
    damaged.readsDamaged = true
    // Those who ask for it have what is there.
    let reader = try Log.openReader(cut, path: FaultStore.root, options: damaged)
    #expect(reader.mark.appends == 2 && store.model.difference(from: reader, countMin: 2) == nil)
  }
}
