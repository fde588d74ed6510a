// Faults 1 to 6, 23, 24 and 45: the process ends or the power goes, at every call of a store's life.

import StrataLog
import StrataSimulation
import Testing

@Suite struct PowerCutFaultTests {
  private static let root = FaultStore.root
  private static let layout = FaultStore.layout

  /// Small segments, so that the life rolls more than once; one of the levels writes zeros ahead.
  private static func options(_ durability: Durability, pads: Bool = false) -> StoreOptions {
    FaultStore.options(durability, segmentSizeTarget: pads ? 16_000 : 5_000) {
      $0.padsGroupsToPages = pads
      $0.preallocationStep = durability == .synced ? 4_096 : 0
    }
  }

  /// In the model, an append that the life made and nobody had been told of yet may be there or not.
  private func check(
    _ options: StoreOptions, models: [CrashModel], seeds: Range<UInt64> = 0..<1, step: Int = 1
  ) throws {
    let (moments, model) = try FaultStore.life(options)
    try #require(moments.count > 80 && moments.last!.acknowledged == model.appends.count)
    for (number, moment) in moments.enumerated() where number % step == 0 {
      for cut in models {
        for seed in seeds {
          let isSafe = options.durability != .buffered || cut == .lossless
          let after = moment.disk.crash(seed: seed &* 1_000 &+ UInt64(number), model: cut)
          let problem = FaultStore.problem(
            after, model, countMin: isSafe ? moment.acknowledged : moment.durable, options)
          #expect(problem == nil, "\(options.durability), \(cut), seed \(seed), \(moment.place)")
        }
      }
    }
  }

  @Test(arguments: Durability.allCases)
  func `fault 01: a process that ends before any call leaves every acknowledged append, in order and whole`(
    durability: Durability
  ) throws {
    try check(Self.options(durability), models: [.lossless])
  }

  @Test(arguments: Durability.allCases)
  func `fault 02: what is left when nothing unsynced reached the disk is a prefix with all that was promised`(
    durability: Durability
  ) throws {
    try check(Self.options(durability), models: [.dropAll])
  }

  @Test(arguments: Durability.allCases)
  func `fault 04: sectors torn while they were written harm nothing where groups are padded`(
    durability: Durability
  ) throws {
    try check(Self.options(durability, pads: true), models: [.garbage], seeds: 0..<3, step: 2)
  }

  @Test func `fault 04: without padding a torn sector may cost a store, and never shows a wrong event`()
    throws
  {
    let options = Self.options(.synced)
    let (moments, model) = try FaultStore.life(options)
    var refusals = 0
    for (number, moment) in moments.enumerated() {
      for seed in 0..<4 as Range<UInt64> {
        let after = moment.disk.crash(seed: seed &* 1_000 &+ UInt64(number), model: .garbage)
        do throws(StoreError) {
          let log = try Log.openReader(after, path: Self.root, options: options)
          let difference = model.difference(from: log, countMin: 0)
          #expect(difference == nil, "seed \(seed), \(moment.place)")
        } catch {
          guard case .damaged = error else {
            if error.reason == .notFound { continue }
            Issue.record("seed \(seed), \(moment.place): \(error)")
            continue
          }
          refusals += 1
        }
      }
    }
    #expect(refusals > 0, "such disks are in the model after all: FORMAT.md says that they are not")
  }

  /// A store with four appends on the disk and a fifth that was written and not synced.
  private func interrupted() throws -> (disk: SimulatedDisk, model: LogModel, end: Int, bytes: [UInt8]) {
    let store = try FaultStore()
    try store.append(4)
    let (end, segment) = (store.end, store.active)
    let moments = Moments(store.disk)
    // Longer than what a recovery writes over it.
    var random = SeededGenerator(seed: 5)
    let noise = (0..<700).map { _ in UInt8.random(in: 0...255, using: &random) }
    let fifth = ModelAppend([ModelEvent(stream: "a/1", type: "t", payload: noise)])
    var model = store.model
    model.add(fifth, time: try store.log.appendBlocking(fifth.draft()).time)
    let moment = try #require(moments.all.first { $0.call.operation == .syncData && $0.call.path == segment })
    store.kill()
    return (moment.disk, model, end, moment.disk.contents(segment)!)
  }

  @Test func `fault 05: a header or payload cut at any byte is torn, kept in quarantine, cut off and noted`()
    throws
  {
    let (disk, model, end, bytes) = try interrupted()
    let options = FaultStore.options()
    let segment = Self.layout.segment(1)
    for length in end...bytes.count {
      let cut = disk.clone()
      cut.replace(segment, Array(bytes[..<length]))
      let isWhole = length == bytes.count
      let log = try Log.openWriter(cut, path: Self.root, options: options)
      #expect(log.tornBytes == (isWhole ? 0 : UInt64(length - end)), "cut at \(length)")
      #expect(log.mark.appends == (isWhole ? 5 : 4), "cut at \(length)")
      #expect(cut.contents(segment) == Array(bytes[..<length]), "an open cuts nothing off")
      try log.close()
      #expect(FaultStore.problem(cut, model, countMin: 4, options) == nil, "cut at \(length)")
      let kept = cut.contents(in: Self.layout.quarantine)
      #expect(kept == (isWhole || length == end ? [] : [Array(bytes[end..<length])]), "cut at \(length)")
      if !kept.isEmpty {
        let note = try #require(try self.note(in: cut, at: UInt64(end)), "cut at \(length)")
        #expect(note.cutOffset == UInt64(end) && note.cutLength == UInt64(length - end))
      }
    }
  }

  private func note(in disk: SimulatedDisk, at offset: UInt64) throws -> RecoveryNote? {
    try disk.recoveryNote(in: 1, of: Self.layout, at: offset)
  }

