// Keys of a run under right checksums, of which the bytes are wrong: what is read is right, or damage, and never a trap.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// The keys of one set of a run, written by this file alone, so that any of its bytes can be another one.
private struct ForgedKeys {
  struct Page {
    var first: [UInt8]
    var bytes: [UInt8]
    var keyCount: UInt64
    var count: Int64
  }

  struct Group {
    var pages: [Page]
    var chunks: [(first: UInt64, bytes: [UInt8])]
  }

  /// What the directory says of a part.
  struct Head {
    var first: [UInt8]
    /// Of pages, groups and keys.
    var numbers: [UInt64]
    var count: Int64
  }

  var begin: UInt64
  var end: UInt64
  var isBase: Bool
  var groups: [Group] = []
  /// The groups of a part of the directory.
  let partLength: Int
  /// Changes what is said of the parts.
  var forge: (inout [Head]) -> Void = { _ in }
  /// Sections with their counts at the end, for keys that are items.
  var sections: [(name: [UInt8], count: Int64)]?

  static func varint(_ number: UInt64) -> [UInt8] {
    var (number, bytes) = (number, [UInt8]())
    repeat {
      bytes.append(UInt8(number & 0x7F) | (number > 0x7F ? 0x80 : 0))
      number >>= 7
    } while number > 0
    return bytes
  }

