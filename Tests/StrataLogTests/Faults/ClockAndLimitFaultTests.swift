// Faults 27 and 40: clocks that jump, and sizes and numbers at the ends of their ranges.

import StrataLog
import StrataSimulation
import Testing

@Suite struct ClockAndLimitFaultTests {
  @Test
  func `fault 27: however the clock jumps, commit times never run backwards and own times find the past`()
    throws
  {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let clock = SimulatedClock()
    let store = try FaultStore(
      SimulatedDisk(), FaultStore.options(segmentSizeTarget: 5_000) { $0.clock = clock.storeClock })
    var ticks: [Int64] = []
    for number in 0..<60 {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: break
      case 1: clock.advance(by: .seconds(Int.random(in: 1...3_600, using: &random)))
      case 2: clock.advance(by: .seconds(-Int.random(in: 1...7_200, using: &random)))
      case 3: clock.advance(by: .seconds(86_400 * 400 * (number % 2 == 0 ? 1 : -1)))
      default: clock.setStep(Int64.random(in: 0...2, using: &random))
      }
      if number == 20 { clock.set(to: 0) }
      if number == 30 { try store.reopen() }
      clock.setStep(0)
      ticks.append(clock.now)
      try store.append()
    }
    let found = try store.log.modelAppends().map(\.append)
    let times = found.map { $0.time! }
    #expect(times == times.sorted() && Set(times).count < times.count)
    // What the clock said is kept where it is not the commit time: the jump can be seen.
    for (index, append) in found.enumerated() { #expect((append.given ?? append.time) == ticks[index]) }
    #expect(found.contains { $0.given != nil })
    for time in times + ticks + [ticks.min()! - 1, .max, .min] {
      let expected = ticks.lastIndex { $0 <= time }.map { found[$0].last }
      #expect(try store.log.lastAppend(notAfter: time)?.last == expected, "SEED=\(seed), at \(time)")
    }
    try store.close()
    #expect(FaultStore.problem(store.disk, store.model, countMin: 60, store.options) == nil)
  }

  @Test
  func `fault 27: a clock at either end of its range gives times that can be read, and the log goes on`()
    throws
  {
    let clock = SimulatedClock(.min)
    let store = try FaultStore(SimulatedDisk(), FaultStore.options { $0.clock = clock.storeClock })
    try store.append(2)
    clock.set(to: .max)
    try store.append(2)
    clock.advance(by: .seconds(5))
    #expect(clock.now == .max)
    clock.set(to: 0)
    try store.append(2)
    let times = try store.log.modelAppends().map { $0.append.time! }
    #expect(times == [.min + 1, .min + 1, .max, .max, .max, .max])
    try store.close()
    #expect(FaultStore.problem(store.disk, store.model, countMin: 6, store.options) == nil)
  }

  @Test func `fault 40: events of no bytes and of as many as an append may have come back as they were`()
    throws
  {
    let options = FaultStore.options { options in
      options.payloadSizeMax = 3 << 20
      options.appendSizeMax = 3 << 20
    }
    let store = try FaultStore(SimulatedDisk(), options)
    let empty = ModelEvent(stream: "s", type: "t")
    func sized(_ count: Int) -> ModelAppend {
      ModelAppend([ModelEvent(stream: "s", type: "t", payload: Array(repeating: 7, count: count))])
    }
    for append in [
      ModelAppend([empty]), ModelAppend(Array(repeating: empty, count: 70_000)), sized(1), sized(65_535),
      sized(65_536),
    ] {
      try store.append(append)
    }
    // The largest that fits, and the next one.
    let probe = 2_500_000
    let low = options.appendSizeMax - (sized(probe).draft().encodedLengthMax - probe)
    try store.append(sized(low))
    do throws(StoreError) {
      try store.append(sized(low + 1))
      Issue.record("an append above the limit was taken")
    } catch {
      guard case .invalid(let what, _) = error else { throw error }
      #expect(what.hasSuffix("1 to \(options.appendSizeMax) is allowed"))
    }
    #expect(throws: StoreError.self) { try store.append(ModelAppend([])) }
    #expect(store.model.difference(from: store.log, countMin: 6) == nil)
    try store.close()
    #expect(FaultStore.problem(store.disk, store.model, countMin: 6, options) == nil)
  }

  /// A store whose first event has this sequence, as a long life and a trim would leave it.
  private func store(beginningAt first: UInt64, appendsBefore: UInt64) throws -> (SimulatedDisk, StoreOptions)
  {
    let options = FaultStore.options(segmentSizeTarget: 5_000)
    let disk = SimulatedDisk()
    var header = SegmentHeader(storeID: FaultStore.storeID, firstSequence: first, epoch: 1, created: 0)
    header.previousFirst = first > 1 ? 1 : 0
    header.previousLast = first - 1
    header.previousChain = 77
    header.previousTime = 5
    header.appendsBefore = appendsBefore
    disk.add(FaultStore.layout.segment(header.segment), header.encoded())
    return (disk, options)
  }

  @Test(arguments: [UInt64(1) << 32, 1 << 53, 1 << 63, .max - 40].map { $0 - 4 })
  func `fault 40: sequences around 2^32, 2^53, 2^63 and the last one are counted as others are, or refused`(
    first: UInt64
  ) throws {
    let (disk, options) = try store(beginningAt: first, appendsBefore: first - 1)
    var log = try Log.openWriter(disk, path: FaultStore.root, options: options)
    var last = first - 1
    var refusals = 0
    for number in 0..<60 {
      let append = ModelAppend([
        ModelEvent(stream: "s", type: "t", payload: Array(repeating: UInt8(number), count: 200))
      ])
      do throws(StoreError) {
        let outcome = try log.appendBlocking(append.draft())
        #expect(outcome.first == last + 1)
        last = outcome.last
      } catch {
        guard case .invalid = error, first > UInt64.max - 100 else { throw error }
        refusals += 1
      }
      if number == 30 {
        try log.close()
        log = try Log.openWriter(disk, path: FaultStore.root, options: options)
      }
    }
    #expect(refusals > 0 || last == first + 59)
    let found = try log.modelAppends(after: first - 1)
    #expect(found.map(\.append.first) == Array(first...last))
    #expect(try log.append(ordinal: first + 2)?.first == first + 2)
    #expect(try log.index.revision(of: Array("s".utf8)) == last - first + 1)
    try log.close()
    let reader = try Log.openReader(disk, path: FaultStore.root, options: options)
    #expect(try reader.modelAppends(after: first + 1).count == Int(last - first - 1))
    var beyond = reader.cursor(after: .max)
    let nothing = try beyond.next()
    #expect(nothing == nil)
    #expect(try disk.findings(inStore: FaultStore.root) == [])
  }

  @Test
  func `fault 40: a header that counts as many appends as there can be is refused room, and traps nobody`()
    throws
  {
    let (disk, options) = try store(beginningAt: 100, appendsBefore: .max)
    let log = try Log.openWriter(disk, path: FaultStore.root, options: options)
    #expect(throws: StoreError.self) {
      try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "t")]).draft())
    }
    try log.close()
  }
}
