// What page files take on disk: bounded by what lives in them, however many checkpoints there are.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateGarbageTests {
  /// The bytes of the page files of the documents' state, and those of them that the state uses.
  private func sizes(_ disk: SimulatedDisk, _ store: EventStore) throws -> (total: Int, live: Int, files: Int)
  {
    let files = disk.pageFiles()
    var usage = StateUsage()
    let set = store.projector(StateStore.documents).published
    for table in set.tables {
      usage.add(try PageUsage(all: table.rows))
      usage.add(try PageUsage(all: table.problems))
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
    let runs = StateRuns(3_000, isLight: true)
    while runs.next() {
      let round = runs.count - 1
      try events.append(to: store)
      // First many short processes, then a long one whose file is soon more garbage than life.
      let isLong = round >= runs.countMin / 2
      if round % (isLong ? 3 : 100) == 0 {
        for number in 0..<60 { try store.put("\(number)", ["t": .string(events.text() + events.text())]) }
      }
      written += try store.checkpointBlocking().reduce(0) { $0 + Int($1.byteCount) }
      let (total, live, files) = try sizes(disk, store)
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

  @Test func `rows that several unopened views were made of count once for what is worth a copy`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.segmentSizeTarget = 1 << 24
    func change(_ store: EventStore) throws {
      for number in 0..<300 {
        let text = (0..<2_000).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) }
        try store.put("\(number)", ["t": .string(String(decoding: text, as: UTF8.self))])
      }
    }
    var store = try StateStore.open(disk, options: options)
    let projector = store.projector(StateStore.documents)
    try change(store)
    for name in ["a", "b", "c", "d", "e", "f"] {
      let definition = ViewDefinition(
        identity: ViewIdentity(name), sectionOrder: .key,
        kept: KeptView(name: name, identity: "", fingerprint: 1)
      ) { row, writer in
        writer.append(Int64(row.document.count % 5))
        return PlacedLengths(section: writer.count)
      }
      let lease = projector.lease(definition, of: "a")
      _ = try await projector.state(reaching: store.head.sequence, with: lease)
    }
    try store.closeBlocking()
    func size() -> Int { disk.pageFiles().reduce(0) { $0 + disk.contents($1)!.count } }
    let live = size()
    // The views stay as they are, and with them these rows; of what follows only the newest rows are alive.
    store = try StateStore.open(disk, options: options)
    var greatest = 0
    for _ in 0..<12 {
      try change(store)
      try store.checkpointBlocking()
      greatest = max(greatest, size())
    }
    // Two trees of rows are alive, and as much again may be garbage, while one state is written.
    #expect(
      live > 500_000 && greatest < 5 * live + 2 << 20, "\(greatest) bytes, \(live) with one tree of rows")
    print("greatest \(greatest), live at first \(live)")
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
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      index = (index &* 1_103_515_245 &+ 12_345) & (count - 1)
      bytes.append(self[index])
    }
    return bytes
  }
}