  static func bits(_ bits: [Bool]) -> [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) {
        $0 | ($1.element ? 1 << $1.offset : 0)
      }
    }
  }

  private static func key(_ key: [UInt8], after last: [UInt8]) -> [UInt8] {
    let shared = zip(key, last).prefix { $0 == $1 }.count
    return varint(UInt64(shared)) + varint(UInt64(key.count - shared)) + key[shared...]
  }

  /// - Parameter keys: ascending.
  init(
    _ keys: [KeyRecord], begin: UInt64, end: UInt64, isBase: Bool, pageLength: Int, groupLength: Int,
    partLength: Int, changeCountMin: Int
  ) {
    (self.begin, self.end, self.isBase, self.partLength) = (begin, end, isBase, partLength)
    for start in stride(from: 0, to: keys.count, by: groupLength) {
      let all = Array(keys[start..<min(start + groupLength, keys.count)])
      var group = Group(pages: [], chunks: [])
      for first in stride(from: 0, to: all.count, by: pageLength) {
        let keys = all[first..<min(first + pageLength, all.count)]
        let atBegin = keys.map(\.isAlive)
        let atEnd = keys.map { $0.isAlive != ($0.moments.count % 2 == 1) }
        var (bytes, last): ([UInt8], [UInt8]) = (Self.bits(atBegin) + Self.bits(atEnd), [])
        for key in keys {
          bytes += Self.key(key.key, after: last) + Self.varint(0) + Self.varint(UInt64(key.idLength))
          last = key.key
        }
        let count = atEnd.count { $0 } - (isBase ? 0 : atBegin.count { $0 })
        group.pages.append(
          Page(first: all[first].key, bytes: bytes, keyCount: UInt64(keys.count), count: Int64(count)))
      }
      var alive = all.map(\.isAlive)
      let changes = all.enumerated().flatMap { key in key.element.moments.map { ($0, key.offset) } }
        .sorted { $0 < $1 }
      var next = 0
      repeat {
        let first = group.chunks.isEmpty ? begin : changes[next].0
        var (bytes, last, count) = (Self.bits(alive), first, 0)
        while next < changes.count, count < changeCountMin || changes[next].0 == last {
          bytes += Self.varint(changes[next].0 - last) + [UInt8(changes[next].1)]
          last = changes[next].0
          alive[changes[next].1].toggle()
          (next, count) = (next + 1, count + 1)
        }
        group.chunks.append((first - begin, bytes))
      } while next < changes.count
      groups.append(group)
    }
  }

  /// Writes them into a run, and opens it.
  ///
  /// - Parameter wrap: gets the run's file, and returns the one that is read; nil if it is opened by its name.
  func open(_ files: HistoryFiles, wrap: ((any File) -> any File)? = nil) throws -> KeySet {
    let (number, file) = try files.beginRun(from: 1)
    let output = RunOutput(files, number, file) {}
    func append(_ bytes: [UInt8]) throws -> RecordAddress {
      try bytes.lendBytes { bytes throws(StoreError) in try output.append(bytes) }
    }
    func encoded(_ place: RecordAddress) -> [UInt8] {
      var buffer = RawBuffer(capacity: 64)
      place.append(to: &buffer)
      return Array(buffer.bytes)
    }
    func part(_ groups: ArraySlice<Group>) throws -> RecordAddress {
      var (part, last): ([UInt8], [UInt8]) = ([], [])
      for group in groups {
        for (index, page) in group.pages.enumerated() {
          let endsGroup = index == group.pages.count - 1
          part += Self.key(page.first, after: last) + encoded(try append(page.bytes))
          part += Self.varint(page.keyCount << 1 | (endsGroup ? 1 : 0))
          part += Self.varint(ZigZag.encode(page.count))
          last = page.first
        }
        part += Self.varint(UInt64(group.chunks.count))
        for chunk in group.chunks { part += Self.varint(chunk.first) + encoded(try append(chunk.bytes)) }
      }
      return try append(part)
    }
    var (heads, places): ([Head], [RecordAddress]) = ([], [])
    for start in stride(from: 0, to: groups.count, by: partLength) {
      let own = groups[start..<min(start + partLength, groups.count)]
      let pages = own.flatMap(\.pages)
      heads.append(
        Head(
          first: pages[0].first,
          numbers: [UInt64(pages.count), UInt64(own.count), pages.reduce(0) { $0 &+ $1.keyCount }],
          count: pages.reduce(0) { $0 &+ $1.count }))
      places.append(try part(own))
    }
    let count = heads.reduce(0) { $0 &+ $1.numbers[2] }
    forge(&heads)
    var (directory, last): ([UInt8], [UInt8]) = ([], [])
    for (head, place) in zip(heads, places) {
      directory += Self.key(head.first, after: last) + encoded(place)
      directory += head.numbers.flatMap(Self.varint) + Self.varint(ZigZag.encode(head.count))
      last = head.first
    }
    let pages = try append(directory)
    var (names, lastName): ([UInt8], [UInt8]) = ([], [])
    for section in sections ?? [] {
      names += Self.key(section.name, after: lastName) + Self.varint(ZigZag.encode(section.count))
      lastName = section.name
    }
    let nothing = try append([0])
    let namesPlace = sections == nil ? nothing : try append(names)
    var root = RunRoot(
      isBase: isBase, begin: begin, end: end, appends: 0, failures: 0,
      changes: RunTreeRoot(height: 0, address: nothing), tables: nothing, listedFailures: nothing)
    root.counts = RunCounts(appends: 1)
    var buffer = RawBuffer(capacity: 64)
    root.encode(to: &buffer)
    let place = try output.append(buffer.bytes)
    try output.finish()
    let cache = RunCache(PageCache(limit: 1 << 16))
    let reader =
      if let wrap {
        try RunReader(inMemory: wrap(try files.openRun(number)), files, number, root: place, cache)
      } else {
        try RunReader(files, number, root: place, cache)
      }
    let known = try KeyDirectory(decoding: reader.record(at: pages), keys: count)
    var set = KeySetRoot(kind: sections == nil ? .rows : .items, count: count)
    set.addresses = .init(pages: pages, tally: nothing)
    if sections != nil { set.sections = .init(pages: namesPlace, tally: nothing) }
    return KeySet(reader: reader, root: set, directory: known)
  }
}

@Suite struct KeyForgeryTests {
  private static func files(_ store: EventStore) throws -> HistoryFiles {
    let files = HistoryFiles(store.log, folder: "forged-1")
    try files.createFolder()
    return files
  }

  private static func records(_ keys: KeySet) throws -> [KeyRecord] {
    var (cursor, records): (KeyRecordCursor, [KeyRecord]) = (KeyRecordCursor(keys), [])
    while try cursor.next() { records.append(cursor.record()) }
    return records
  }

  /// The keys of a run at its end or after it, if it is the only one.
  private static func atEnd(_ keys: KeySet, _ sequence: UInt64) throws -> KeysAt {
    var limits = RunLimits()
    limits.uncountedKeyCountMax = 2
    return try KeysAt(
      [KeysAt.Part(keys: keys, index: 0, isFirst: keys.reader.root.isBase)], at: sequence, limits)
  }