  @Test func `fault 06: a crash inside a recovery, and inside the recovery from that, changes no result`()
    throws
  {
    let (disk, model, end, bytes) = try interrupted()
    let tail = Array(bytes[end..<bytes.count - 9])
    disk.replace(Self.layout.segment(1), Array(bytes[..<(bytes.count - 9)]))
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var acknowledged = model
    acknowledged.keepFirst(4)
    var cases = 0
    try recover(disk, acknowledged, tail, depth: 1, &random, &cases)
    #expect(cases > 300)
  }

  /// Recovers, holds the result against what was acknowledged before, and cuts the power at calls of it.
  private func recover(
    _ disk: SimulatedDisk, _ model: LogModel, _ tail: [UInt8], depth: Int, _ random: inout SeededGenerator,
    _ cases: inout Int
  ) throws {
    let options = FaultStore.options()
    let moments = Moments(disk, acknowledged: 4)
    let isWhole = (try? Log.openReader(disk, path: Self.root, options: options))?.tornBytes == 0
    var grown = model
    // An append that a crash kept though nobody had been told is one of a recovery before.
    grown.add(ModelAppend([ModelEvent(stream: "after", type: "t", payload: [1, 2, 3])]), time: nil)
    if isWhole {
      let reader = try Log.openReader(disk, path: Self.root, options: options)
      #expect(grown.difference(from: reader, countMin: 4) == nil, "depth \(depth)")
    } else {
      #expect(FaultStore.problem(disk, model, countMin: 4, options) == nil, "depth \(depth)")
    }
    disk.onOperation(nil)
    let isKept =
      disk.contents(in: Self.layout.quarantine).contains(tail)
      || disk.contents(Self.layout.segment(1))!.suffix(tail.count) == ArraySlice(tail)
    #expect(isKept, "depth \(depth): the torn tail is gone")
    guard depth <= 3 else { return }
    let chosen =
      depth == 1 ? moments.all : Array(moments.all.shuffled(using: &random).prefix(depth == 2 ? 4 : 2))
    for moment in chosen where !moment.disk.unsynced.isEmpty {
      for cut in [CrashModel.lossless, .dropAll, .reorder] {
        cases += 1
        let after = moment.disk.crash(seed: random.next(), model: cut)
        try recover(after, model, tail, depth: depth + 1, &random, &cases)
      }
    }
  }

  @Test func `fault 23: a new segment has its name on the disk before anything in it is acknowledged`() throws
  {
    let options = Self.options(.synced)
    let (moments, model) = try FaultStore.life(options)
    for moment in moments {
      guard let names = try? SegmentCatalog.names(moment.disk, Self.layout), let first = names.first else {
        continue
      }
      let kept = try SegmentCatalog.names(moment.disk.crash(seed: 0, model: .dropAll), Self.layout)
      let needed = Set(
        model.appends.prefix(moment.acknowledged).map { append in
          names.last { $0.firstSequence <= append.first } ?? first
        }
      )
      #expect(needed.isSubset(of: kept), "\(moment.place)")
    }
    // There were rolls.
    let last = try #require(moments.last)
    #expect(try SegmentCatalog.names(last.disk.crash(seed: 0, model: .dropAll), Self.layout).count > 2)
  }

  @Test
  func `fault 24: a rename that did not reach the disk leaves the old name or the new one, and a whole file`()
    throws
  {
    let options = Self.options(.synced)
    let (moments, model) = try FaultStore.life(options)
    let renames = moments.indices.filter { moments[$0].call.operation == .rename }
    try #require(renames.count > 3)
    var (old, new) = (0, 0)
    for place in renames {
      // From the rename to the calls behind the sync of its folder.
      for moment in moments[place..<min(place + 6, moments.count)] {
        for seed in 0..<12 as Range<UInt64> {
          let after = moment.disk.crash(seed: seed, model: .reorder)
          let temporary = moments[place].call.path
          let name = temporary.split(separator: "/").last ?? ""
          let target = FaultStore.layout.log + "/" + name.prefix(while: { $0 != "-" })
          if after.paths.contains(temporary) { old += 1 }
          if target.hasSuffix(".seg"), after.paths.contains(target) {
            new += 1
            let file = try after.open(target, .read)
            let first = try #require(SegmentName(fileName: String(target.suffix(24))))
            #expect(throws: Never.self, "\(moment.place)") {
              try SegmentHandle.readHeader(of: file, first: first, storeID: FaultStore.storeID)
            }
          }
          let problem = FaultStore.problem(after, model, countMin: moment.acknowledged, options)
          #expect(problem == nil, "seed \(seed), \(moment.place)")
        }
      }
    }
    #expect(old > 0 && new > 0)
  }

  @Test func `fault 45: a creation, a roll or a first open cut at any call leaves no store, or a whole one`()
    throws
  {
    let options = Self.options(.synced)
    let (moments, model) = try FaultStore.life(options)
    var (absent, whole) = (0, 0)
    for (number, moment) in moments.enumerated() {
      for cut in [CrashModel.lossless, .dropAll, .reorder] {
        let after = moment.disk.crash(seed: UInt64(number), model: cut)
        do throws(StoreError) {
          let reader = try Log.openReader(after.clone(), path: Self.root, options: options)
          #expect(model.difference(from: reader, countMin: moment.acknowledged) == nil, "\(moment.place)")
          whole += 1
        } catch {
          guard error.reason == .notFound, moment.acknowledged == 0 else {
            Issue.record("\(cut), \(moment.place): \(error)")
            continue
          }
          absent += 1
        }
        let problem = FaultStore.problem(after, model, countMin: moment.acknowledged, options)
        #expect(problem == nil, "\(cut), \(moment.place)")
      }
    }
    #expect(absent > 10 && whole > 100)
  }
}
