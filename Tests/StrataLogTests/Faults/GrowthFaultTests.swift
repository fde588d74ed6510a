// Appends that become longer by being erased: events whose content is shorter than its hash.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct GrowthFaultTests {
  private static let root = "/store"

  private static func options() -> StoreOptions {
    var options = FaultStore.options(segmentSizeTarget: 1 << 20)
    options.blockSizeTarget = 1_000
    return options
  }

  /// Events of a few bytes each: erased, they take more than the longest head leaves free.
  private func append(_ random: inout SeededGenerator, events: Int) -> ModelAppend {
    ModelAppend(
      (0..<events).map { _ in
        let size = [0, 0, 1, 2, 4, 9].randomElement(using: &random)!
        // A length just below 128 takes one byte, and that of the erased form two.
        let type = String(repeating: "t", count: [1, 100, 108].randomElement(using: &random)!)
        return ModelEvent(stream: "s", type: type, payload: [UInt8](repeating: 7, count: size))
      })
  }

  @Test(arguments: 0..<20)
  func `fault 48: an append is accepted where it fits whichever of its events are erased`(number: Int) throws
  {
    let seed = SeededGenerator.testSeed() &+ UInt64(number)
    var random = SeededGenerator(seed: seed)
    var options = Self.options()
    let append = append(&random, events: Int.random(in: 150...300, using: &random))
    let disk = SimulatedDisk()
    options.appendSizeMax = append.draft().encodedLengthMax - 1
    options.payloadSizeMax = 30
    let refusing = try Log.openWriter(disk, path: Self.root, options: options)
    #expect(throws: StoreError.self) { try refusing.appendBlocking(append.draft()) }
    try refusing.close()
    options.appendSizeMax += 1
    let log = try Log.openWriter(disk, path: Self.root, options: options)
    _ = try log.appendBlocking(append.draft())
    try log.roll()
    let share = Double.random(in: 0...1, using: &random)
    let chosen = (0...60).map { _ in Double.random(in: 0...1, using: &random) < share }
    for step in 0...1 {
      // Some of them, and then all.
      _ = try log.erase(in: log.closedSegments) { _, sequence in step == 1 || chosen[Int(sequence) % 60] }
      let block = try #require(try log.block(holding: 1))
      #expect(Int(block.header.rawLength) <= options.appendSizeMax, "SEED=\(seed)")
    }
    try log.close()
    #expect(try disk.findings(inStore: Self.root) == [], "SEED=\(seed)")
  }

  /// A store with an append as earlier versions took it: as long as a block may be, and longer if all of it is erased.
  private func fullBlock(tiny: Int) throws -> (disk: SimulatedDisk, sequences: ClosedRange<UInt64>) {
    let forged = try ForgedStore(appends: 1)
    var header = try forged.headerBehindEnd(kind: BlockKind.events)
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    let draft = AppendDraft(bytesHint: FormatLimits.rawLengthMax)
    func add(_ payload: [UInt8]) {
      payload.withUnsafeBytes { payload in
        Array("s".utf8).withUnsafeBytes { name in
          draft.add(stream: name, type: name, codec: 3, metadata: none, payload: payload)
        }
      }
    }
    for number in 0..<tiny { add([UInt8(number % 256)]) }
    // The head, and the lengths of the append, of the last event and of its payload, take less than 60 bytes.
    add([UInt8](repeating: 9, count: FormatLimits.rawLengthMax - draft.byteCount - 60))
    var revision: UInt64 = 1
    for mark in draft.marks {
      revision += 1
      draft.setRevision(revision, of: mark)
    }
    let time = header.lastTime
    var head = [UInt8](repeating: 0, count: AppendDraft.headLengthMax)
    let count = head.withUnsafeMutableBytes {
      draft.writeHead(commitTime: time, given: time, to: $0.baseAddress!)
    }
    head.removeLast(head.count - count)
    var chain = header.chainBefore
    let first = header.firstSequence
    for (number, mark) in draft.marks.enumerated() {
      chain = Chain.next(
        after: chain, sequence: first + UInt64(number), revision: UInt64(number) + 2,
        head: XXH64.of(head), names: mark.namesHash, content: mark.contentHash)
    }
    var raw = RawBuffer(capacity: FormatLimits.rawLengthMax)
    raw.append(varint: UInt64(head.count + draft.byteCount))
    head.withUnsafeBytes { raw.append($0) }
    raw.append(draft.events.bytes)
    #expect(raw.count <= FormatLimits.rawLengthMax && raw.count > FormatLimits.rawLengthMax - 60)
    (header.firstTime, header.chainAfter) = (time, chain)
    (header.eventCount, header.appendCount) = (UInt32(tiny + 1), 1)
    let disk = forged.with(forged.bytes() + ForgedStore.block(header, Array(raw.bytes)), keepsHead: false)
    return (disk, first...first + UInt64(tiny))
  }

  @Test
  func `fault 48: of an append that fills its block, all goes that there is room for, long content first`()
    throws
  {
    let (disk, sequences) = try fullBlock(tiny: 300)
    let options = FaultStore.options(segmentSizeTarget: 1 << 20)
    let log = try Log.openWriter(disk, path: FaultStore.root, options: options)
    try log.roll()
    // The short ones alone: each becomes longer, and there is room for a few.
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self) {
        try log.erase(in: log.closedSegments) { _, sequence in
          sequences.contains(sequence) && sequence < sequences.upperBound
        }
      }
      guard let error, error.reason == .unsupported, let finding = error.finding else {
        Issue.record("another error than the format's")
        return
      }
      #expect(finding.first > sequences.lowerBound && finding.last == sequences.upperBound - 1)
    }
    let some = try log.erasedSequences()
    #expect(!some.isEmpty && some.count < 20)
    // With the long one there is room for all.
    let all = try log.erase(in: log.closedSegments) { _, sequence in sequences.contains(sequence) }
    #expect(Int(all) == sequences.count - some.count)
    #expect(try log.erasedSequences() == Set(sequences))
    try log.close()
    #expect(try disk.findings(inStore: FaultStore.root) == [])
  }
}
