// Backups that end early: by a power cut before every call, by a full disk, by a call that fails.

import StrataLog
import StrataSimulation
import Testing

@Suite struct BackupCrashTests {
  private static let path = "/store"
  private static let target = "/backup"
  private static let layout = StoreLayout(root: path)

  private static let options = StoreOptions.still(segmentSize: 6_000, blockSize: 300)

  /// A store that grew in three steps, as it was after each. The second closed more segments and rewrote one; the
  /// third closed the segment that the second ended in, and began one more.
  private struct Steps {
    var sources: [Log] = []
    var appends: [Int] = []
    var model = LogModel()

    init() throws {
      let memory = SimulatedDisk()
      let log = try Log.openWriter(memory, path: path, options: options)
      var source = RandomAppends(seed: 5, sizeTypical: 200, sizeMax: 900)
      for step in 0..<3 {
        let segment = log.mark.segment
        var count = 0
        while step < 2 ? count < [20, 12][step] : log.mark.segment == segment {
          count += 1
          let append = source.append()
          model.add(append, time: try log.appendBlocking(append.draft()).time)
        }
        if step == 1 { try forgeRewrite(memory, layout, first: try SegmentCatalog.names(memory, layout)[1]) }
        appends.append(model.appends.count)
        sources.append(try Log.openReader(memory.clone(), path: path, options: options))
      }
      try log.close()
    }
  }

  /// The calls at which something is to happen. In debug builds not all: those of the end, where copies get their
  /// names, and some of the others.
  private static func calls(_ count: Int, _ random: inout SeededGenerator) -> [Int] {
    #if DEBUG
      let some = stride(from: Int.random(in: 1...6, using: &random), to: max(1, count - 12), by: 6)
      return Array(some) + Array(max(1, count - 12)...count)
    #else
      return Array(1...count)
    #endif
  }

  private static func backup(_ source: Log, to disk: SimulatedDisk) throws(StoreError) {
    var backup = LogBackup(of: source, to: disk, path: target)
    _ = try backup.run()
  }

  /// How many appends a target has that opens; nil where it is refused.
  private static func count(_ disk: SimulatedDisk, _ model: LogModel, _ what: String) -> Int? {
    guard let reader = try? Log.openReader(disk, path: target, options: options) else { return nil }
    let count = Int(reader.mark.appends)
    var model = model
    model.keepFirst(count)
    #expect(model.difference(from: reader, countMin: count) == nil, "\(what)")
    var verifier = LogVerifier(disk, path: target)
    #expect((try? verifier.run().findings) == [], "\(what): it opens and is not whole")
    try? reader.close()
    return count
  }

  @Test
  func
    `a power cut before any call leaves the backup that was, the new one, or what is refused, and it goes on`()
    throws
  {
    let steps = try Steps()
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (cases, refused, old, new) = (0, 0, 0, 0)
    for step in 0..<3 {
      let before = SimulatedDisk()
      for earlier in 0..<step { try Self.backup(steps.sources[earlier], to: before) }
      let start = before.operationCount
      let whole = before.clone()
      try Self.backup(steps.sources[step], to: whole)
      let callCount = whole.operationCount
      #expect(start == 0 || callCount > 20)
      for call in Self.calls(callCount, &random) {
        let disk = before.clone()
        disk.cutPower(atOperation: call, partOfWrite: [0, 0.5, 1].randomElement(using: &random)!)
        let isDone = (try? Self.backup(steps.sources[step], to: disk)) != nil
        // Names that reach the disk in another order are rare, and come at the end.
        let reorders = Array(repeating: CrashModel.reorder, count: call > callCount - 8 ? 8 : 2)
        for model in [CrashModel.dropAll] + reorders {
          cases += 1
          let what = "step \(step), call \(call), \(model)"
          let after = disk.crash(seed: random.next(), model: model)
          switch Self.count(after, steps.model, what) {
          case nil:
            refused += 1
            #expect(!isDone, "\(what): a finished backup is refused")
          case steps.appends[step]: new += 1
          case let count?:
            old += 1
            #expect(step > 0 && count == steps.appends[step - 1], "\(what): \(count) appends look whole")
          }
          // A second run, that may be of a store that grew meanwhile.
          let last = Int.random(in: step..<3, using: &random)
          try Self.backup(steps.sources[last], to: after)
          #expect(Self.count(after, steps.model, "\(what), again") == steps.appends[last], "\(what)")
          #expect(!after.paths.contains { $0.hasSuffix(".tmp") }, "\(what): something is left over")
        }
      }
    }
    print("\(cases) power cuts in backups: \(refused) refused, \(old) as before, \(new) finished")
    #expect(refused > 0 && old > 0 && new > 0)
  }

  @Test func `a call that fails and a full disk end a backup with an error, and it goes on`() throws {
    let steps = try Steps()
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var failures = 0
    for step in 0..<2 {
      let before = SimulatedDisk()
      for earlier in 0..<step { try Self.backup(steps.sources[earlier], to: before) }
      let whole = before.clone()
      try Self.backup(steps.sources[step], to: whole)
      for call in Self.calls(whole.operationCount, &random) {
        let disk = before.clone()
        disk.inject(SimulatedFailure(number: call))
        do throws(StoreError) { try Self.backup(steps.sources[step], to: disk) } catch {
          failures += 1
          #expect(error.finding == nil && !error.isDiverged, "call \(call): \(error)")
        }
        disk.clearFailures()
        try Self.backup(steps.sources[step], to: disk)
        #expect(Self.count(disk, steps.model, "call \(call)") == steps.appends[step])
      }
      for room in stride(from: 0, to: 30_000, by: 2_999) {
        let disk = before.clone()
        disk.capacity = disk.usedSize + room
        do throws(StoreError) { try Self.backup(steps.sources[step], to: disk) } catch {
          guard case .full(let path) = error else {
            Issue.record("room for \(room): \(error)")
            continue
          }
          failures += 1
          #expect(path.hasPrefix(Self.target))
        }
        let count = Self.count(disk, steps.model, "room for \(room)")
        #expect(count == nil || steps.appends.contains(count!))
        disk.capacity = nil
        try Self.backup(steps.sources[step], to: disk)
        #expect(Self.count(disk, steps.model, "room for \(room)") == steps.appends[step])
      }
    }
    #expect(failures > 40)
  }

  @Test func `what was copied before a backup was ended is not copied again`() throws {
    let steps = try Steps()
    let first = SimulatedDisk()
    var whole = LogBackup(of: steps.sources[1], to: first, path: Self.target)
    let report = try whole.run()
    var seen: [Int] = []
    for call in stride(from: 1, to: first.operationCount, by: 7) {
      let disk = SimulatedDisk()
      disk.cutPower(atOperation: call)
      var cut = LogBackup(of: steps.sources[1], to: disk, path: Self.target)
      _ = try? cut.run()
      var again = LogBackup(of: steps.sources[1], to: disk.crash(seed: 1, model: .dropAll), path: Self.target)
      let rest = try again.run()
      seen.append(rest.segmentsCopied)
      #expect(rest.end == report.end && rest.segments == report.segments)
    }
    #expect(seen == seen.sorted(by: >), "the later it was ended, the less is left: \(seen)")
    #expect(seen.first == report.segments && seen.last == 0)
  }
}