  /// Random keys of a run of the events 11 to 40.
  private static func random(_ random: inout SeededGenerator, isBase: Bool) -> [KeyRecord] {
    let names = Set(
      (0..<Int.random(in: 1...30, using: &random)).map { _ in Int.random(in: 0..<500, using: &random) })
    return names.map { name in
      var record = KeyRecord()
      record.key = Array("key \(name)".utf8)
      record.idLength = 3
      record.isAlive = Bool.random(using: &random)
      let count = Int.random(in: 0...5, using: &random)
      record.moments = Set((0..<count).map { _ in UInt64.random(in: 11...40, using: &random) }).sorted()
      if record.moments.isEmpty { if isBase { record.isAlive = true } else { record.moments = [11] } }
      return record
    }.sorted { $0.key.isBefore($1.key) }
  }

  private static func forged(_ random: inout SeededGenerator) -> (keys: [KeyRecord], forged: ForgedKeys) {
    let isBase = Bool.random(using: &random)
    let keys = Self.random(&random, isBase: isBase)
    let pageLength = Int.random(in: 1...9, using: &random)
    return (
      keys,
      ForgedKeys(
        keys, begin: 10, end: 40, isBase: isBase, pageLength: pageLength,
        groupLength: pageLength * Int.random(in: 1...3, using: &random),
        partLength: Int.random(in: 1...4, using: &random),
        changeCountMin: Int.random(in: 1...20, using: &random))
    )
  }

