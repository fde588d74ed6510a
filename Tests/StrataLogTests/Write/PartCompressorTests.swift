import StrataBase
import StrataSimulation
import Synchronization
import Testing

@testable import StrataLog

@Suite struct PartCompressorTests {
  private static let header = SegmentHeader(
    storeID: StoreID(low: 1, high: 2), firstSequence: 1, epoch: 3, created: 4)

  private static func drafts(_ lengths: [Int], seed: UInt64) -> [AppendDraft] {
    var random = SeededGenerator(seed: seed)
    let words = (0..<200).map { "word\($0)".utf8 }
    return lengths.map { length in
      let events = (0..<max(1, length / 500)).map { number in
        var payload: [UInt8] = []
        // Some are bytes that cannot be compressed.
        if length % 3 == 0 {
          payload = (0..<450).map { _ in .random(in: 0...255, using: &random) }
        } else {
          while payload.count < 450 { payload += words[Int.random(in: 0..<200, using: &random)] }
        }
        return ModelEvent(stream: "s/\(number % 7)", type: "t", payload: payload)
      }
      return ModelAppend(events).draft()
    }
  }

  /// Frames a group, and returns its blocks.
  private static func framed(
    _ drafts: [AppendDraft], _ frame: inout GroupFrame, lengthMax: Int? = nil
  ) -> [UInt8] {
    frame.begin(
      at: BlockLink(header), syncedThrough: UInt64(SegmentHeader.length),
      lengthMax: lengthMax ?? drafts.reduce(0) { $0 + $1.encodedLengthMax })
    for draft in drafts { frame.add(draft, commitTime: 5, given: 5) }
    frame.finish()
    return Array(frame.output.bytes)
  }

  private static func frame(blockSizeTarget: Int = 64 << 10, _ compressor: PartCompressor?)
    -> GroupFrame
  {
    var frame = GroupFrame(
      context: .init(
        segment: header.segment, storeID: header.storeID, epoch: header.epoch,
        blockSizeTarget: blockSizeTarget, padsToPages: false),
      link: BlockLink(header))
    frame.compressor = compressor
    return frame
  }

  @Test(arguments: [1, 3], [1, 64 << 10, 4 << 20])
  func `the blocks of a large group are the same with and without other threads`(
    threadCount: Int, blockSizeTarget: Int
  ) {
    let compressor = PartCompressor(on: .process, threadCountMax: threadCount)
    defer { compressor.stop() }
    var shared = Self.frame(blockSizeTarget: blockSizeTarget, compressor)
    var alone = Self.frame(blockSizeTarget: blockSizeTarget, nil)
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<12 {
      let lengths = (0..<Int.random(in: 1...12, using: &random)).map { _ in
        Int.random(in: 1...400_000, using: &random)
      }
      let drafts = Self.drafts(lengths, seed: UInt64(round))
      let expected = Self.framed(drafts, &alone)
      #expect(Self.framed(drafts, &shared) == expected, "round \(round), \(lengths)")
      #expect(alone.places == shared.places && alone.link == shared.link)
    }
  }

  @Test func `a group takes no other thread than its own if none can be started`() {
    let asked = Mutex(0)
    let refusing = ThreadStarter { (name, _) throws(FileSystemError) in
      asked.withLock { $0 += 1 }
      throw FileSystemError("start thread", name, code: 11)
    }
    let compressor = PartCompressor(on: StoreMachine(threads: refusing), threadCountMax: 2)
    defer { compressor.stop() }
    var shared = Self.frame(compressor)
    var alone = Self.frame(nil)
    let drafts = Self.drafts([500_000, 300_001], seed: 1)
    #expect(Self.framed(drafts, &shared) == Self.framed(drafts, &alone))
    #expect(asked.withLock { $0 } == 2)
  }

  @Test func `threads begin with the first large group, and end with the store`() {
    let started = Mutex(0)
    let counting = ThreadStarter { (name, body) throws(FileSystemError) in
      started.withLock { $0 += 1 }
      return try DedicatedThread(name: name, body)
    }
    let compressor = PartCompressor(
      on: StoreMachine(threads: counting), threadCountMax: 2, idleMax: .seconds(3_600))
    var frame = Self.frame(compressor)
    _ = Self.framed(Self.drafts([1_000], seed: 1), &frame)
    #expect(started.withLock { $0 } == 0)
    for seed in 0..<3 { _ = Self.framed(Self.drafts([400_000], seed: UInt64(seed)), &frame) }
    #expect(started.withLock { $0 } == 2)
    compressor.stop()
    // After the end of the store, and when it goes on.
    var alone = Self.frame(nil)
    let drafts = Self.drafts([400_000], seed: 9)
    #expect(Self.framed(drafts, &frame) == Self.framed(drafts, &alone))
    #expect(started.withLock { $0 } == 2)
    compressor.reopen()
    #expect(Self.framed(drafts, &frame) == Self.framed(drafts, &alone))
    #expect(started.withLock { $0 } == 4)
    compressor.stop()
  }
}
