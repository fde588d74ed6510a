// The mark of what is erased in a segment, and what a backup makes of it.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct BackupMarkTests {
  private static let path = "/store"
  private static let layout = StoreLayout(root: path)
  /// Where the mark is in a segment's header.
  private static let markOffset = 160

  private static func options() -> StoreOptions {
    .still(segmentSize: 5_000, blockSize: 700)
  }

  private static func open(_ disk: SimulatedDisk) throws -> Log {
    try Log.openWriter(disk, path: path, options: options(), storeID: StoreID(low: 3, high: 4))
  }

  private func store(seed: UInt64, appends: Int = 40) throws -> (SimulatedDisk, Log) {
    let disk = SimulatedDisk()
    let log = try Self.open(disk)
    var source = RandomAppends(seed: seed, sizeTypical: 200, sizeMax: 900)
    for _ in 0..<appends { _ = try log.appendBlocking(source.append().draft()) }
    return (disk, log)
  }

  @discardableResult
  private func backup(_ log: Log, to target: SimulatedDisk) throws -> BackupReport {
    var backup = LogBackup(of: log, to: target, path: Self.path)
    return try backup.run()
  }

  private func erase(_ sequences: Set<UInt64>, _ log: Log) throws {
    _ = try log.erase(in: log.closedSegments) { _, sequence in sequences.contains(sequence) }
  }

  /// Erases in a store that is closed, without an order in its log.
  private func erase(_ sequences: Set<UInt64>, on disk: SimulatedDisk) throws {
    let log = try Self.open(disk)
    try erase(sequences, log)
    try log.close()
  }

  private func erased(_ disk: SimulatedDisk) throws -> Set<UInt64> {
    let log = try Log.openReader(disk, path: Self.path, options: Self.options())
    defer { try? log.close() }
    return try log.erasedSequences()
  }

  private func findings(_ disk: SimulatedDisk) throws -> [StoreFinding] {
    try disk.findings(inStore: Self.path)
  }

  private func mark(_ disk: SimulatedDisk, _ first: SegmentName) -> UInt64 {
    disk.contents(Self.layout.segment(first))!.withUnsafeBytes {
      $0.baseAddress!.littleEndian(UInt64.self, at: Self.markOffset)
    }
  }

  /// Writes another mark into a segment's header, with its checksum.
  private func setMark(_ mark: UInt64, _ disk: SimulatedDisk, _ first: SegmentName) {
    let path = Self.layout.segment(first)
    var bytes = disk.contents(path)!
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      base.setLittleEndian(mark, at: Self.markOffset)
      let crc = CRC32C.of(UnsafeRawBufferPointer(start: base, count: SegmentHeader.Offset.checksum))
      base.setLittleEndian(crc, at: SegmentHeader.Offset.checksum)
    }
    disk.replace(path, bytes)
  }

  /// The segments that were rewritten.
  private func rewritten(_ disk: SimulatedDisk) throws -> [SegmentName] {
    try SegmentCatalog.names(disk, Self.layout).filter { first in
      let file = try disk.open(Self.layout.segment(first), .read)
      defer { file.close() }
      return try SegmentHandle.readHeader(of: file, first: first, storeID: nil).isRewritten
    }
  }

  @Test func `the mark is what FORMAT.md says, computed elsewhere`() {
    var mark = ErasureMark()
    #expect(mark.value == 0xef46_db37_51d8_e999 && mark == ErasureMark.none)
    mark.add(2)
    #expect(mark.value == 0x94ea_d19b_1740_4ea1)
    mark.add(3)
    mark.add(1 << 40)
    #expect(mark.value == 0xe420_bd70_ec7d_f939)
  }

  @Test
  func `stores that erased the same bear the same marks, in whatever order and with whatever seals`() throws {
    let (disk, log) = try store(seed: 5)
    let backup = SimulatedDisk()
    try self.backup(log, to: backup)
    let closed = log.closedSegments
    #expect(closed.count > 3)
    let last = log.mark.segment.lastBefore
    // Every second event, and the last of each segment, so that each is rewritten.
    let ends = Set(closed.map(\.lastBefore) + [last])
    let all = Set((1...last).filter { $0 % 2 == 0 || ends.contains($0) })
    let some = all.filter { $0 % 3 == 0 }
    _ = try log.seal()
    #expect(Set(closed.map { mark(disk, $0) }).count == 1, "nothing is erased, and that is one mark")
    try erase(some, log)
    try erase(all, log)
    try erase(all.subtracting(some), on: backup)
    #expect(closed.contains { mark(disk, $0) != mark(backup, $0) })
    try erase([2], on: backup)
    try erase(some, on: backup)
    #expect(closed.map { mark(disk, $0) } == closed.map { mark(backup, $0) })
    #expect(try closed.allSatisfy { mark(disk, $0) != 0 } && erased(disk) == all && erased(backup) == all)
    // Only the segment that the seal closed, and the one that it began, are new.
    let report = try self.backup(log, to: backup)
    #expect(report.segmentsCopied == 2)
    #expect(try erased(backup) == all && findings(backup) == [] && findings(disk) == [])
    try log.close()
  }

  @Test
  func `a backup lacks what the source has erased, where neither has a mark that is known`() throws {
    let (disk, log) = try store(seed: 5)
    let target = SimulatedDisk()
    try backup(log, to: target)
    // Two events of the same segment.
    let firsts = log.closedSegments
    let segment = try #require(
      zip(firsts, firsts.dropFirst()).first { $1.firstSequence > $0.firstSequence + 1 }
    ).0
    let first = segment.firstSequence
    try erase([first], log)
    try erase([first + 1], on: target)
    for store in [disk, target] {
      #expect(try rewritten(store) == [segment])
      setMark(0, store, segment)
    }
    let reader = try Log.openReader(disk, path: Self.path, options: Self.options())
    try backup(reader, to: target)
    #expect(try erased(target) == [first, first + 1] && findings(target) == [])
    try reader.close()
    try log.close()
  }

  @Test(arguments: 0..<30)
  func
    `fault 46: a backup lacks what the source has erased, and what it has erased itself, whatever marks are known`(
      number: Int
    ) throws
  {
    let seed = SeededGenerator.testSeed() &+ UInt64(number)
    var random = SeededGenerator(seed: seed)
    let (disk, log) = try store(seed: seed)
    let target = SimulatedDisk()
    if Bool.random(using: &random) { _ = try log.seal() }
    try backup(log, to: target)
    let last = log.mark.segment.lastBefore
    func some() -> Set<UInt64> {
      let share = [0, 0.05, 0.5].randomElement(using: &random)!
      return Set((1...last).filter { _ in Double.random(in: 0..<1, using: &random) < share })
    }
    let (ours, theirs) = (some(), some())
    for _ in 0..<2 { try erase(ours.filter { _ in Bool.random(using: &random) }, log) }
    try erase(ours, log)
    try erase(theirs.filter { _ in Bool.random(using: &random) }, on: target)
    try erase(theirs, on: target)
    if Bool.random(using: &random) { _ = try log.seal() }
    // As files are that were rewritten before there was a mark.
    for store in [disk, target] where Bool.random(using: &random) {
      for first in try rewritten(store) where Bool.random(using: &random) { setMark(0, store, first) }
    }
    let reader = try Log.openReader(disk, path: Self.path, options: Self.options())
    try backup(reader, to: target)
    #expect(try erased(target) == ours.union(theirs), "SEED=\(seed)")
    #expect(try findings(target) == [], "SEED=\(seed)")
    #expect(try backup(reader, to: target).segmentsCopied == 0, "SEED=\(seed)")
    #expect(try erased(disk) == ours)
    try reader.close()
    // The source follows, and both are the same.
    try erase(ours.union(theirs), log)
    try backup(log, to: target)
    #expect(try erased(target) == ours.union(theirs) && findings(target) == [], "SEED=\(seed)")
    try log.close()
  }

  @Test func `a mark that is not that of the segment's events is a finding at its end`() throws {
    let (disk, log) = try store(seed: 8)
    let first = log.closedSegments[1]
    try erase([first.firstSequence, first.firstSequence + 1], log)
    try log.close()
    let right = mark(disk, first)
    #expect(try right != 0 && findings(disk) == [])
    setMark(right ^ 1, disk, first)
    let found = try findings(disk)
    #expect(found.map(\.class) == [.stale] && found.first?.file == first.path)
    #expect(found.first?.offset == UInt64(disk.contents(Self.layout.segment(first))!.count))
    setMark(0, disk, first)
    #expect(try findings(disk) == [])
  }

  @Test func `a seal gives a mark to what was rewritten before there was one, once`() throws {
    let (disk, log) = try store(seed: 9)
    _ = try log.seal()
    let closed = log.closedSegments
    try erase([1, 2], log)
    try log.close()
    for first in closed { setMark(0, disk, first) }
    let opened = try Self.open(disk)
    #expect(try opened.seal().sealed == closed.count)
    #expect(try closed.allSatisfy { mark(disk, $0) != 0 } && erased(disk) == [1, 2] && findings(disk) == [])
    #expect(try opened.seal().sealed == 0)
    try opened.close()
  }
}