  @Test func `what is written from the description of the format is read as it was`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let store = try StateStore.open(SimulatedDisk())
    let files = try Self.files(store)
    let runs = StateRuns(isLight: true)
    while runs.next() {
      let (expected, forged) = Self.forged(&random)
      let keys = try forged.open(files)
      let found = try Self.records(keys)
      #expect(found.map(\.key) == expected.map(\.key) && found.map(\.moments) == expected.map(\.moments))
      #expect(found.map(\.isAlive) == expected.map(\.isAlive))
      for sequence in 9...41 as ClosedRange<UInt64> {
        var before = 0
        for group in 0..<keys.directory.groupCount {
          let part = try keys.part(ofGroup: group)
          let lives = try keys.lives(of: group, in: part, at: sequence)
          for key in 0..<part.keyCount(of: group) {
            let record = expected[before + key]
            let isAlive = record.isAlive != (record.moments.count { $0 <= sequence } % 2 == 1)
            #expect(lives.now[key] == isAlive, "run \(runs.count), at \(sequence)")
          }
          before += part.keyCount(of: group)
        }
        #expect(before == expected.count)
      }
      // As of its end, without a tally.
      let alive = expected.filter(\.isAliveAtEnd).map(\.key)
      for sequence in [40, 41] as [UInt64] {
        let at = try Self.atEnd(keys, sequence)
        let (low, high) = (
          Array("key \(Int.random(in: 0..<500, using: &random))".utf8),
          Array("key \(Int.random(in: 0..<500, using: &random))".utf8)
        )
        let found = try at.keys(from: low, to: high).map(\.bytes)
        #expect(found == alive.filter { !$0.isBefore(low) && $0.isBefore(high) }, "run \(runs.count)")
        #expect(try at.keys(from: [], to: nil).map(\.bytes) == alive, "run \(runs.count)")
        // A delta counts what differs from its begin.
        guard forged.isBase else { continue }
        let first = Int.random(in: 0...alive.count, using: &random)
        let ranks = first..<Int.random(in: first...alive.count, using: &random)
        var lent: [[UInt8]] = []
        try at.forEach(in: ranks, from: [], to: nil, of: 0..<alive.count) { lent.append(Array($0.bytes)) }
        #expect(lent == Array(alive[ranks]), "run \(runs.count)")
      }
    }
    try store.closeBlocking()
  }

  @Test func `the records of all runs are asked for before the first of them is waited for`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let store = try StateStore.open(SimulatedDisk())
    let files = try Self.files(store)
    let noted = FileCalls()
    var parts: [KeysAt.Part] = []
    for run in 0..<3 {
      let keys = Self.random(&random, isBase: run == 0)
      let forged = ForgedKeys(
        keys, begin: 10, end: 40, isBase: run == 0, pageLength: 3, groupLength: 6, partLength: 2,
        changeCountMin: 5)
      let set = try forged.open(files) { NotingFile($0, run: run, noted) }
      parts.append(KeysAt.Part(keys: set, index: run, isFirst: run == 0))
    }
    let low = Array("key 25".utf8)
    // What is expected is read from the runs as another reader has them.
    let places = try parts.enumerated().map { run, part in
      let index = part.keys.directory.part(of: low) ?? 0
      let read = try part.keys.part(index, keeps: false)
      let page = read.address(of: read.page(of: low) ?? read.pages.lowerBound)
      return (part: Int64(part.keys.directory.head(of: index).address.offset), page: Int64(page.offset))
    }
    noted.calls.withLock { $0.removeAll() }
    try KeysAt(parts, at: 41, RunLimits()).willFind(low, goesOn: true)
    var expected = places.enumerated().map {
      FileCalls.Call.willRead(run: $0.offset, offset: $0.element.part)
    }
    for (run, place) in places.enumerated() {
      expected += [.read(run: run, offset: place.part), .willRead(run: run, offset: place.page)]
    }
    #expect(noted.calls.withLock { $0 } == expected)
    // What is in memory is not asked for, and neither is what one run alone lacks.
    try KeysAt(parts, at: 41, RunLimits()).willFind(low, goesOn: true)
    #expect(noted.calls.withLock { $0 } == expected)
    let other = KeysAt.Part(
      keys: try ForgedKeys(
        Self.random(&random, isBase: false), begin: 10, end: 40, isBase: false, pageLength: 3, groupLength: 6,
        partLength: 2, changeCountMin: 5
      ).open(files) { NotingFile($0, run: 3, noted) }, index: 3, isFirst: false)
    noted.calls.withLock { $0.removeAll() }
    try KeysAt(parts + [other], at: 41, RunLimits()).willFind(low, goesOn: true)
    #expect(noted.calls.withLock { $0 }.isEmpty)
    try store.closeBlocking()
  }

  @Test(arguments: [0..<3_000, 2_000..<5_000])
  func `on the way to a rank, keys that are gone are not passed one by one`(gone: Range<Int>) throws {
    let store = try StateStore.open(SimulatedDisk())
    let files = try Self.files(store)
    let keys = (0..<6_000).map {
      KeyRecord(key: Array("key \(10_000 + $0)".utf8), idLength: 5, isAlive: true)
    }
    let after = keys[gone].map { key in
      var key = key
      key.moments = [50]
      return key
    }
    let alive = (keys[..<gone.lowerBound] + keys[gone.upperBound...]).map(\.key)
    for rank in [0, 1_000, 1_970, 2_000, 2_980] {
      let noted = FileCalls()
      // A base in which all are there, and a delta that says of some that they are gone.
      let parts = try [keys, after].enumerated().map { run, keys in
        let forged = ForgedKeys(
          keys, begin: run == 0 ? 10 : 40, end: run == 0 ? 40 : 80, isBase: run == 0, pageLength: 4,
          groupLength: 12, partLength: 8, changeCountMin: 100)
        return KeysAt.Part(
          keys: try forged.open(files) { NotingFile($0, run: run, noted) }, index: run, isFirst: run == 0)
      }
      noted.calls.withLock { $0.removeAll() }
      var lent: [[UInt8]] = []
      try KeysAt(parts, at: 80, RunLimits()).forEach(
        in: rank..<rank + 20, from: [], to: nil, of: 0..<alive.count
      ) { lent.append(Array($0.bytes)) }
      #expect(lent == Array(alive[rank..<rank + 20]), "\(rank)")
      // Of more than two thousand pages.
      let readCount = noted.calls.withLock { $0.count { if case .read = $0 { true } else { false } } }
      #expect((1..<200).contains(readCount), "\(rank): \(readCount)")
    }
    try store.closeBlocking()
  }

  @Test func `fault 90: keys of a run that contradict themselves are damage`() throws {
    let store = try StateStore.open(SimulatedDisk())
    let files = try Self.files(store)
    let alive = [KeyRecord](
      (0..<6).map {
        KeyRecord(key: Array("key \($0)".utf8), idLength: 1, isAlive: true, moments: [12, 20, 30])
      })
    /// A group of two pages, with two keys each, and one of a page of two keys, all in chunks of five changes or more. Both
    /// groups are in one part of the directory, or each in one of its own.
    func forged(isBase: Bool = true, partLength: Int = 2) -> ForgedKeys {
      ForgedKeys(
        alive, begin: 10, end: 40, isBase: isBase, pageLength: 2, groupLength: 4, partLength: partLength,
        changeCountMin: 5)
    }
    #expect(try Self.records(forged().open(files)).count == 6)
    #expect(forged().groups.map { $0.chunks.map(\.first) } == [[0, 20], [0]])
    typealias Forge = (inout ForgedKeys) -> Void
    let cases: [(String, Forge)] = [
      ("a change of no key", { $0.groups[1].chunks[0].bytes[2] = 2 }),
      ("a change after the run", { $0.groups[1].chunks[0].bytes[1] = 31 }),
      ("a change before the run's first event", { $0.groups[1].chunks[0].bytes[1] = 0 }),
      ("two changes of a key at an event", { $0.groups[1].chunks[0].bytes[4] = 0 }),
      ("a bit of no key", { $0.groups[1].chunks[0].bytes[0] |= 4 }),
      ("other keys than there are at the begin of a page", { $0.groups[1].chunks[0].bytes[0] = 1 }),
      ("a chunk that goes on with other keys", { $0.groups[0].chunks[1].bytes[0] ^= 1 }),
      ("a chunk that begins inside the one before", { $0.groups[0].chunks[1].first = 2 }),
      (
        "a chunk twice",
        { $0.groups[0].chunks.append(($0.groups[0].chunks[1].first + 1, $0.groups[0].chunks[1].bytes)) }
      ),
      ("a chunk without a change", { $0.groups[0].chunks.append((29, [15])) }),
      ("a chunk that is cut short", { $0.groups[1].chunks[0].bytes = [] }),
      ("a change that is cut short", { $0.groups[1].chunks[0].bytes.removeLast() }),
      ("no chunk", { $0.groups[1].chunks = [] }),
      ("a page with another count", { $0.groups[0].pages[0].count += 1 }),
      (
        "counts of two pages that are exchanged",
        {
          $0.groups[0].pages[0].count += 1; $0.groups[0].pages[1].count -= 1
        }
      ),
      ("a page that says another end", { $0.groups[0].pages[0].bytes[1] ^= 3 }),
      (
        "a page of fewer keys",
        {
          $0.groups[0].pages[0].keyCount = 1; $0.groups[0].pages[1].keyCount = 3
        }
      ),
      ("a page of more keys", { $0.groups[0].pages[0].keyCount = 3 }),
      ("a page of no key", { $0.groups[0].pages[0].keyCount = 0 }),
      ("a page that begins with another key", { $0.groups[0].pages[1].first = Array("key 3".utf8) }),
      ("pages that do not ascend", { $0.groups[0].pages[1].first = Array("key 0".utf8) }),
      ("a page that is cut short", { $0.groups[0].pages[1].bytes.removeLast() }),
      ("a page without its head", { $0.groups[0].pages[1].bytes = [] }),
    ]
    for (what, forge) in cases {
      for isBase in [true, false] {
        var keys = forged(isBase: isBase)
        forge(&keys)
        #expect(throws: PageDamage.self, "\(what)") { try Self.records(keys.open(files)) }
      }
    }
    let parts: [(String, (inout [ForgedKeys.Head]) -> Void)] = [
      ("a part that begins with another key", { $0[1].first[4] += 1 }),
      ("a part that begins in the one before", { $0[1].first = Array("key 2".utf8) }),
      ("parts that do not ascend", { $0[1].first = Array("key 0".utf8) }),
      ("a page more", { $0[0].numbers[0] += 1 }),
      ("no page", { $0[1].numbers[0] = 0 }),
      ("a group more", { $0[0].numbers[1] += 1 }),
      ("no group", { $0[1].numbers[1] = 0 }),
      ("more groups than pages", { $0[1].numbers[1] = 2 }),
      ("other keys than there are", { $0[0].numbers[2] += 1 }),
      (
        "a key of the next part",
        {
          $0[0].numbers[2] += 1; $0[1].numbers[2] -= 1
        }
      ),
      ("another count", { $0[0].count += 1 }),
      ("a greater count than keys", { $0[1].count = 3 }),
      ("the smallest count", { $0[1].count = .min }),
    ]
    // Both agree, but the first part goes on in the second.
    var overlapping = forged(partLength: 1)
    overlapping.groups[0].pages[1].first = overlapping.groups[1].pages[0].first
    overlapping.groups[0].pages[1].bytes = overlapping.groups[1].pages[0].bytes
    #expect(throws: PageDamage.self) { try Self.records(overlapping.open(files)) }
    for (what, forge) in parts {
      var keys = forged(partLength: 1)
      #expect(try Self.records(keys.open(files)).count == 6)
      keys.forge = forge
      #expect(throws: PageDamage.self, "\(what)") { try Self.records(keys.open(files)) }
    }
    // All keys are gone at the end, each once more than it was made.
    func sections(_ counts: [(String, Int64)]) throws -> SectionCounts {
      var keys = forged(isBase: false)
      keys.sections = counts.map { (Array($0.0.utf8), $0.1) }
      return try keys.open(files).sectionCounts(at: 40)
    }
    #expect(try sections([("a", -2), ("ab", 0), ("b", -4)]).counts == [-2, 0, -4])
    for wrong in [
      [("a", -2), ("b", -3)], [("a", -2)], [], [("b", -2), ("a", -4)], [("a", -2), ("a", -4)],
      [("a", .min), ("b", .max)],
    ] as [[(String, Int64)]] {
      #expect(throws: PageDamage.self, "\(wrong)") { try sections(wrong) }
    }
    // A key that was never there is only in a run if something is wrong.
    var never = forged()
    never.groups[1].chunks[0].bytes = [0]
    never.groups[1].pages[0].bytes[0] = 0
    never.groups[1].pages[0].bytes[1] = 0
    never.groups[1].pages[0].count = 0
    #expect(throws: PageDamage.self) { try Self.records(never.open(files)) }
    try store.closeBlocking()
  }

  @Test func `fault 90: random bytes of keys under right checksums never trap`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let store = try StateStore.open(SimulatedDisk())
    let files = try Self.files(store)
    var (right, damaged) = (0, 0)
    let runs = StateRuns(isLight: true)
    while runs.next() {
      var (_, forged) = Self.forged(&random)
      let group = Int.random(in: forged.groups.indices, using: &random)
      func change(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        bytes[Int.random(in: bytes.indices, using: &random)] = [
          0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random),
        ].randomElement(using: &random)!
      }
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let page = Int.random(in: forged.groups[group].pages.indices, using: &random)
        let chunk = Int.random(in: forged.groups[group].chunks.indices, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: change(&forged.groups[group].pages[page].bytes)
        case 1: change(&forged.groups[group].chunks[chunk].bytes)
        case 2: change(&forged.groups[group].pages[page].first)
        case 3:
          forged.groups[group].pages[page].keyCount = [0, 1, 2, 255, 256, 257].randomElement(using: &random)!
        case 4:
          forged.groups[group].pages[page].count = [.min, -300, -1, 0, 1, 300, .max].randomElement(
            using: &random)!
        case 5:
          forged.groups[group].chunks[chunk].first = [0, 1, 29, 30, 31, .max].randomElement(using: &random)!
        default:
          let (field, sign) = (Int.random(in: 0..<5, using: &random), Bool.random(using: &random))
          let number = [0, 1, 2, 255, UInt64(Int32.max), .max].randomElement(using: &random)!
          let byte = UInt8.random(in: 0...255, using: &random)
          forged.forge = {
            let part = group % $0.count
            switch field {
            case 3: $0[part].first[$0[part].first.count - 1] = byte
            case 4: $0[part].count = Int64(bitPattern: number) * (sign ? 1 : -1)
            default: $0[part].numbers[field] = number
            }
          }
        }
      }
      do {
        let keys = try forged.open(files)
        for group in 0..<keys.directory.groupCount {
          for sequence in [9, 10, 11, 25, 40, 41] as [UInt64] {
            _ = try? keys.lives(of: group, in: keys.part(ofGroup: group), at: sequence)
          }
        }
        for page in 0..<keys.directory.pageCount {
          guard let first = try? keys.first(page) else { continue }
          _ = try? first.lendBytes { first throws(PageDamage) in
            try KeyPage(keys, at: page, in: keys.part(ofPage: page), nil).position(of: first)
          }
          _ = try? keys.firstPage(from: first + [0])
        }
        for part in 0..<keys.directory.partCount {
          guard let part = try? keys.part(part) else { continue }
          _ = part.firstAtEnd(in: part.pages)
        }
        _ = keys.directory.firstPartAtEnd(from: 0)
        let at = try Self.atEnd(keys, 40)
        var counter = KeyCounter(keys, at: 40, nil)
        for name in 0..<10 {
          let key = Array("key \(name)5".utf8)
          _ = try? key.lendBytes { key throws(PageDamage) in try counter.find(key) }
          _ = try? at.keys(from: key, to: nil)
          _ = try? at.count(from: key, to: key + [57])
          _ = try? at.forEach(in: name..<name + 3, from: [], to: nil, of: 0..<name + 4) { _ in }
        }
        _ = try? at.cuts(from: [], to: nil, partCount: 3)
        _ = try Self.records(keys)
        right += 1
      } catch is PageDamage { damaged += 1 }
    }
    #expect(right + damaged == runs.count && damaged > runs.count / 3)
    try store.closeBlocking()
  }
}
