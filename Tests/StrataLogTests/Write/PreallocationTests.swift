// Zeros written ahead of the log: when they are there, when they are cut off, and that nothing depends on them.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct PreallocationTests {
  private static let root = "/store"
  private static let layout = StoreLayout(root: root)
  private static let step = 8_192

  private static func options(step: Int = step) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.headSyncInterval = .seconds(3_600)
    options.preallocationStep = step
    return options
  }

  private func writer(_ disk: SimulatedDisk, _ options: StoreOptions = options()) throws -> Log {
    try Log.openWriter(disk, path: Self.root, options: options)
  }

  @discardableResult
  private func append(_ log: Log, payload count: Int = 200) throws -> AppendOutcome {
    // Bytes that LZ4 cannot make fewer of.
    var random = SeededGenerator(seed: UInt64(count))
    let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    let event = ModelEvent(stream: "s", type: "t", payload: payload)
    return try log.appendBlocking(ModelAppend([event]).draft())
  }

  private func contents(_ disk: SimulatedDisk, _ segment: SegmentName = 1) -> [UInt8] {
    disk.contents(Self.layout.segment(segment)) ?? []
  }

  /// Bytes of the active segment behind the visible end.
  private func tail(_ disk: SimulatedDisk, _ log: Log) -> ArraySlice<UInt8> {
    contents(disk, log.mark.segment)[Int(log.mark.visible.offset)...]
  }

  /// A writer whose segment has zeros behind its end: more of them than the next group takes.
  private func writerBeforeZeros(_ disk: SimulatedDisk, _ options: StoreOptions = options()) throws -> Log {
    let log = try writer(disk, options)
    for _ in 0..<20 {
      try append(log)
      if tail(disk, log).count > Self.step / 2 { return log }
    }
    Issue.record("nothing is written ahead")
    return log
  }

  @Test func `small groups go over zeros that are there already, and the file grows once in many of them`()
    throws
  {
    let disk = SimulatedDisk()
    let log = try writer(disk)
    var sizes: [Int] = []
    for _ in 0..<60 {
      try append(log)
      sizes.append(contents(disk).count)
      #expect(tail(disk, log).allSatisfy { $0 == 0 })
    }
    #expect(Set(sizes).count < 15, "\(sizes)")
    try log.close()
    #expect(contents(disk).count == Int(log.mark.visible.offset), "a close cuts the zeros off")
    #expect(try HeadFile.read(disk, path: Self.layout.head)?.isClean == true)
    #expect(try disk.findings(inStore: Self.root) == [])
  }

  @Test func `without the option, and where a sync is not waited for, the file ends with the log`() throws {
    var buffered = Self.options()
    buffered.durability = .buffered
    for options in [Self.options(step: 0), buffered] {
      let disk = SimulatedDisk()
      let log = try writer(disk, options)
      for _ in 0..<10 {
        try append(log)
        #expect(tail(disk, log).isEmpty)
      }
      try log.close()
    }
  }

  @Test func `neither a single group nor large ones are written ahead of`() throws {
    let disk = SimulatedDisk()
    let log = try writer(disk)
    try append(log)
    #expect(tail(disk, log).isEmpty)
    for _ in 0..<4 {
      try append(log, payload: 200 << 10)
      #expect(tail(disk, log).isEmpty)
    }
    try log.close()
  }

  @Test func `a step that is negative is refused`() {
    #expect(throws: StoreError.self) { try writer(SimulatedDisk(), Self.options(step: -1)) }
  }

  @Test func `zeros end where the segment will, and the next segment gets its own`() throws {
    let disk = SimulatedDisk()
    var options = Self.options()
    options.segmentSizeTarget = 13_000
    options.sealsInBackground = false
    let log = try writer(disk, options)
    var ahead: Set<SegmentName> = []
    for _ in 0..<80 {
      try append(log)
      let segment = log.mark.segment
      if !tail(disk, log).isEmpty { ahead.insert(segment) }
      #expect(contents(disk, segment).count < options.segmentSizeTarget + 1_000)
    }
    #expect(ahead.count > 2)
    try log.close()
    #expect(try disk.findings(inStore: Self.root) == [])
  }

  @Test func `a closed segment ends with its last block, whatever was written ahead of it`() throws {
    let disk = SimulatedDisk()
    let first = try writerBeforeZeros(disk)
    let end = Int(first.mark.visible.offset)
    let after = disk.clone()
    try first.close()
    #expect(contents(after).count > end)
    var options = Self.options()
    options.segmentSizeTarget = 1
    options.sealsInBackground = false
    let log = try writer(after, options)
    try append(log)
    #expect(log.source.catalog.names.count == 2)
    #expect(contents(after).count == end)
    #expect(contents(after.crash(seed: 1, model: .dropAll)).count == end, "the cut is synced")
    try log.close()
    #expect(try after.findings(inStore: Self.root) == [])
  }

  @Test func `the next writer goes on over the zeros that a killed one left`() throws {
    let disk = SimulatedDisk()
    let first = try writerBeforeZeros(disk)
    let end = first.mark
    for model in [CrashModel.lossless, .dropAll] {
      let after = disk.crash(seed: 1, model: model)
      let size = contents(after).count
      #expect(size > Int(end.visible.offset))
      let reader = try Log.openReader(after, path: Self.root, options: Self.options())
      #expect(reader.mark.sequence == end.sequence && reader.tornBytes == 0)
      let log = try writer(after)
      #expect(log.mark.sequence == end.sequence && log.tornBytes == 0)
      #expect(contents(after).count == size, "an open changes nothing")
      try append(log)
      try append(log)
      #expect(contents(after).count == size)
      try log.close()
      #expect(contents(after).count == Int(log.mark.visible.offset))
      #expect(try Log.openReader(after, path: Self.root, options: Self.options()).mark == log.mark)
    }
    try first.close()
  }

  // MARK: A disk that is full or fails

  @Test func `a disk without room for zeros takes appends for as long as there is room for them`() throws {
    let disk = SimulatedDisk()
    let log = try writer(disk)
    try append(log)
    let room = 6 * 512
    disk.capacity = disk.usedSize + room
    var count = 1
    var outcome = Result { try append(log) }
    while case .success = outcome {
      count += 1
      #expect(tail(disk, log).isEmpty, "zeros keep the room that they do not fill")
      outcome = Result { try append(log) }
    }
    #expect(throws: StoreError.full(path: Self.layout.segment(1))) { try outcome.get() }
    #expect(count > 5 && disk.capacity! - disk.usedSize < 500, "\(count) fitted")
    disk.capacity = nil
    try append(log)
    #expect(log.mark.sequence == UInt64(count + 1))
    try log.close()
  }

  @Test func `on a full disk what fits into the zeros is appended, and no more`() throws {
    let disk = SimulatedDisk()
    let log = try writerBeforeZeros(disk)
    disk.capacity = disk.usedSize
    let (before, zeros) = (log.mark, tail(disk, log).count)
    var outcome = Result { try append(log) }
    while case .success = outcome { outcome = Result { try append(log) } }
    #expect(throws: StoreError.full(path: Self.layout.segment(1))) { try outcome.get() }
    #expect(log.mark.visible.offset > before.visible.offset + UInt64(zeros) - 500)
    // The zeros that the refused group was written over are cut off with it, so there is room again.
    let reader = try Log.openReader(disk.clone(), path: Self.root, options: Self.options())
    #expect(reader.mark.sequence == log.mark.sequence && reader.tornBytes == 0)
    disk.capacity = nil
    try append(log)
    try log.close()
  }

  @Test(arguments: [0, 0.5, 1])
  func `a write that fails leaves nothing behind the end of the log but zeros`(part: Double) throws {
    let disk = SimulatedDisk()
    let log = try writerBeforeZeros(disk)
    let before = log.mark
    for code in [SystemErrorCode.noSpace, SystemErrorCode.inputOutput] {
      disk.inject(SimulatedFailure(of: [.write], code: code, partOfWrite: part))
      #expect(throws: StoreError.self) { try append(log) }
      #expect(tail(disk, log).allSatisfy { $0 == 0 } && log.mark == before)
      for model in CrashModel.allCases {
        let after = disk.crash(seed: 3, model: model)
        let reader = try Log.openReader(after, path: Self.root, options: Self.options())
        #expect(reader.mark.sequence == before.sequence && reader.tornBytes == 0)
      }
    }
    try append(log)
    try log.close()
  }

  @Test func `a failed sync of zeros ends the writer as any other does`() throws {
    let disk = SimulatedDisk()
    let log = try writer(disk)
    disk.onOperation { call in
      // Groups are synced by their data alone; nothing rolls and nothing closes here.
      call.operation == .sync && call.path.hasSuffix(".seg") ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    var acknowledged: UInt64 = 0
    var refusal: StoreError?
    for _ in 0..<10_000 where refusal == nil {
      // By the committer, which looks for zeros when it has nothing to do.
      let event = ModelEvent(stream: "s", type: "t", payload: [1, 2, 3])
      switch try log.appendBlocking([ModelAppend([event]).draft()])[0] {
      case .success(let outcome): acknowledged = outcome.last
      case .failure(let error): refusal = error
      }
    }
    guard refusal?.reason == .poisoned else {
      Issue.record("the failure is passed over: \(String(describing: refusal))")
      return
    }
    disk.onOperation(nil)
    #expect(throws: StoreError.self) { try append(log) }
    #expect(log.mark.sequence == acknowledged)
    try? log.close()
    let again = try writer(disk)
    #expect(again.mark.sequence == acknowledged)
    try append(again)
    try again.close()
  }
}
