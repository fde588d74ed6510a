// Backups into a folder whose last segment has only grown: its new blocks are added in place.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct BackupExtensionTests {
  private static let path = "/store"
  private static let target = "/backup"
  private static let layout = StoreLayout(root: path)
  private static let options = StoreOptions.still(segmentSize: 1 << 20, blockSize: 300)

  /// A store whose only segment grows in steps, as it was after each.
  private struct Steps {
    let disk = SimulatedDisk()
    var sources: [Log] = []
    var appends: [Int] = []
    var model = LogModel()
    var source: RandomAppends
    let log: Log

    init(_ counts: [Int], seed: UInt64 = 5) throws {
      source = RandomAppends(seed: seed, sizeTypical: 200, sizeMax: 900)
      log = try Log.openWriter(disk, path: path, options: options)
      for count in counts { try step(count) }
    }

    mutating func step(_ count: Int) throws {
      for _ in 0..<count {
        let append = source.append()
        model.add(append, time: try log.appendBlocking(append.draft()).time)
      }
      appends.append(model.appends.count)
      sources.append(try Log.openReader(disk.clone(), path: path, options: options))
    }
  }

  @discardableResult
  private static func backup(
    _ source: Log, to disk: any FileSystem, through last: UInt64? = nil
  ) throws(StoreError) -> BackupReport {
    var backup = LogBackup(of: source, to: disk, path: target, through: last)
    return try backup.run()
  }

  /// How many appends a target has, which must be whole; nil where it is refused. The check computes the chain from what it
  /// reads, so an equal chain is equal content.
  private static func count(_ disk: SimulatedDisk, _ steps: Steps, _ what: String) -> Int? {
    guard let reader = try? Log.openReader(disk, path: target, options: options) else { return nil }
    defer { try? reader.close() }
    #expect((try? disk.findings(inStore: target)) == [], "\(what): it opens and is not whole")
    #expect(isBeginning(reader, of: steps, through: reader.mark.sequence), "\(what)")
    return Int(reader.mark.appends)
  }

  /// Whether two logs have the same events up to a sequence.
  private static func isBeginning(_ log: Log, of steps: Steps, through sequence: UInt64) -> Bool {
    let chains = try? (log.chain(after: sequence), steps.log.chain(after: sequence))
    return chains.map { $0 != nil && $0 == $1 } ?? false
  }

  @Test func `only new blocks are copied, whatever the segment's length, and the files are the same`() throws
  {
    let steps = try Steps([60, 0, 1, 25, 1])
    let disk = SimulatedDisk()
    var end: UInt64 = 0
    for (step, source) in steps.sources.enumerated() {
      let mark = source.mark.durable
      let report = try Self.backup(source, to: disk)
      #expect(report.bytesCopied == mark.offset - end, "step \(step)")
      #expect(report.segmentsCopied == (mark.offset > end ? 1 : 0))
      end = mark.offset
      #expect(Self.count(disk, steps, "step \(step)") == steps.appends[step])
      let copy = disk.contents(StoreLayout(root: Self.target).segment(1))
      #expect(copy == Array(steps.disk.contents(Self.layout.segment(1))!.prefix(Int(end))))
      // Nothing is only in the cache.
      #expect(Self.count(disk.crash(seed: 1, model: .dropAll), steps, "cut") == steps.appends[step])
    }
    try steps.log.close()
  }

  @Test(arguments: 0..<3)
  func `fault 126: a power cut before any call of an extension leaves the backup that was, or the new one`(
    number: Int
  ) throws {
    let seed = SeededGenerator.testSeed() &+ UInt64(number)
    var random = SeededGenerator(seed: seed)
    let steps = try Steps([[0, 12, 5][number], 8, 3], seed: seed)
    let before = SimulatedDisk()
    try Self.backup(steps.sources[0], to: before)
    let whole = before.clone()
    try Self.backup(steps.sources[1], to: whole)
    var (old, new) = (0, 0)
    for call in 1...whole.operationCount {
      let disk = before.clone()
      disk.cutPower(atOperation: call, partOfWrite: [0, 0.5, 1].randomElement(using: &random)!)
      let isDone = (try? Self.backup(steps.sources[1], to: disk)) != nil
      for model in [CrashModel.dropAll, .reorder, .reorder] {
        let what = "call \(call), \(model), SEED=\(seed)"
        let after = disk.crash(seed: random.next(), model: model)
        let count = Self.count(after, steps, what)
        #expect(count == steps.appends[1] || (count == steps.appends[0] && !isDone), "\(what)")
        if count == steps.appends[1] { new += 1 } else { old += 1 }
        if (call + number).isMultiple(of: 3) { try expectGoesOn(after.clone(), steps, &random, what) }
        // The next run may be of a store that has grown meanwhile.
        let last = Int.random(in: 1...2, using: &random)
        try Self.backup(steps.sources[last], to: after)
        #expect(Self.count(after, steps, "\(what), again") == steps.appends[last], "\(what)")
        #expect(!after.paths.contains { $0.hasSuffix(".tmp") }, "\(what): something is left over")
      }
    }
    #expect(old > 0 && new > 0)
    try steps.log.close()
  }

  @Test
  func `fault 126: a call that fails and a full disk leave the backup as it was, with a HEAD that says so`()
    throws
  {
    let steps = try Steps([20, 12])
    let before = SimulatedDisk()
    try Self.backup(steps.sources[0], to: before)
    let whole = before.clone()
    try Self.backup(steps.sources[1], to: whole)
    var failures = 0
    for call in 1...whole.operationCount {
      let disk = before.clone()
      disk.inject(SimulatedFailure(number: call))
      do throws(StoreError) { try Self.backup(steps.sources[1], to: disk) } catch {
        failures += 1
        #expect(error.finding == nil && !error.isDiverged, "call \(call): \(error)")
        let count = Self.count(disk, steps, "call \(call)")
        #expect(steps.appends.contains(count ?? 0), "call \(call)")
      }
      disk.clearFailures()
      try Self.backup(steps.sources[1], to: disk)
      #expect(Self.count(disk, steps, "call \(call)") == steps.appends[1])
    }
    let full = before.clone()
    full.capacity = full.usedSize + 700
    #expect {
      try Self.backup(steps.sources[1], to: full)
    } throws: { error in
      guard case StoreError.full(let path) = error else { return false }
      return path.hasPrefix(Self.target)
    }
    #expect(full.paths.map { full.contents($0)?.count } == before.paths.map { before.contents($0)?.count })
    #expect(try HeadFile.read(full, path: "\(Self.target)/HEAD")?.isClean == true)
    #expect(failures > 8)
    try steps.log.close()
  }

  /// The next writer goes on from what counts, also after another crash.
  private func expectGoesOn(
    _ disk: SimulatedDisk, _ steps: Steps, _ random: inout SeededGenerator, _ what: String
  ) throws {
    let log = try Log.openWriter(disk, path: Self.target, options: Self.options)
    let before = log.mark.sequence
    #expect(Self.isBeginning(log, of: steps, through: before), "\(what)")
    let outcome = try log.appendBlocking(ModelAppend([ModelEvent(stream: "own", type: "t")]).draft())
    let cut = disk.crash(seed: random.next(), model: .reorder)
    let again = try Log.openWriter(cut, path: Self.target, options: Self.options)
    #expect(
      again.mark.sequence == outcome.last && again.mark.visible.chain == log.mark.visible.chain,
      "\(what), after a crash")
    #expect(Self.isBeginning(again, of: steps, through: before), "\(what), after a crash")
    for log in [again, log] { try log.close() }
  }

  @Test func `fault 126: a damaged block of the source is not added, and the backup stays what it was`()
    throws
  {
    let steps = try Steps([20, 12])
    let disk = SimulatedDisk()
    try Self.backup(steps.sources[0], to: disk)
    let begin = Int(steps.sources[0].mark.durable.offset)
    let damaged = steps.disk.clone()
    let reader = try Log.openReader(damaged, path: Self.path, options: Self.options)
    damaged.flipBit(Self.layout.segment(1), (begin + 300) * 8)
    #expect(throws: StoreError.self) { try Self.backup(reader, to: disk) }
    #expect(Self.count(disk, steps, "damaged") == steps.appends[0])
    try Self.backup(steps.sources[1], to: disk)
    #expect(Self.count(disk, steps, "whole") == steps.appends[1])
    try steps.log.close()
  }

  @Test func `fault 126: a file that is not the source's beginning is replaced and not extended`() throws {
    let steps = try Steps([20, 12])
    let size = steps.sources[1].mark.durable.offset
    // Of an earlier end that is inside a block.
    for last in Set((1..<20).map { steps.model.appends[$0].last }) {
      let disk = SimulatedDisk()
      try Self.backup(steps.sources[1], to: disk, through: last)
      let report = try Self.backup(steps.sources[1], to: disk)
      let copy = disk.contents(StoreLayout(root: Self.target).segment(1))
      #expect(
        copy == Array(steps.disk.contents(Self.layout.segment(1))!.prefix(Int(size))), "through \(last)")
      #expect(report.bytesCopied <= size)
    }
    // With damage in its last block.
    let disk = SimulatedDisk()
    try Self.backup(steps.sources[0], to: disk)
    let target = StoreLayout(root: Self.target).segment(1)
    disk.flipBit(target, (disk.contents(target)!.count - 20) * 8)
    #expect(try Self.backup(steps.sources[1], to: disk).bytesCopied == size)
    #expect(Self.count(disk, steps, "repaired") == steps.appends[1])
    try steps.log.close()
  }

  @Test
  func
    `fault 127: a run that was stopped while it extended, and resumes, changes nothing of the next writer`()
    throws
  {
    let steps = try Steps([20, 6, 12])
    for isWriter in [true, false] {
      let disk = SimulatedDisk()
      try Self.backup(steps.sources[0], to: disk)
      let segment = StoreLayout(root: Self.target).segment(1)
      let isDone = Lock(false)
      disk.onOperation { call in
        guard call.operation == .write, call.path == segment, !isDone.withLock({ $0 }) else {
          return .proceed
        }
        // The run is stopped before its first write to the segment. Its lock is lost with the file LOCK.
        // The next run is of an earlier end.
        isDone.withLock { $0 = true }
        do {
          try disk.remove("\(Self.target)/LOCK")
          if isWriter {
            let log = try Log.openWriter(disk, path: Self.target, options: Self.options)
            _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "own", type: "t")]).draft())
            try log.close()
          } else {
            try Self.backup(steps.sources[1], to: disk)
          }
        } catch { Issue.record("\(error)") }
        return .proceed
      }
      #expect(throws: StoreError.self) { try Self.backup(steps.sources[2], to: disk) }
      disk.onOperation(nil)
      #expect(isDone.withLock { $0 })
      #expect(try disk.findings(inStore: Self.target) == [])
      let reader = try Log.openReader(disk, path: Self.target, options: Self.options)
      #expect(reader.mark.appends == UInt64(isWriter ? steps.appends[0] + 1 : steps.appends[1]))
      try reader.close()
    }
    try steps.log.close()
  }
}
