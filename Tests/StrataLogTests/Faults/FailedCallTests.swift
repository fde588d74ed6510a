// Calls that fail: one at a time, every one of them, with the errors that disks give.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct FailedCallTests {
  private static let path = "/store"

  /// - Parameter isAhead: segments so long that zeros are written ahead in them; otherwise so short that they are
  ///   closed all the time.
  private static func options(_ durability: Durability, isAhead: Bool = false) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = isAhead ? 1 << 20 : 5_000
    options.preallocationStep = 4_096
    options.writesInStep = true
    options.blockSizeTarget = 300
    options.durability = durability
    options.headSyncInterval = .zero
    return options
  }

  /// All of them in release builds, one after another in debug builds.
  private static func durabilities(_ number: Int) -> [Durability] {
    #if DEBUG
      [Durability.allCases[number % 3]]
    #else
      Durability.allCases
    #endif
  }

  /// A disk with a store on it: whole, or with a torn tail.
  private static func prepared(isTorn: Bool) throws -> (SimulatedDisk, LogModel) {
    let disk = SimulatedDisk()
    var model = LogModel()
    var source = RandomAppends(seed: 3, sizeTypical: 100, sizeMax: 200)
    let log = try Log.openWriter(
      disk, path: path, options: options(.synced), storeID: StoreID(low: 1, high: 1))
    for _ in 0..<5 {
      let append = source.append()
      model.add(append, time: try log.appendBlocking(append.draft()).time)
    }
    let last = log.mark.segment
    try log.close()
    if isTorn {
      let layout = StoreLayout(root: path)
      disk.replace(
        layout.segment(last), disk.contents(layout.segment(last))! + Array(repeating: 7, count: 99))
      disk.delete(layout.head)
    }
    return (disk, model)
  }

  /// Opens, appends until something fails, appends again, closes. Every answer is held against the model.
  private func live(
    _ disk: SimulatedDisk, _ model: inout LogModel, _ options: StoreOptions, _ what: String
  ) throws -> (failures: Int, isPoisoned: Bool) {
    var failures = 0
    var isPoisoned = false
    let log: Log
    do throws(StoreError) {
      log = try Log.openWriter(disk, path: Self.path, options: options)
    } catch {
      switch error {
      case .damaged, .position, .invalid, .undecodable: Issue.record("\(what): the open fails with \(error)")
      default: #expect(error.reason != .unsupported, "\(what)")
      }
      return (1, false)
    }
    var source = RandomAppends(seed: 9, sizeTypical: 200, sizeMax: 900)
    var unanswered: [ModelAppend] = []
    for _ in 0..<6 {
      let append = source.append()
      do throws(StoreError) {
        let outcome = try log.appendBlocking(append.draft())
        #expect(outcome.first == model.head + 1, "\(what): a refused append left its sequences")
        #expect(!isPoisoned, "\(what): a poisoned store acknowledges")
        model.add(append, time: outcome.time)
      } catch {
        failures += 1
        if error.reason == .poisoned {
          // Whether it is on the disk is for the next open to find out.
          if !isPoisoned { unanswered.append(append) }
          isPoisoned = true
        } else {
          #expect(!isPoisoned, "\(what): a poisoned store says \(error)")
        }
      }
    }
    // The call that fails may be one of these reads.
    let seen = model.difference(from: log, countMin: 0) ?? ""
    #expect(
      seen.isEmpty
        || ["cannot ", "the disk or this user"].contains { seen.hasPrefix("reading failed: \($0)") },
      "\(what): who reads beside the writer sees something else: \(seen)")
    #expect(log.mark.sequence == model.head, "\(what): what is visible is what was acknowledged")
    try? log.close()
    disk.clearFailures()
    // What a poisoned writer was asked last may be there or not.
    let reader = try Log.openReader(disk, path: Self.path, options: options)
    let found = Int(reader.mark.appends)
    #expect(found >= model.appends.count, "\(what): an acknowledged append is lost")
    for append in unanswered where found > model.appends.count { model.add(append, time: nil) }
    #expect(model.difference(from: reader, countMin: found) == nil, "\(what): after reopening")
    model.keepFirst(found)
    try model.adoptTimes(from: reader)
    try reader.close()
    return (failures, isPoisoned)
  }

  @Test(
    arguments: [SystemErrorCode.noSpace, SystemErrorCode.inputOutput],
    [(false, false), (true, false), (false, true)])
  func `whichever call fails, only its caller hears of it and nothing acknowledged is lost`(
    code: Int32, store: (isTorn: Bool, isAhead: Bool)
  ) throws {
    var isEveryCallReached = false
    var poisonings = 0
    for number in 1...600 {
      for partOfWrite in [0, 0.4] {
        for durability in Self.durabilities(number) {
          var (disk, model) = try Self.prepared(isTorn: store.isTorn)
          let options = Self.options(durability, isAhead: store.isAhead)
          disk.inject(SimulatedFailure(number: number, code: code, partOfWrite: partOfWrite))
          let before = disk.operationCount
          let what = "call \(number) with \(code), \(durability), part \(partOfWrite)"
          let (failures, isPoisoned) = try live(disk, &model, options, what)
          if isPoisoned { poisonings += 1 }
          if failures == 0, disk.operationCount - before < number { isEveryCallReached = true }
          try appendAfterwards(disk, &model, options, what)
        }
      }
      if isEveryCallReached { break }
    }
    #expect(isEveryCallReached && poisonings > 0)
  }

  /// The disk is well again: the store takes appends, and a check finds nothing.
  private func appendAfterwards(
    _ disk: SimulatedDisk, _ model: inout LogModel, _ options: StoreOptions, _ what: String
  ) throws {
    let log = try Log.openWriter(disk, path: Self.path, options: options)
    let append = ModelAppend([ModelEvent(stream: "z", type: "after")])
    model.add(append, time: try log.appendBlocking(append.draft()).time)
    #expect(model.difference(from: log, countMin: model.appends.count) == nil, "\(what): afterwards")
    try log.close()
    let findings = try disk.findings(inStore: Self.path)
    #expect(findings == [], "\(what): afterwards")
  }

  @Test(arguments: Durability.allCases)
  func `a disk that is full refuses appends until there is room, and the store goes on`(
    durability: Durability
  ) throws {
    for room in stride(from: 0, to: 4_000, by: 119) {
      var (disk, model) = try Self.prepared(isTorn: false)
      let log = try Log.openWriter(disk, path: Self.path, options: Self.options(durability))
      disk.capacity = disk.namedSize + room
      var source = RandomAppends(seed: 5, sizeTypical: 300, sizeMax: 900)
      var refused = 0
      for number in 0..<12 {
        if number == 8 { disk.capacity = nil }
        let append = source.append()
        do throws(StoreError) {
          model.add(append, time: try log.appendBlocking(append.draft()).time)
        } catch {
          guard case .full = error else {
            Issue.record("room for \(room): \(error)")
            continue
          }
          refused += 1
          #expect(number < 8, "room for \(room): it is refused though there is room again")
        }
      }
      #expect(refused > 0 || room > 1_000)
      #expect(model.difference(from: log, countMin: model.appends.count) == nil, "room for \(room)")
      try log.close()
      let again = try Log.openReader(disk, path: Self.path, options: Self.options(durability))
      #expect(model.difference(from: again, countMin: model.appends.count) == nil, "room for \(room)")
    }
  }

  @Test func `a torn store opens and reads on a full disk, and its first append fails and changes nothing`()
    throws
  {
    var (disk, model) = try Self.prepared(isTorn: true)
    // HEAD must be there: a disk without room cannot get one.
    try Log.openWriter(disk, path: Self.path, options: Self.options(.synced)).close()
    disk.capacity = disk.namedSize
    let layout = StoreLayout(root: Self.path)
    let log = try Log.openWriter(disk, path: Self.path, options: Self.options(.synced))
    let segment = layout.segment(log.mark.segment)
    let bytes = disk.contents(segment)
    let append = ModelAppend([ModelEvent(stream: "z", type: "after")])
    for _ in 0..<3 {
      #expect(throws: StoreError.self) { try log.appendBlocking(append.draft()) }
      #expect(disk.contents(segment) == bytes)
      #expect(model.difference(from: log, countMin: model.appends.count) == nil)
    }
    disk.capacity = disk.namedSize + 99
    #expect(throws: StoreError.self) { try log.appendBlocking(append.draft()) }
    disk.capacity = nil
    model.add(append, time: try log.appendBlocking(append.draft()).time)
    try log.close()
    let kept = disk.paths.filter { $0.hasPrefix(layout.quarantine) }
    try #require(kept.count == 1)
    #expect(disk.contents(kept[0]) == Array(repeating: 7, count: 99))
    var verifier = LogVerifier(disk, path: Self.path)
    let report = try verifier.run()
    #expect(report.findings == [])
    let reader = try Log.openReader(disk, path: Self.path, options: Self.options(.synced))
    #expect(model.difference(from: reader, countMin: model.appends.count) == nil)
  }

  @Test func `after a cut that was not synced the quarantine keeps its bytes whatever is tried next`() throws
  {
    let layout = StoreLayout(root: Self.path)
    for number in 1...12 {
      let (disk, _) = try Self.prepared(isTorn: true)
      let log = try Log.openWriter(disk, path: Self.path, options: Self.options(.synced))
      disk.inject(SimulatedFailure(of: [.sync, .syncData, .syncDirectory], number: number))
      let append = ModelAppend([ModelEvent(stream: "z", type: "after")])
      for _ in 0..<3 { _ = try? log.appendBlocking(append.draft()) }
      try? log.close()
      let kept = disk.paths.filter { $0.hasPrefix(layout.quarantine) }
      #expect(
        kept.contains { disk.contents($0) == Array(repeating: 7, count: 99) }
          || disk.contents(layout.segment(log.mark.segment))!.suffix(99) == Array(repeating: 7, count: 99),
        "sync \(number): the torn tail is gone")
    }
  }

  @Test(arguments: [0.5, 1])
  func `an append that was refused is not there after a kill, however much of it was written`(part: Double)
    throws
  {
    var options = Self.options(.synced)
    options.segmentSizeTarget = 1 << 20
    options.sealsInBackground = false
    let (disk, model) = try Self.prepared(isTorn: false)
    let log = try Log.openWriter(disk, path: Self.path, options: options)
    disk.inject(SimulatedFailure(of: [.write], code: SystemErrorCode.noSpace, partOfWrite: part))
    let append = ModelAppend([ModelEvent(stream: "s", type: "t")])
    #expect(throws: StoreError.self) { try log.appendBlocking(append.draft()) }
    let reader = try Log.openReader(disk.clone(), path: Self.path, options: options)
    #expect(reader.mark.sequence == model.head && reader.tornBytes == 0)
    try log.close()
  }

  @Test(arguments: [true, false], [(true, false), (true, true), (false, false)])
  func `after a failed sync nothing is accepted until the store is opened again`(
    keepsData: Bool, report: (isMade: Bool, isLasting: Bool)
  ) throws {
    let isReported = report.isMade
    var options = Self.options(.synced)
    options.segmentSizeTarget = 1 << 20
    options.sealsInBackground = false
    for number in 1...6 {
      var (disk, model) = try Self.prepared(isTorn: false)
      let log = try Log.openWriter(disk, path: Self.path, options: options)
      disk.inject(
        SimulatedSyncFailure(
          number: number, keepsData: keepsData, isReported: isReported, isLasting: report.isLasting))
      var isPoisoned = false
      var pending: [ModelAppend] = []
      for index in 0..<5 {
        let append = ModelAppend([ModelEvent(stream: "s", type: "\(index)")])
        do throws(StoreError) {
          let outcome = try log.appendBlocking(append.draft())
          #expect(!isPoisoned)
          model.add(append, time: outcome.time)
        } catch {
          guard error.reason == .poisoned else { throw error }
          if !isPoisoned { pending.append(append) }
          isPoisoned = true
        }
      }
      #expect(log.mark.sequence == model.head, "sync \(number): what is visible is what was acknowledged")
      if isReported { #expect(throws: StoreError.self) { try log.close() } } else { try? log.close() }
      guard isReported else { continue }
      #expect(isPoisoned, "sync \(number): a failed sync is passed over")
      disk.clearFailures()
      let again = try Log.openWriter(disk, path: Self.path, options: Self.options(.synced))
      for append in pending where again.mark.appends > model.appends.count { model.add(append, time: nil) }
      #expect(
        model.difference(from: again, countMin: model.appends.count - pending.count) == nil, "sync \(number)")
      let seen = again.mark.appends
      // What the open served is on the disk.
      let cut = disk.crash(seed: 1, model: .dropAll)
      let after = try Log.openReader(cut, path: Self.path, options: Self.options(.synced))
      #expect(after.mark.appends == seen, "sync \(number): what was served after the failure is gone")
      try again.close()
    }
  }

  @Test(arguments: [0, 4_096])
  func `what a sync lost without a word is refused or gone at the next open, and never served`(step: Int)
    throws
  {
    var options = Self.options(.synced)
    options.segmentSizeTarget = 1 << 20
    options.preallocationStep = step
    var refused = 0
    for number in 1...12 {
      let (disk, model) = try Self.prepared(isTorn: false)
      let log = try Log.openWriter(disk, path: Self.path, options: options)
      disk.inject(SimulatedSyncFailure(number: number, keepsData: false, isReported: false))
      for index in 0..<5 {
        _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "\(index)")]).draft())
      }
      // The process dies, the machine lives: the cache still has what the disk has not.
      let after = disk.clone()
      try? log.close()
      do throws(StoreError) {
        let again = try Log.openWriter(after, path: Self.path, options: options)
        #expect(again.mark.sequence >= model.head)
        let cut = try Log.openReader(
          after.crash(seed: 1, model: .dropAll), path: Self.path, options: options)
        #expect(cut.mark.sequence == again.mark.sequence, "sync \(number): what was served is gone")
        try again.close()
      } catch {
        guard case .damaged = error else { throw error }
        refused += 1
      }
    }
    #expect(refused > 0 && refused < 12)
  }

  @Test func `a writer does not open where what it finds cannot be synced`() throws {
    let (disk, _) = try Self.prepared(isTorn: true)
    disk.inject(SimulatedSyncFailure(keepsData: true, isReported: true))
    #expect(throws: StoreError.self) {
      try Log.openWriter(disk, path: Self.path, options: Self.options(.synced))
    }
    try Log.openWriter(disk, path: Self.path, options: Self.options(.synced)).close()
  }
}
