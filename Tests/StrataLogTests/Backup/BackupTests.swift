// Backups of live stores: the log at one mark, checked, taken up again, and never a part that looks whole.

import Foundation
import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct BackupTests {
  private static let path = "/store"
  private static let target = "/backup"
  private static let layout = StoreLayout(root: path)

  private static func options(_ durability: Durability = .synced, segmentSize: Int = 5_000) -> StoreOptions {
    .still(durability, segmentSize: segmentSize, blockSize: 300)
  }

  /// A live store on a file system of its own.
  private struct Live {
    let fileSystem: SimulatedDisk
    let log: Log
    var model = LogModel()
    var source: RandomAppends

    init(seed: UInt64 = 1, _ options: StoreOptions = options()) throws {
      fileSystem = SimulatedDisk()
      log = try Log.openWriter(fileSystem, path: path, options: options)
      source = RandomAppends(seed: seed, sizeTypical: 200, sizeMax: 900)
    }

    mutating func append(_ count: Int) throws {
      for _ in 0..<count {
        let append = source.append()
        model.add(append, time: try log.appendBlocking(append.draft()).time)
      }
    }
  }

  @discardableResult
  private func backup(_ log: Log, to target: any FileSystem) throws(StoreError) -> BackupReport {
    var backup = LogBackup(of: log, to: target, path: Self.target)
    return try backup.run()
  }

  @Test(arguments: [UInt64.max, UInt64.max - 1, HeadSlot.generationLimit] as [UInt64])
  func `a folder whose HEAD has no generations left is refused, and stays what it is`(generation: UInt64)
    throws
  {
    var live = try Live()
    try live.append(3)
    let target = SimulatedDisk()
    try backup(live.log, to: target)
    let path = StoreLayout(root: Self.target).head
    var head = try #require(target.contents(path))
    var slot = try #require(head.withUnsafeBytes { HeadSlot.newest(in: $0) })
    slot.generation = generation
    head.replaceSubrange(..<HeadSlot.length, with: slot.encoded())
    target.replace(path, head)
    func evidence() -> [String: [UInt8]?] {
      Dictionary(
        uniqueKeysWithValues: target.paths.filter { !$0.hasSuffix("LOCK") }.map { ($0, target.contents($0)) })
    }
    let before = evidence()
    for count in 0..<2 {
      try live.append(count)
      do throws(StoreError) {
        try backup(live.log, to: target)
        Issue.record("generation \(generation) is gone beyond")
      } catch {
        guard error.reason == .notAStore else { throw error }
        #expect(error.place == Self.target && error.what.contains("generations"))
      }
    }
    #expect(evidence() == before)
    try live.log.close()
  }

  /// What is wrong with a finished backup of so many appends.
  private func problem(_ target: any FileSystem, _ model: LogModel, appends: Int? = nil) -> String? {
    var model = model
    if let appends { model.keepFirst(appends) }
    do throws(StoreError) {
      var verifier = LogVerifier(target, path: Self.target)
      let report = try verifier.run()
      guard report.findings == [] else { return "\(report.findings)" }
      guard report.end.sequence == model.head else { return "it ends at \(report.end.sequence)" }
      let reader = try Log.openReader(target, path: Self.target, options: Self.options())
      if let difference = model.difference(from: reader, countMin: model.appends.count) { return difference }
      try reader.close()
      return nil
    } catch { return "\(error)" }
  }

  @Test func `a backup of a live store is that store at its durable end, and goes on as a store itself`()
    throws
  {
    var live = try Live()
    try live.append(60)
    // A writer's indexes are written beside it.
    func files() -> [[UInt8]?] {
      live.fileSystem.paths.filter { !$0.contains("/derived/") }.map { live.fileSystem.contents($0) }
    }
    let bytes = files()
    let disk = SimulatedDisk()
    let report = try backup(live.log, to: disk)
    #expect(files() == bytes, "the source was written to")
    #expect(report.end.sequence == live.model.head && report.segmentsCopied == report.segments)
    #expect(report.segments > 3)
    #expect(problem(disk.crash(seed: 1, model: .dropAll), live.model) == nil)
    let paths = disk.paths.filter { !$0.hasPrefix("/backup/log/") }
    #expect(paths == ["/backup/HEAD", "/backup/LOCK"])
    try live.append(5)
    #expect(problem(disk, live.model, appends: 60) == nil)
    var model = live.model
    model.keepFirst(60)
    let own = try Log.openWriter(disk, path: Self.target, options: Self.options())
    let append = live.source.append()
    model.add(append, time: try own.appendBlocking(append.draft()).time)
    #expect(model.difference(from: own, countMin: 61) == nil)
    try own.close()
    try live.log.close()
  }

  @Test(arguments: Durability.allCases, [true, false])
  func `a later backup copies what is new and no more`(durability: Durability, isReader: Bool) throws {
    var live = try Live(Self.options(durability))
    let disk = SimulatedDisk()
    var end: UInt64 = 0
    for round in 0..<8 {
      try live.append(round == 5 ? 0 : 20)
      if durability == .buffered {
        let mark = live.log.mark
        let log =
          isReader ? try Log.openReader(live.fileSystem, path: Self.path, options: Self.options()) : live.log
        let report = try backup(log, to: disk)
        #expect(report.end.sequence == mark.durable.sequence)
        let appends = live.model.appends.count { $0.last <= mark.durable.sequence }
        #expect(problem(disk, live.model, appends: appends) == nil, "round \(round)")
        if isReader { try log.close() }
        continue
      }
      let log =
        isReader ? try Log.openReader(live.fileSystem, path: Self.path, options: Self.options()) : live.log
      let names = try SegmentCatalog.names(live.fileSystem, Self.layout)
      let new = names.count { $0.firstSequence > end }
      let isLastGrown = end > 0 && end < live.model.head && !names.contains(SegmentName(end + 1))
      let report = try backup(log, to: disk)
      #expect(report.segmentsCopied == new + (isLastGrown ? 1 : 0), "round \(round)")
      end = report.end.sequence
      #expect(problem(disk, live.model) == nil, "round \(round)")
      let again = try backup(log, to: disk)
      #expect(again.segmentsCopied == 0 && again.bytesCopied == 0)
      if isReader { try log.close() }
    }
    try live.log.close()
  }

  @Test
  func `a segment that the source has rewritten is copied again, and one that is rewritten meanwhile too`()
    throws
  {
    var live = try Live()
    try live.append(40)
    let disk = SimulatedDisk()
    try backup(live.log, to: disk)
    let names = try SegmentCatalog.names(live.fileSystem, Self.layout)
    try forgeRewrite(live.fileSystem, Self.layout, first: names[1])
    let report = try backup(live.log, to: disk)
    #expect(report.segmentsCopied == 1)
    let copy = disk.contents(StoreLayout(root: Self.target).segment(names[1]))
    #expect(copy == live.fileSystem.contents(Self.layout.segment(names[1])))
    #expect(problem(disk, live.model) == nil)

    for number in 1...4 {
      let fresh = SimulatedDisk()
      let opens = Lock(0)
      let hooked = HookedFileSystem(base: live.fileSystem) { [disk = live.fileSystem] path in
        guard path == Self.layout.segment(names[2]) else { return }
        let isDue = opens.withLock { opens in
          opens += 1
          return opens == number
        }
        if isDue {
          do { try forgeRewrite(disk, Self.layout, first: names[2]) } catch { Issue.record("\(error)") }
        }
      }
      let reader = try Log.openReader(hooked, path: Self.path, options: Self.options())
      try backup(reader, to: fresh)
      #expect(problem(fresh, live.model) == nil, "open \(number)")
      try reader.close()
    }
    try live.log.close()
  }

  @Test func `the active segment may be closed and rewritten while a backup begins`() throws {
    for number in 1...5 {
      var live = try Live()
      try live.append(10)
      let active = live.log.mark.segment
      let opens = Lock(0)
      let hooked = HookedFileSystem(base: live.fileSystem) { [live] path in
        guard path == Self.layout.segment(active) else { return }
        let isDue = opens.withLock { opens in
          opens += 1
          return opens == number
        }
        guard isDue else { return }
        do {
          while live.log.mark.segment == active {
            _ = try live.log.appendBlocking(
              ModelAppend([ModelEvent(stream: "s", type: "x", payload: [UInt8](repeating: 1, count: 900))])
                .draft())
          }
          try forgeRewrite(live.fileSystem, Self.layout, first: active)
        } catch { Issue.record("\(error)") }
      }
      let reader = try Log.openReader(hooked, path: Self.path, options: Self.options())
      let disk = SimulatedDisk()
      let report = try backup(reader, to: disk)
      let copy = try Log.openReader(disk, path: Self.target, options: Self.options())
      #expect(try live.log.chain(after: report.end.sequence) == report.end.chain)
      #expect(
        try copy.modelAppends().map(\.append)
          == live.log.modelAppends().map(\.append).filter { $0.last <= report.end.sequence }, "open \(number)"
      )
      #expect(try disk.findings(inStore: Self.target) == [], "open \(number)")
      try reader.close()
      try live.log.close()
    }
  }

  @Test func `an empty store and one that has just rolled are backed up as they are`() throws {
    var live = try Live(Self.options(segmentSize: 1))
    let disk = SimulatedDisk()
    for count in 0..<4 {
      if count > 0 { try live.append(1) }
      let report = try backup(live.log, to: disk)
      #expect(report.end.sequence == live.model.head)
      #expect(problem(disk, live.model) == nil, "\(count) appends")
    }
    try live.log.close()
  }

  // MARK: What is refused

  @Test func `a damaged source is an error with its place, and leaves nothing that opens`() throws {
    var live = try Live()
    try live.append(40)
    let names = try SegmentCatalog.names(live.fileSystem, Self.layout)
    try live.log.close()
    let sound = SimulatedDisk()
    try backup(try Log.openReader(live.fileSystem, path: Self.path, options: Self.options()), to: sound)
    for first in names.dropLast() {
      let damaged = live.fileSystem.clone()
      damaged.flipBit(Self.layout.segment(first), (SegmentHeader.length + 300) * 8)
      let reader = try Log.openReader(damaged, path: Self.path, options: Self.options())
      let disk = SimulatedDisk()
      do throws(StoreError) {
        try backup(reader, to: disk)
        Issue.record("damage in \(first) was copied")
      } catch {
        guard case .damaged(let finding) = error else {
          Issue.record("\(error)")
          continue
        }
        #expect(
          finding.file == first.path && finding.offset >= UInt64(SegmentHeader.length))
      }
      #expect(throws: StoreError.self) {
        try Log.openReader(disk, path: Self.target, options: Self.options())
      }
      // Of a copy, because a writer removes unfinished files.
      #expect(throws: StoreError.self) {
        try Log.openWriter(disk.clone(), path: Self.target, options: Self.options())
      }
      #expect(try disk.findings(inStore: Self.target).map(\.class) == [.missing])
      // The damage is healed: what was copied is taken, and the rest follows.
      let report = try backup(
        try Log.openReader(live.fileSystem, path: Self.path, options: Self.options()), to: disk)
      #expect(report.segmentsCopied == report.segments - names.firstIndex(of: first)!)
      #expect(problem(disk, live.model) == nil)
    }
    // A finished backup stays what it was.
    let damaged = live.fileSystem.clone()
    try forgeRewrite(damaged, Self.layout, first: names[1])
    damaged.flipBit(Self.layout.segment(names[1]), (SegmentHeader.length + 300) * 8)
    let reader = try Log.openReader(damaged, path: Self.path, options: Self.options())
    #expect(throws: StoreError.self) { try backup(reader, to: sound) }
    #expect(problem(sound, live.model) == nil)
  }

  @Test func `another store, another history and other things are refused and left as they were`() throws {
    var live = try Live()
    try live.append(20)
    let older = live.fileSystem.clone()
    try live.append(20)
    let disk = SimulatedDisk()
    try backup(live.log, to: disk)
    let files = disk.paths.map { disk.contents($0) }
    func expectRefused(_ log: Log, _ isRight: (StoreError) -> Bool) throws {
      do throws(StoreError) {
        try backup(log, to: disk)
        Issue.record("the target was taken")
      } catch { #expect(isRight(error), "\(error)") }
      #expect(disk.paths.map { disk.contents($0) } == files)
    }
    var other = try Live(seed: 9)
    try other.append(3)
    try expectRefused(other.log) { $0.reason == .notAStore }
    // The same store, from an older copy: what the backup has behind that is not in it.
    let behind = try Log.openWriter(older, path: Self.path, options: Self.options())
    try expectRefused(behind) { $0.isDiverged }
    for _ in 0..<60 { _ = try behind.appendBlocking(live.source.append().draft()) }
    try expectRefused(behind) { $0.isDiverged }
    // A writer has the backup.
    let writer = try Log.openWriter(disk, path: Self.target, options: Self.options())
    #expect {
      try backup(live.log, to: disk)
    } throws: { error in
      guard case StoreError.locked(Self.target, let holder?) = error else { return false }
      return holder.hasPrefix("process \(processID()) since ")
    }
    _ = try writer.appendBlocking(live.source.append().draft())
    try writer.close()
    #expect(throws: StoreError.self, "the backup was appended to") { try backup(live.log, to: disk) }
    let foreign = MemoryFileSystem()
    try foreign.createDirectory(Self.target)
    try foreign.open("\(Self.target)/notes.txt", .create).close()
    #expect(throws: StoreError.self) { try backup(live.log, to: foreign) }
    #expect(try foreign.contents(ofDirectory: Self.target) == ["notes.txt"])
    for log in [live.log, other.log, behind] { try log.close() }
  }

  @Test(arguments: [CrashModel.dropAll, .lossless])
  func `a backup that was opened and appended to is refused, also where only its blocks tell of it`(
    model: CrashModel
  ) throws {
    var live = try Live()
    try live.append(20)
    let disk = SimulatedDisk()
    try backup(live.log, to: disk)
    let writer = try Log.openWriter(disk, path: Self.target, options: Self.options(segmentSize: 1 << 20))
    for _ in 0..<10 { _ = try writer.appendBlocking(live.source.append().draft()) }
    // HEAD is that of the open, and behind the blocks there are zeros.
    let after = disk.crash(seed: 1, model: model)
    try writer.close()
    func bytes() -> [[UInt8]?] {
      after.paths.filter { !$0.hasSuffix("LOCK") }.map { after.contents($0) }
    }
    let before = bytes()
    do throws(StoreError) {
      try backup(live.log, to: after)
      Issue.record("what was acknowledged is overwritten")
    } catch {
      guard error.isDiverged else {
        Issue.record("\(error)")
        return
      }
    }
    let isUnchanged = bytes() == before
    #expect(isUnchanged)
    try live.log.close()
  }

  @Test func `a backup goes into no folder of the store, by whatever way`() throws {
    let folder = try TemporaryFolder()
    let fileSystem = PosixFileSystem()
    let store = folder.path + "/store"
    let log = try Log.openWriter(fileSystem, path: store, options: Self.options())
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "t")]).draft())
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: store + "/log")
    let inside = [
      "/store", "/store/", "/store/quarantine", "/store/log/x", "/store/a/b/c", "/link", "/link/x",
      "/store/../store/x",
    ]
    for path in inside {
      #expect(
        throws: StoreError.invalid(what: "the backup of a store cannot go into the store itself"), "\(path)"
      ) {
        var backup = LogBackup(of: log, to: fileSystem, path: folder.path + path)
        return try backup.run()
      }
    }
    for path in ["/other", "/store.backup", "/new/folder"] {
      var backup = LogBackup(of: log, to: fileSystem, path: folder.path + path)
      #expect(try backup.run().end.sequence == 1)
    }
    try log.close()
  }

  @Test func `a store is not backed up into itself, not by a reader either`() throws {
    let memory = MemoryFileSystem()
    let log = try Log.openWriter(memory, path: Self.target, options: Self.options())
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "t")]).draft())
    #expect(throws: StoreError.self) { try backup(log, to: memory) }
    try log.close()
    let head = try HeadFile.read(memory, path: "\(Self.target)/HEAD")
    let reader = try Log.openReader(memory, path: Self.target, options: Self.options())
    #expect(throws: StoreError.self) { try backup(reader, to: memory) }
    #expect(try HeadFile.read(memory, path: "\(Self.target)/HEAD") == head)
  }
}
