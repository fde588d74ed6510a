// States of which every checksum is right and the content is not: nothing traps, grows or goes on for ever.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateForgeryTests {
  private typealias Entry = (key: [UInt8], value: [UInt8])

  private func forge(seed: UInt64, rowCount: Int = 90) throws -> StateForge {
    let disk = SimulatedDisk()
    var events = StateEvents(seed: seed)
    events.rowCount = rowCount
    let store = try StateStore.open(disk)
    for _ in 0..<90 { try events.append(to: store) }
    try store.checkpointBlocking()
    try store.closeBlocking()
    return try StateForge(disk)
  }

  /// Whether a forged state is used. If so, its trees are trees, and can be read and changed.
  private func isUsed(_ forge: StateForge, _ what: String) throws -> Bool {
    // A state whose roots are right is used; other pages would be read later, and are read at once here.
    _ = Projector(forge.reader.log, StateStore.documents).currentFold()
    let slot = try #require(forge.files.slots().first)
    guard let state = try? WholeState(slot, forge.files) else { return false }
    for table in state.tables {
      for tree in [table.rows, table.problems] {
        #expect(tree.checkInvariants() == nil, "\(what)")
        var tree = tree
        var keys: [[UInt8]] = []
        tree.forEach(in: 0..<tree.count) { key, _ in keys.append(Array(key)) }
        for key in keys where key.count % 2 == 0 { _ = tree.remove(key) }
        for key in keys { _ = tree.set(key + [1], [UInt8](repeating: 1, count: 64)) }
        for key in keys { _ = tree.remove(key) }
        #expect(tree.checkInvariants() == nil, "\(what)")
      }
    }
    return true
  }

  @Test func `fault 66: random changes of pages with right checksums never trap`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let forge = try forge(seed: random.next())
    #expect(forge.pages.contains { !$0.above.isEmpty } && forge.pages.contains { $0.isProblem })
    var used = 0
    let runs = StateRuns(3_000, isLight: true)
    while runs.next() {
      let round = runs.count
      let number = Int.random(in: 0..<forge.pages.count, using: &random)
      var raw = forge.pages[number].raw
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        // The lengths are in front.
        let end = Bool.random(using: &random) ? min(raw.count, 24) : raw.count
        let index = Int.random(in: 0..<max(1, end), using: &random)
        guard raw.indices.contains(index) else { continue }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: raw[index] = UInt8.random(in: 0...255, using: &random)
        case 1: raw[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: raw.insert(UInt8.random(in: 0...255, using: &random), at: index)
        case 3: raw.remove(at: index)
        default:
          raw.replaceSubrange(index...index, with: ForgedPage.varint(random.next() >> UInt64(index % 64)))
        }
      }
      try forge.forge(number, raw)
      if try isUsed(forge, "round \(round)") { used += 1 }
      forge.repair()
    }
    // Bytes inside a document may change.
    #expect(used > runs.count / 60 && used < runs.count * 5 / 6, "\(used) of \(runs.count)")
    try forge.reader.closeBlocking()
  }

  @Test func `random changes of the directory with right checksums never trap`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let forge = try forge(seed: 4)
    var used = 0
    let runs = StateRuns(3_000, isLight: true)
    while runs.next() {
      let round = runs.count
      var raw = forge.directory
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: 0..<raw.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: raw[index] = UInt8.random(in: 0...255, using: &random)
        case 1: raw[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: raw.insert(0xFF, at: index)
        default: raw.remove(at: index)
        }
      }
      var file = try forge.begin()
      let place = try forge.append(raw, to: &file)
      try forge.finish(StateTreeRoot(total: forge.slot.root.total, height: 0, address: place))
      if try isUsed(forge, "round \(round)") { used += 1 }
      forge.repair()
    }
    #expect(used < runs.count)
    try forge.reader.closeBlocking()
  }

  /// A key of eight bytes, and a row.
  private func entry(_ number: Int, length: Int = 24) -> Entry {
    (Array("key \(1_000 + number)".utf8), [UInt8](repeating: 0xA0, count: length))
  }

  /// Whether a tree of rows is used that is made of forged pages.
  private func isUsed(
    _ forge: StateForge, _ what: String, _ make: (inout StateFiles.PageFile) throws -> StateTreeRoot
  ) throws -> Bool {
    var file = try forge.begin()
    let root = try make(&file)
    var entries = forge.entries
    entries.tables[0].rows = StateTree(root: root, usage: PageUsage())
    try forge.finish(entries, file)
    defer { forge.repair() }
    return try isUsed(forge, what)
  }

  @Test func `a leaf that is none is not used`() throws {
    let forge = try forge(seed: 1)
    let good = (0..<5).map { entry($0) }
    func check(_ what: String, _ raw: [UInt8], total: UInt32 = 5, height: UInt8 = 0, isGood: Bool = false)
      throws
    {
      let isUsed = try isUsed(forge, what) { file in
        StateTreeRoot(total: total, height: height, address: try forge.append(raw, to: &file))
      }
      #expect(isUsed == isGood, "\(what)")
    }
    try check("as it should be", ForgedPage.leaf(good), isGood: true)
    try check("with a prefix", ForgedPage.leaf(good.map { ($0.key, $0.value) }, prefix: [7]), isGood: true)
    for height: UInt8 in [1, 2, 16, 255] {
      try check("height \(height)", ForgedPage.leaf(good, height: height))
      try check("height \(height) of the root", ForgedPage.leaf(good), height: height)
      try check("height \(height) of both", ForgedPage.leaf(good, height: height), height: height)
    }
    for count: UInt64 in [0, 1, 4, 6, 65_536, 1 << 32, .max] {
      try check("count \(count)", ForgedPage.leaf(good, count: count))
      // A tree without entries has no page.
      let total = UInt32(clamping: max(count, 1))
      try check("total \(total)", ForgedPage.leaf(good), total: total)
    }
    try check("keys descend", ForgedPage.leaf(good.reversed()))
    try check("a key twice", ForgedPage.leaf(good.dropLast() + [good[3]]))
    try check("a value that is no row", ForgedPage.leaf(good.dropLast() + [(good[4].key, [1])]))
    try check("a value without bytes", ForgedPage.leaf(good.dropLast() + [(good[4].key, [])]))
    try check("more bytes", ForgedPage.leaf(good) + [0])
    try check("fewer bytes", ForgedPage.leaf(good).dropLast())
    try check("no bytes", [0])
    try check("a large entry among others", ForgedPage.leaf(good.dropLast() + [entry(9, length: 3_000)]))
    try check(
      "a long key",
      ForgedPage.leaf(good.dropLast() + [([UInt8](repeating: 0x7A, count: 65_536), good[4].value)]))
    try check("a long prefix", ForgedPage.leaf(good, prefix: [UInt8](repeating: 1, count: 65_530)))
    try check("more than a page", ForgedPage.leaf((0..<200).map { entry($0) }), total: 200)
    try check("far more than a page", ForgedPage.leaf((0..<2_000).map { entry($0 + 1_000) }), total: 2_000)
    let head: [UInt8] = [0, 1, 0]
    for length: UInt64 in [1 << 20, 1 << 31, 1 << 32, 1 << 63, .max] {
      try check(
        "a key of \(length) bytes",
        head + ForgedPage.varint(length) + [24] + [UInt8](repeating: 1, count: 40), total: 1)
      try check(
        "a value of \(length) bytes",
        head + [1] + ForgedPage.varint(length) + [UInt8](repeating: 1, count: 40), total: 1)
      try check(
        "a prefix of \(length) bytes",
        [0, 1] + ForgedPage.varint(length) + [1, 24] + [UInt8](repeating: 1, count: 40), total: 1)
    }
    try forge.reader.closeBlocking()
  }

  @Test func `an inner page that is none is not used`() throws {
    let forge = try forge(seed: 2)
    struct Parts {
      var children: [(total: UInt64, place: PageAddress)]
      var separators = [entryKey(5)]
      var height: UInt8 = 1
      var count: UInt64?
      var total: UInt32 = 10
      var rootHeight: UInt8 = 1

      static func entryKey(_ number: Int) -> [UInt8] { Array("key \(1_000 + number)".utf8) }
    }
    func check(
      _ what: String, isGood: Bool = false, _ change: (inout Parts, inout StateFiles.PageFile) throws -> Void
    ) throws {
      let isUsed = try isUsed(forge, what) { file in
        let low = try forge.append(ForgedPage.leaf((0..<5).map { entry($0) }), to: &file)
        let high = try forge.append(ForgedPage.leaf((5..<10).map { entry($0) }), to: &file)
        var parts = Parts(children: [(5, low), (5, high)])
        try change(&parts, &file)
        let raw = ForgedPage.inner(
          parts.children, height: parts.height, separators: parts.separators, count: parts.count)
        return StateTreeRoot(
          total: parts.total, height: parts.rootHeight, address: try forge.append(raw, to: &file))
      }
      #expect(isUsed == isGood, "\(what)")
    }
    try check("as it should be", isGood: true) { _, _ in }
    try check("children in the wrong order") { parts, _ in parts.children.reverse() }
    try check("one child twice") { parts, _ in parts.children[1] = parts.children[0] }
    try check("a separator above the keys after it") { parts, _ in parts.separators = [Parts.entryKey(6)] }
    try check("a separator below the keys before it") { parts, _ in parts.separators = [Parts.entryKey(4)] }
    try check("an empty separator") { parts, _ in parts.separators = [[]] }
    try check("a long separator") { parts, _ in parts.separators = [[UInt8](repeating: 0x6B, count: 65_536)] }
    try check("no separator") { parts, _ in parts.separators = [] }
    try check("a separator more") { parts, _ in parts.separators += [Parts.entryKey(9)] }
    for count: UInt64 in [0, 1, 3, 17, 65_536, .max] {
      try check("count \(count)") { parts, _ in parts.count = count }
      try check("the total of a child is \(count)") { parts, _ in parts.children[0].total = count }
      try check("the total of the root is \(count)") { parts, _ in
        parts.total = UInt32(clamping: max(count, 1))
      }
    }
    for height: UInt8 in [0, 2, 17, 255] {
      try check("height \(height)") { parts, _ in parts.height = height }
      try check("height \(height) of the root") { parts, _ in parts.rootHeight = height }
      try check("height \(height) of both") { parts, _ in (parts.height, parts.rootHeight) = (height, height)
      }
    }
    try check("totals that are too many together") { parts, _ in
      for index in 0..<2 { parts.children[index].total = UInt64(UInt32.max) - 2 }
      parts.total = UInt32.max
    }
    try check("a single child") { parts, _ in
      (parts.children, parts.separators, parts.total) = ([parts.children[0]], [], 5)
    }
    try check("a child in a file that is not there") { parts, _ in parts.children[0].place.file = 99 }
    try check("a child past the end") { parts, _ in parts.children[0].place.offset = 1 << 40 }
    try check("a child at the greatest offset") { parts, _ in
      parts.children[0].place.offset = UInt64(Int64.max) - UInt64(parts.children[0].place.length)
    }
    try check("a huge child") { parts, _ in parts.children[0].place.length = .max }
    try check("a child that is the page itself") { parts, file in
      let raw = ForgedPage.inner(parts.children, height: 1, separators: parts.separators)
      parts.children[0].place = PageAddress(
        file: file.number, offset: file.length, length: UInt32(raw.count + 12), checksum: 0)
    }
    try check("seventeen children") { parts, file in
      parts.children = try (0..<17).map { number in
        (1, try forge.append(ForgedPage.leaf([entry(number)]), to: &file))
      }
      parts.separators = (1..<17).map(Parts.entryKey)
      parts.total = 17
    }
    try forge.reader.closeBlocking()
  }

  @Test func `trees that are deep, or name a page over and over, end soon`() throws {
    let forge = try forge(seed: 3)
    // Each page names the same child sixteen times.
    let isUsed = try isUsed(forge, "sixteen times") { file in
      var (place, total) = (try forge.append(ForgedPage.leaf([entry(1)]), to: &file), UInt64(1))
      for height: UInt8 in 1...7 {
        let separators = (1..<16).map { [UInt8(0x60 + $0)] }
        let raw = ForgedPage.inner(
          [(UInt64, PageAddress)](repeating: (total, place), count: 16), height: height,
          separators: separators)
        place = try forge.append(raw, to: &file)
        total *= 16
      }
      return StateTreeRoot(total: UInt32(total), height: 7, address: place)
    }
    #expect(!isUsed)
    // Two chains of pages with one child each, as high as a height can say.
    for last: UInt8 in [3, 16, 40, 255] {
      _ = try self.isUsed(forge, "\(last) high") { file in
        var places = try [1, 2].map { try forge.append(ForgedPage.leaf([entry($0)]), to: &file) }
        for height in 1..<last {
          places = try places.map { place in
            try forge.append(ForgedPage.inner([(1, place)], height: height, separators: []), to: &file)
          }
        }
        let raw = ForgedPage.inner(
          places.map { (1, $0) }, height: last, separators: [entry(2).key])
        return StateTreeRoot(total: 2, height: last, address: try forge.append(raw, to: &file))
      }
    }
    try forge.reader.closeBlocking()
  }

  @Test func `a record that claims more than it holds is refused before anything is allocated`() throws {
    let forge = try forge(seed: 5)
    let raw = ForgedPage.leaf((0..<5).map { entry($0) })
    for (length, flags) in [
      (UInt32.max, UInt32(1)), (.max, 0), (1 << 30, 1), (UInt32(raw.count) + 1, 0),
      (UInt32(raw.count) - 1, 0), (0, 0),
      (0, 1), (UInt32(raw.count), 1), (UInt32(raw.count), 2), (UInt32(raw.count), .max),
    ] {
      let isUsed = try isUsed(forge, "\(length) bytes, flags \(flags)") { file in
        var record = [UInt8](repeating: 0, count: StatePage.headLength) + raw
        record.withUnsafeMutableBytes { bytes in
          bytes.baseAddress!.setLittleEndian(length, at: 4)
          bytes.baseAddress!.setLittleEndian(flags, at: 8)
        }
        let checksum = record.withUnsafeBytes { CRC32C.of(UnsafeRawBufferPointer(rebasing: $0[4...])) }
        record.withUnsafeMutableBytes { $0.baseAddress!.setLittleEndian(checksum, at: 0) }
        return StateTreeRoot(
          total: 5, height: 0, address: try forge.append(record: record, checksum, to: &file))
      }
      #expect(!isUsed, "\(length) bytes, flags \(flags)")
    }
    try forge.reader.closeBlocking()
  }
}
