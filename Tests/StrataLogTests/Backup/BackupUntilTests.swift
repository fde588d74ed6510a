// Backups that end at a point: the log as it was after one of its appends.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct BackupUntilTests {
  private static let path = "/store"
  private static let target = "/backup"
  private static let layout = StoreLayout(root: path)

  private struct Live {
    let disk = SimulatedDisk()
    let log: Log
    var model = LogModel()

    init(seed: UInt64, appends: Int, blockSize: Int) throws {
      log = try Log.openWriter(disk, path: path, options: .still(segmentSize: 6_000, blockSize: blockSize))
      var source = RandomAppends(seed: seed, sizeTypical: 200, sizeMax: 900)
      // In groups, so that a block has several appends.
      for _ in 0..<appends / 4 {
        let group = (0..<4).map { _ in source.append() }
        for (append, result) in zip(group, try log.appendBlocking(group.map { $0.draft() })) {
          model.add(append, time: try result.get().time)
        }
      }
    }
  }

  @discardableResult
  private func backup(_ log: Log, to disk: any FileSystem, through last: UInt64?) throws(StoreError)
    -> BackupReport
  {
    var backup = LogBackup(of: log, to: disk, path: Self.target, through: last)
    return try backup.run()
  }

  /// What is wrong with a backup that ends with an append. The check computes the chain from what it reads, so an equal
  /// chain is equal content.
  private func problem(_ disk: SimulatedDisk, _ live: Live, appends: Int) throws -> String? {
    let findings = try disk.findings(inStore: Self.target)
    guard findings == [] else { return "\(findings)" }
    let reader = try Log.openReader(disk, path: Self.target, options: .still())
    defer { try? reader.close() }
    let last = live.model.appends[appends - 1].last
    guard reader.mark.sequence == last, reader.mark.appends == UInt64(appends) else {
      return "it ends at \(reader.mark.sequence), with \(reader.mark.appends) appends"
    }
    return try reader.chain(after: last) == live.log.chain(after: last) ? nil : "it has another chain"
  }

  @Test(arguments: [(false, 700), (true, 700), (true, 64 << 10)])
  func `a backup until any append is the store as it was then, and grows to any later one`(
    isSealed: Bool, blockSize: Int
  ) throws {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let live = try Live(seed: seed, appends: 32, blockSize: blockSize)
    if isSealed { _ = try live.log.seal() }
    let ends = live.model.appends.map(\.last)
    for number in 1...ends.count {
      let disk = SimulatedDisk()
      let report = try backup(live.log, to: disk, through: ends[number - 1])
      #expect(report.end.sequence == ends[number - 1])
      #expect(try live.log.chain(after: report.end.sequence) == report.end.chain)
      let what = "until append \(number), SEED=\(seed)"
      #expect(try problem(disk, live, appends: number) == nil, "\(what)")
      guard number % 7 == 2 else { continue }
      // The copy is a store: it is appended to, closed, opened and backed up.
      let own = disk.clone()
      var model = live.model
      model.keepFirst(number)
      let writer = try Log.openWriter(own, path: Self.target, options: .still())
      let append = ModelAppend([ModelEvent(stream: "own", type: "t")])
      model.add(append, time: try writer.appendBlocking(append.draft()).time)
      try writer.close()
      let reader = try Log.openReader(own, path: Self.target, options: .still())
      #expect(
        model.difference(from: reader, countMin: number + 1) == nil, "\(what), with an append of its own")
      try reader.close()
      // The same again copies nothing; then a later point, and at last all of it.
      #expect(try backup(live.log, to: disk, through: ends[number - 1]).bytesCopied == 0)
      let later = Int.random(in: number...ends.count, using: &random)
      try backup(live.log, to: disk, through: ends[later - 1])
      #expect(try problem(disk, live, appends: later) == nil, "\(what), then \(later)")
      try backup(live.log, to: disk, through: nil)
      #expect(try problem(disk, live, appends: ends.count) == nil, "\(what), then all")
      #expect(
        try SegmentCatalog.names(disk, StoreLayout(root: Self.target)).last
          .map { disk.contents(StoreLayout(root: Self.target).segment($0)) }
          == live.disk.contents(Self.layout.segment(live.log.mark.segment)).map {
            Array($0.prefix(Int(live.log.mark.durable.offset)))
          }, "\(what)")
    }
    try live.log.close()
  }

  @Test
  func `a backup does not end inside an append, before the first one, after the last, or before its own end`()
    throws
  {
    let live = try Live(seed: 3, appends: 40, blockSize: 700)
    let disk = SimulatedDisk()
    for append in live.model.appends where append.last > append.first {
      #expect {
        try backup(live.log, to: disk, through: append.first)
      } throws: { error in
        guard case StoreError.invalid(let what, let next) = error else { return false }
        return what.contains("inside the append \(append.first)…\(append.last)")
          && next.contains("\(append.last)")
      }
    }
    #expect(live.model.appends.contains { $0.last > $0.first })
    #expect(throws: StoreError.self) { try backup(live.log, to: disk, through: 0) }
    let head = live.log.mark.sequence
    #expect(throws: StoreError.position(.beyondEnd(sequence: head + 1, last: head))) {
      try backup(live.log, to: disk, through: head + 1)
    }
    #expect(disk.paths.isEmpty, "what is refused leaves nothing")
    try backup(live.log, to: disk, through: live.model.appends[20].last)
    #expect {
      try backup(live.log, to: disk, through: live.model.appends[10].last)
    } throws: { error in
      guard case StoreError.invalid(let what, _) = error else { return false }
      return what.contains("up to \(live.model.appends[20].last) already")
    }
    #expect(try problem(disk, live, appends: 21) == nil)
    try live.log.close()
  }

  @Test func `what is erased is not in a backup of before, and while an erasure is open there is none`()
    throws
  {
    let live = try Live(seed: 4, appends: 40, blockSize: 700)
    let closed = live.log.closedSegments
    let erased = Set((1...live.log.mark.segment.lastBefore).filter { $0 % 3 == 0 })
    _ = try live.log.erase(in: closed) { _, sequence in erased.contains(sequence) }
    for append in live.model.appends where append.last % 5 == 0 {
      let disk = SimulatedDisk()
      try backup(live.log, to: disk, through: append.last)
      let reader = try Log.openReader(disk, path: Self.target, options: .still())
      #expect(try reader.erasedSequences() == erased.filter { $0 <= append.last })
      #expect(try HeadFile.read(disk, path: "\(Self.target)/HEAD")?.isErasing == true)
      try reader.close()
      #expect(try disk.findings(inStore: Self.target) == [])
    }
    try live.log.setErasing(true)
    #expect {
      try backup(live.log, to: SimulatedDisk(), through: live.model.appends[5].last)
    } throws: { error in
      guard case StoreError.invalid(let what, _) = error else { return false }
      return what.contains("erasure")
    }
    try live.log.close()
  }
}
