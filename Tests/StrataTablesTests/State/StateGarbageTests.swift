// What page files take on disk: bounded by what lives in them, however many checkpoints there are.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct StateGarbageTests {
  /// The bytes of the page files of the documents' state, and those of them that the state uses.
  private func sizes(_ disk: SimulatedDisk, _ store: EventStore) -> (total: Int, live: Int, files: Int) {
    let files = disk.pageFiles()
    var usage = StateUsage()
    let set = store.projector(StateStore.documents).published
    for table in set.tables {
      usage.add(PageUsage(all: table.rows))
      usage.add(PageUsage(all: table.problems))
    }
    let live = usage.bytes.values.reduce(0, +)
    return (files.reduce(0) { $0 + disk.contents($1)!.count }, Int(live), files.count)
  }

  @Test
  func
    `fault 67: over thousands of checkpoints the page files stay within three times what lives and a mebibyte`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.segmentSizeTarget = 1 << 22
    var store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: random.next())
    events.rowCount = 60
    var (greatest, removed, filesMax, written) = (0, 0, 0, 0)
    var before = 0
    for round in 0..<3_000 {
      try events.append(to: store)
      // First many short processes, then a long one whose file is soon more garbage than life.
      let isLong = round >= 1_500
      if round % (isLong ? 3 : 100) == 0 {
        for number in 0..<60 { try store.put("\(number)", ["t": .string(events.text() + events.text())]) }
      }
      written += try store.checkpointBlocking().reduce(0) { $0 + Int($1.byteCount) }
      let (total, live, files) = sizes(disk, store)
      // The directory, and the header of each file.
      let bound = 3 * (live + 8_192) + 1 << 20 + 64 * files
      #expect(
        total <= bound && files <= 65, "round \(round): \(total) bytes, \(live) live, in \(files) files")
      greatest = max(greatest, total)
      filesMax = max(filesMax, files)
      if total < before { removed += 1 }
      before = total
      if !isLong, Int.random(in: 0..<12, using: &random) == 0 {
        try store.closeBlocking()
        store = try StateStore.open(disk, options: options)
        _ = try await store.projector(StateStore.documents).state(reaching: store.head.sequence)
      }
    }
    let difference = try await store.difference(of: StateStore.documents)
    #expect(difference == nil)
    print("greatest \(greatest), files \(filesMax), written \(written), removals \(removed)")
    #expect(removed > 5 && filesMax > 8 && written > 4 * greatest)
    try store.closeBlocking()
  }

  @Test func `a page file ends at its greatest length, and the next one holds the rest`() async throws {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.segmentSizeTarget = 1 << 28
    var store = try StateStore.open(disk, options: options)
    var random = SeededGenerator(seed: 1)
    let letters = (0..<1 << 20).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) }
    for number in 0..<18 {
      let text = String(
        decoding: (0..<4).flatMap { _ in letters.shuffled(by: 4_099 + number) }, as: UTF8.self)
      try store.put("\(number)", ["t": .string(text)])
    }
    try store.checkpointBlocking()
    let lengths = disk.pageFiles().map { disk.contents($0)!.count }
    #expect(lengths.count == 2)
    // The last record of a file may reach beyond the limit.
    #expect(lengths.allSatisfy { $0 < Int(StateWriter.fileLengthMax) + 5 << 20 }, "\(lengths)")
    let head = store.head.sequence
    try store.closeBlocking()
    store = try StateStore.open(disk, options: options)
    let set = try await store.projector(StateStore.documents).state(reaching: head)
    #expect(set["a"].count == 18 && store.projector(StateStore.documents).checkpoints?.savedSequence == head)
    try store.closeBlocking()
  }
}

extension [UInt8] {
  /// The same bytes in another order.
  fileprivate func shuffled(by step: Int) -> [UInt8] {
    var index = step
    return (0..<count).map { _ in
      index = (index &* 1_103_515_245 &+ 12_345) & (count - 1)
      return self[index]
    }
  }
}
