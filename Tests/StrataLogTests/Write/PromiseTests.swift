// What must be on the disk at which moment: the power is cut right then, and nothing unsynced survives.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct PromiseTests {
  private static let root = "/store"
  private static let layout = StoreLayout(root: root)

  /// Nothing is synced because time went by.
  private static func options(_ durability: Durability = .synced) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.durability = durability
    options.headSyncInterval = .seconds(3_600)
    return options
  }

  private func writer(_ disk: SimulatedDisk, _ options: StoreOptions = options()) throws -> Log {
    try Log.openWriter(disk, path: Self.root, options: options)
  }

  private func reader(_ disk: SimulatedDisk) throws -> Log {
    try Log.openReader(disk, path: Self.root, options: Self.options())
  }

  private func append(_ log: Log, _ type: String) throws {
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: type)]).draft())
  }

  /// What is there after a power cut now.
  private func cut(_ disk: SimulatedDisk) -> SimulatedDisk { disk.crash(seed: 0, model: .dropAll) }

  private func head(_ disk: SimulatedDisk) throws -> HeadSlot? {
    try HeadFile.read(disk, path: Self.layout.head)
  }

  @Test(arguments: Durability.allCases)
  func `fault 02: an acknowledged append is on the disk, and in paranoid stores HEAD says so`(
    durability: Durability
  )
    throws
  {
    let disk = SimulatedDisk()
    let log = try writer(disk, Self.options(durability))
    for number in 1...UInt64(4) {
      try append(log, "\(number)")
      let durable = durability == .buffered ? 0 : number
      #expect(log.mark.sequence == number && log.mark.durable.sequence == durable)
      #expect(try reader(cut(disk)).mark.sequence == durable)
      let promised = try head(cut(disk))?.durable.sequence
      #expect(durability != .paranoid || promised == number)
    }
    try log.close()
    #expect(try reader(cut(disk)).mark.sequence == 4, "a close syncs what was only buffered")
  }

  @Test func `what HEAD promised and the segment no longer has is corruption, and not a torn tail`() throws {
    let disk = SimulatedDisk()
    let log = try writer(disk, Self.options(.paranoid))
    try append(log, "1")
    let after = cut(disk)
    try log.close()
    let segment = Self.layout.segment(1)
    let bytes = after.contents(segment)!
    after.replace(
      segment, bytes[..<SegmentHeader.length] + Array(repeating: 0, count: bytes.count - SegmentHeader.length)
    )
    #expect(throws: StoreError.self) { try reader(after) }
    #expect(throws: StoreError.self) { try writer(after) }
  }

  @Test func `a cursor for what is durable stops before what is only buffered`() throws {
    let disk = SimulatedDisk()
    let log = try writer(disk, Self.options(.buffered))
    try append(log, "1")
    var durable = log.cursor(after: 0, isDurableOnly: true)
    var visible = log.cursor(after: 0)
    let (nothing, block) = (try durable.next(), try visible.next())
    #expect(nothing == nil && block != nil)
    try log.close()
  }

  @Test func `in step nothing is called between two appends, however much time goes by`() throws {
    let disk = SimulatedDisk()
    var options = Self.options()
    (options.writesInStep, options.headSyncInterval) = (true, .milliseconds(200))
    let log = try writer(disk, options)
    try append(log, "1")
    let before = disk.operationCount
    pauseThread(nanoseconds: 400_000_000)
    #expect(disk.operationCount == before)
    try log.close()
  }

  @Test func `fault 100: what an erasure syncs at its begin and its end is known to be on the disk at once`()
    throws
  {
    let log = try writer(SimulatedDisk(), Self.options(.buffered))
    for isErasing in [true, false] {
      try append(log, "1")
      #expect(log.mark.durable.sequence < log.mark.sequence)
      try log.setErasing(isErasing)
      #expect(log.mark.durable.sequence == log.mark.sequence)
    }
    try log.close()
  }

  @Test
  func
    `fault 100: what a roll syncs is known to be on the disk at once, also if no next segment can be made`()
    throws
  {
    let disk = SimulatedDisk()
    let log = try writer(disk, Self.options(.buffered))
    try append(log, "1")
    disk.onOperation { call in
      call.operation == .open && call.path.hasPrefix(Self.layout.log)
        ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    #expect(throws: StoreError.self) { try log.roll() }
    #expect(log.source.catalog.names == [1])
    #expect(log.mark.durable.sequence == log.mark.sequence)
    disk.onOperation(nil)
    try log.close()
  }

  @Test func `an opened store's HEAD says on the disk that it is open, in an epoch that nobody had`() throws {
    let disk = SimulatedDisk()
    var epoch: UInt64 = 0
    for round in 1...UInt64(3) {
      let log = try writer(disk)
      let slot = try #require(try head(cut(disk)))
      #expect(!slot.isClean && slot.epoch > epoch, "round \(round)")
      for offset in HeadSlot.offsets {
        // Damage to one slot does not bring back what the writer before said.
        let damaged = cut(disk)
        damaged.flipBit(Self.layout.head, (offset + 100) * 8)
        #expect(try head(damaged)?.isClean == false, "round \(round), the slot at \(offset) is damaged")
      }
      epoch = slot.epoch
      try append(log, "\(round)")
      #expect(
        try reader(cut(disk)).mark.sequence == round, "an intact store is refused, or lost its last append")
      try log.close()
      #expect(try head(cut(disk))?.isClean == true)
    }
  }

  @Test func `fault 23: a segment has its name on the disk before its first group is acknowledged`() throws {
    let disk = SimulatedDisk()
    var options = Self.options()
    options.segmentSizeTarget = 1
    options.sealsInBackground = false
    let log = try writer(disk, options)
    for number in 1...UInt64(5) {
      try append(log, "\(number)")
      let after = cut(disk)
      #expect(try SegmentCatalog.names(after, Self.layout) == (1...number).map { SegmentName($0) })
      #expect(try reader(after).modelAppends().count == Int(number))
    }
    try log.close()
  }

  @Test func `fault 45: a power cut between any two calls of a roll leaves a store that opens`() throws {
    let disk = SimulatedDisk()
    var options = Self.options()
    options.segmentSizeTarget = 1
    options.sealsInBackground = false
    let log = try writer(disk, options)
    let state = Lock((acknowledged: UInt64(0), problems: [String](), cuts: 0))
    disk.onOperation { [weak disk] call in
      guard call.operation.isChange, let disk else { return .proceed }
      // Read first: a thread that writes an index is not waited for.
      let acknowledged = state.withLock { $0.acknowledged }
      let found = Result {
        try Log.openReader(disk.crash(seed: 0, model: .dropAll), path: Self.root, options: Self.options())
          .modelAppends().count
      }
      state.withLock { state in
        state.cuts += 1
        if case .success(let count) = found, count >= acknowledged { return }
        state.problems.append("before \(call.operation) \(call.path): \(found)")
      }
      return .proceed
    }
    for number in 1...UInt64(4) {
      try append(log, "\(number)")
      state.withLock { $0.acknowledged = number }
    }
    disk.onOperation(nil)
    let (_, problems, cuts) = state.withLock { $0 }
    #expect(problems == [] && cuts > 20)
    try log.close()
  }

  @Test func `a torn tail is in quarantine on the disk before the append that cut it off is acknowledged`()
    throws
  {
    let disk = SimulatedDisk()
    var log = try writer(disk)
    try append(log, "1")
    let end = log.mark.visible.offset
    try log.close()
    let segment = Self.layout.segment(1)
    let tail = [UInt8](repeating: 7, count: 99)
    disk.replace(segment, disk.contents(segment)! + tail)
    disk.delete(Self.layout.head)
    log = try writer(disk)
    #expect(log.tornBytes == 99)
    try append(log, "2")
    let after = cut(disk)
    try log.close()
    let kept = after.paths.filter { $0.hasPrefix(Self.layout.quarantine) }
    #expect(kept.map { after.contents($0) } == [tail])
    let note = try #require(
      try after.recoveryNote(in: 1, of: Self.layout, at: end), "no RECOVERY block says what was cut off")
    #expect(note.cutOffset == end && note.cutLength == 99 && kept == ["\(Self.root)/\(note.path)"])
    #expect(try reader(after).mark.sequence == 2)
  }

  @Test func `a reader beside a writer sees nothing that is written and not acknowledged`() throws {
    let disk = SimulatedDisk()
    let log = try writer(disk)
    let seen = Lock<[UInt64]>([])
    disk.onOperation { [weak disk] call in
      if call.operation == .syncData, call.path.hasSuffix(".seg"), let disk {
        let reader = try? Log.openReader(disk, path: Self.root, options: Self.options())
        let count = try? reader?.modelAppends().count
        seen.withLock {
          $0.append(reader?.mark.sequence == count.map { UInt64($0) } ? UInt64(count ?? 99) : 99)
        }
        try? reader?.close()
      }
      return .proceed
    }
    for number in 1...3 { try append(log, "\(number)") }
    disk.onOperation(nil)
    #expect(seen.withLock { $0 } == [0, 1, 2])
    try log.close()
  }
}
