// One key in the pages and groups of a run: what is counted is what a walk over the keys counts.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

extension KeySet {
  func part(ofPage page: Int) throws(PageDamage) -> KeyDirectoryPart {
    try part(directory.part(ofPage: page))
  }

  func part(ofGroup group: Int) throws(PageDamage) -> KeyDirectoryPart {
    try part(directory.part(ofGroup: group))
  }

  /// Where all pages are.
  var places: [RecordAddress] {
    get throws { try (0..<directory.pageCount).map { try part(ofPage: $0).address(of: $0) } }
  }
}

@Suite struct KeyPageTests {
  /// Every key of a set, as a walk finds it from any page on.
  private static func records(_ keys: KeySet) throws -> [KeyRecord] {
    var records: [KeyRecord] = []
    for page in 0..<keys.directory.pageCount {
      var cursor = KeyRecordCursor(keys, page: page)
      repeat {
        guard try cursor.next() else { break }
        records.append(cursor.record())
      } while !cursor.isAtEndOfPage
    }
    return records
  }

  private static func isAlive(_ record: KeyRecord, at sequence: UInt64) -> Bool {
    record.isAlive != (record.moments.count { $0 <= sequence } % 2 == 1)
  }

  @Test func `a run counts the keys before any key as a walk over them does`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = (keys: 0, others: 0, deltas: 0, gone: 0, groups: 0, parts: 0, ends: 0)
    let runs = StateRuns(isLight: true)
    while runs.next() {
      let past = try KeptPastTests.Past(&random)
      let owner = try #require(KeyOwner(past.table, past.definition))
      for run in try #require(past.historian.runs()).runs {
        for (owner, kind) in [(KeyOwner.rows, KeyOwner.Kind.rows), (owner, .items)] {
          guard let keys = try run.keySet(kind, of: owner) else { continue }
          let records = try Self.records(keys)
          guard !records.isEmpty else { continue }
          // Most runs end before the event that is asked about.
          let (begin, end) = (run.root.begin, run.root.end)
          let sequence = [begin, .random(in: begin...end, using: &random), end, end + 5].randomElement(
            using: &random)!
          // Keys of the run, and others that share some of their bytes.
          var sought: [[UInt8]] = []
          for record in records.shuffled(using: &random).prefix(20) {
            var key = record.key
            switch Int.random(in: 0..<4, using: &random) {
            case 0: key.append(UInt8.random(in: 0...255, using: &random))
            case 1: key.removeLast(Int.random(in: 1...key.count, using: &random))
            case 2:
              key[Int.random(in: key.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default: break
            }
            sought.append(key)
          }
          let sweep = [nil, 1, 200, 8_192].randomElement(using: &random)!.map { RunSweep(run, length: $0) }
          // The directory has the counts at the end, and the tally has the same.
          let groups = try #require(try keys.groupCounts(at: sequence))
          let counts = sequence >= end && Bool.random(using: &random) ? nil : groups
          var counter = KeyCounter(keys, at: sequence, counts, sweep)
          #expect(counter.count == groups.before.last, "run \(runs.count)")
          for key in sought.sorted(by: { $0.isBefore($1) }) {
            var count: Int64 = 0
            for other in records where other.key.isBefore(key) {
              count += Self.isAlive(other, at: sequence) ? 1 : 0
              if !run.root.isBase, other.isAlive { count -= 1 }
            }
            let counted = try key.withUnsafeBytes { try counter.find($0) }
            // From the begin again: the keys of a counter ascend.
            var other = KeyCounter(keys, at: sequence, counts)
            #expect(try key.withUnsafeBytes { try other.count(below: $0) } == count, "run \(runs.count)")
            let known = records.first { $0.key == key }
            #expect(counted.count == count, "run \(runs.count)")
            #expect(counted.isAlive == known.map { Self.isAlive($0, at: sequence) }, "run \(runs.count)")
            met.keys += known == nil ? 0 : 1
            met.others += known == nil ? 1 : 0
            met.deltas += run.root.isBase ? 0 : 1
            met.ends += run.root.isBase || counts != nil ? 0 : 1
            met.gone += counted.isAlive == false ? 1 : 0
            met.groups += keys.directory.groupCount > 1 ? 1 : 0
            met.parts += keys.directory.partCount > 1 ? 1 : 0
          }
        }
      }
      try past.store.closeBlocking()
    }
    #expect(
      met.keys > 3 * runs.count && met.others > 3 * runs.count && met.deltas > runs.count
        && met.gone > runs.count / 2 && met.groups > runs.count && met.parts > runs.count
        && met.ends > runs.count, "\(met)")
  }

  @Test func `pages are found over all parts of a directory as in a list of their first keys`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = (borders: 0, near: 0)
    let runs = StateRuns(isLight: true)
    while runs.next() {
      let past = try KeptPastTests.Past(&random)
      for run in try #require(past.historian.runs()).runs {
        guard let keys = try run.keySet(.rows, of: .rows), keys.directory.partCount > 1 else { continue }
        let directory = keys.directory
        let parts = try (0..<directory.partCount).map { try keys.part($0) }
        let firsts = parts.flatMap { part in part.pages.map { part.first($0) } }
        #expect(firsts.count == directory.pageCount)
        for page in firsts.indices { #expect(try keys.first(page) == firsts[page], "run \(runs.count)") }
        for key in firsts + firsts.map({ $0 + [0] }) + firsts.map({ $0.dropLast() }) {
          let expected = firsts.firstIndex { !$0.isBefore(key) } ?? firsts.count
          #expect(try keys.firstPage(from: key) == expected, "run \(runs.count)")
        }
        let begins = Set(parts.map(\.pages.lowerBound))
        for page in firsts.indices {
          let low = Int.random(in: 0...page, using: &random)
          let pages = low..<Int.random(in: page + 1...firsts.count, using: &random)
          let distance = Int.random(in: 0...4, using: &random)
          let found = keys.page(near: page, within: distance, of: pages)
          #expect(pages.contains(found) && abs(found - page) <= distance, "run \(runs.count)")
          #expect(begins.contains(page) ? found == page : found == page || begins.contains(found))
          if begins.contains(page) { met.borders += 1 }
          if found != page { met.near += 1 }
        }
        #expect(directory.count == parts.reduce(0) { $0 + $1.countAtEnd(of: $1.pages) })
      }
      try past.store.closeBlocking()
    }
    #expect(min(met.borders, met.near) > runs.count / 4, "\(met)")
  }

  /// A directory of parts of some pages, groups and keys each, of which so many are there at the end.
  private static func directory(
    _ parts: [(numbers: [UInt64], count: Int64)], keys: UInt64
  ) throws -> KeyDirectory {
    var bytes = RawBuffer(capacity: 64)
    for (index, part) in parts.enumerated() {
      for byte in [0, 1, UInt8(index + 1)] { bytes.append(byte: byte) }
      RecordAddress(offset: 64, length: 100, checksum: 0).append(to: &bytes)
      for number in part.numbers { bytes.append(varint: number) }
      bytes.append(varint: ZigZag.encode(part.count))
    }
    return try KeyDirectory(decoding: record(bytes.bytes), keys: keys)
  }

  @Test func `the parts of a directory are found by pages, groups and counts as in a list of them`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<200 {
      let parts = (0..<Int.random(in: 1...20, using: &random)).map { _ in
        let groups = UInt64.random(in: 1...3, using: &random)
        let pages = groups + .random(in: 0...4, using: &random)
        return (
          numbers: [pages, groups, pages * 2], count: Int64([0, 0, 1, 2].randomElement(using: &random)!)
        )
      }
      let directory = try Self.directory(parts, keys: parts.reduce(0) { $0 + $1.numbers[2] })
      let ofPages = parts.enumerated().flatMap { repeatElement($0.offset, count: Int($0.element.numbers[0])) }
      let ofGroups = parts.enumerated().flatMap {
        repeatElement($0.offset, count: Int($0.element.numbers[1]))
      }
      #expect(ofPages.indices.map { directory.part(ofPage: $0) } == ofPages)
      #expect(ofGroups.indices.map { directory.part(ofGroup: $0) } == ofGroups)
      for part in 0...parts.count {
        let expected = parts[part...].firstIndex { $0.count > 0 } ?? parts.count
        #expect(directory.firstPartAtEnd(from: part) == expected)
      }
      for part in parts.indices {
        let before = parts[..<part].reduce(0) { $0 + $1.count }
        #expect(directory.head(of: part).countBefore == before)
      }
      #expect(directory.count == parts.reduce(0) { $0 + $1.count })
    }
  }

  @Test func `more keys than a run may have are damage before they are counted`() throws {
    let most = UInt64(Int32.max)
    func directory(_ numbers: [UInt64], _ count: Int64, keys: UInt64) throws -> KeyDirectory {
      try Self.directory([(numbers, count)], keys: keys)
    }
    #expect(try directory([most, most, most], Int64(most), keys: most).count == Int64(most))
    for (numbers, count, keys) in [
      ([most + 1, most + 1, most + 1], 1, most + 1), ([.max, .max, .max], 1, .max),
      ([1, 1, most], Int64(most) + 1, most), ([1, 1, 2], 3, 2), ([1, 1, 2], -3, 2), ([1, 1, 2], .min, 2),
      ([3, 1, 2], 1, 2), ([1, 2, 2], 1, 2), ([1, 0, 2], 1, 2), ([1, 1, 3], 1, 2), ([1, 1, 1], 1, 2),
    ] as [([UInt64], Int64, UInt64)] {
      #expect(throws: PageDamage.self, "\(numbers)") { try directory(numbers, count, keys: keys) }
    }
  }

  @Test func `a group with other keys than its tally counts is damage`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var count = 0
    let runs = StateRuns(isLight: true)
    while runs.next() {
      let past = try KeptPastTests.Past(&random)
      for run in try #require(past.historian.runs()).runs {
        guard let keys = try run.keySet(.rows, of: .rows), !keys.isEmpty else { continue }
        let sequence = UInt64.random(in: run.root.begin...run.root.end, using: &random)
        let total = try keys.total(at: sequence)
        let right = try #require(try keys.groupCounts(at: sequence))
        #expect(total == right.before.last, "run \(runs.count)")
        for group in 0..<right.unitCount {
          var counts = (0..<right.unitCount).map { right.count(of: $0) }
          counts[group] += Bool.random(using: &random) ? 1 : -1
          let wrong = KeyCounts(sequence, summing: [0] + counts)
          let key = try keys.first(keys.part(ofGroup: group).pages(of: group).lowerBound)
          for (counts, isRight) in [(right, true), (wrong, false)] {
            var counter = KeyCounter(keys, at: sequence, counts)
            let found = try? key.withUnsafeBytes { try counter.find($0) }
            #expect((found != nil) == isRight, "run \(runs.count)")
          }
          count += 1
        }
      }
      try past.store.closeBlocking()
    }
    #expect(count > runs.count)
  }

  /// A record's bytes are there for as long as it is held.
  private static func bytes(_ record: RunRecord) -> [UInt8] {
    withExtendedLifetime(record) { Array($0.bytes) }
  }

  @Test func `a sweep reads the records that a reader has, several near ones at a time`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = (near: 0, far: 0, saved: 0)
    let runs = StateRuns(isLight: true)
    while runs.next() {
      let past = try KeptPastTests.Past(&random)
      for run in try #require(past.historian.runs()).runs {
        guard let keys = try run.keySet(.rows, of: .rows), !keys.isEmpty else { continue }
        let places = try keys.places
        let length = [1, 100, 400, 8_192].randomElement(using: &random)!
        let sweep = RunSweep(run, length: length)
        var readCount = 0
        func read(_ places: [RecordAddress]) throws {
          for place in places {
            let before = sweep.known
            let record = Self.bytes(try sweep.record(at: place))
            #expect(record == Self.bytes(try run.record(at: place)), "run \(runs.count)")
            guard place.length <= length, sweep.known != before else { continue }
            readCount += 1
            let isNear =
              !before.isEmpty && before.lowerBound <= place.offset
              && place.offset <= before.upperBound + UInt64(length)
            let most = isNear ? length : Int(place.length)
            #expect(sweep.known.lowerBound == place.offset && sweep.known.count <= most)
            if isNear { met.near += 1 } else { met.far += 1 }
          }
        }
        try read(places)
        // The first one is read alone.
        let span = Int(places[places.count - 1].offset - places[0].offset)
        if length == 8_192 {
          #expect(readCount <= 2 + span / 4_096, "run \(runs.count)")
          met.saved += places.count - readCount
        }
        try read(places.shuffled(using: &random))
        // A place past the end of the file is damage.
        for offset in [run.length - 1, run.length, UInt64(Int64.max)] {
          let place = RecordAddress(offset: offset, length: 20, checksum: 0)
          #expect(throws: PageDamage.self) { try sweep.record(at: place) }
        }
      }
      try past.store.closeBlocking()
    }
    #expect(min(met.near, met.far, met.saved) > runs.count / 2, "\(met)")
  }

  @Test func `a sweep reads a page although what follows it in the file is gone`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var count = 0
    let runs = StateRuns(isLight: true)
    while runs.next() {
      let past = try KeptPastTests.Past(&random)
      for run in try #require(past.historian.runs()).runs {
        guard let keys = try run.keySet(.rows, of: .rows), keys.directory.pageCount > 2 else { continue }
        let places = try Array(keys.places[..<3])
        let bytes = try places.map { Self.bytes(try run.record(at: $0)) }
        let sweep = RunSweep(run, length: 8_192)
        #expect(Self.bytes(try sweep.record(at: places[0])) == bytes[0])
        let name = StoreLayout.runFileName(run.number)
        let file = try past.disk.open("\(past.historian.files.folder)/\(name)", .readWrite)
        try file.truncate(to: Int64(places[1].offset) + Int64(places[1].length))
        file.close()
        #expect(Self.bytes(try sweep.record(at: places[1])) == bytes[1], "run \(runs.count)")
        #expect(throws: PageDamage.self) { try sweep.record(at: places[2]) }
        // What was in the buffer before the failure is not taken for another part of the file.
        for index in [1, 0] {
          #expect(Self.bytes(try sweep.record(at: places[index])) == bytes[index], "run \(runs.count)")
        }
        count += 1
      }
      try past.store.closeBlocking()
    }
    #expect(count > runs.count / 3)
  }

  @Test func `bits of keys are counted and found as in an array of them`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<2_000 {
      let count = [Int.random(in: 1...256, using: &random), 64, 256].randomElement(using: &random)!
      let share = [0, 1, 8, 16].randomElement(using: &random)!
      let expected = (0..<count).map { _ in Int.random(in: 0..<16, using: &random) < share }
      var bits = KeyBits()
      for key in expected.indices where expected[key] { bits.toggle(key) }
      var bytes = RawBuffer(capacity: 64)
      bits.append(count, to: &bytes)
      #expect(bytes.count == (count + 7) / 8)
      var cursor = ByteCursor(bytes.bytes.baseAddress!, count: bytes.count)
      #expect(KeyBits(&cursor, count) == bits && cursor.remaining == 0)
      var isCut = ByteCursor(bytes.bytes.baseAddress!, count: bytes.count - 1)
      #expect(KeyBits(&isCut, count) == nil)
      if let last = expected.lastIndex(of: true), last % 8 > 0 {
        var isTooFew = ByteCursor(bytes.bytes.baseAddress!, count: bytes.count)
        #expect(KeyBits(&isTooFew, last) == nil)
      }
      for key in 0...count {
        #expect(bits.count(below: key) == expected[..<key].count { $0 })
        #expect(bits.first(from: key) == expected[key...].firstIndex(of: true))
        if key < count { #expect(bits[key] == expected[key]) }
      }
    }
  }

  /// A part of pages that begin with some keys, all with the same number of keys, in groups of three pages. Five pages and
  /// two groups are before it.
  private static func part(
    _ firsts: [UInt8], _ counts: [Int64]? = nil, keysOfPage: Int = 2
  ) throws -> KeyDirectoryPart {
    var bytes = RawBuffer(capacity: 64)
    let place = RecordAddress(offset: 64, length: 100, checksum: 0)
    for (index, first) in firsts.enumerated() {
      for byte in [0, 1, first] as [UInt8] { bytes.append(byte: byte) }
      place.append(to: &bytes)
      let endsGroup = index % 3 == 2 || index == firsts.count - 1
      bytes.append(varint: UInt64(keysOfPage) << 1 | (endsGroup ? 1 : 0))
      bytes.append(varint: ZigZag.encode(counts?[index] ?? Int64(index % 4) - 1))
      guard endsGroup else { continue }
      bytes.append(varint: UInt64(index % 2 + 1))
      for chunk in 0...index % 2 {
        bytes.append(varint: UInt64(chunk * 5))
        place.append(to: &bytes)
      }
    }
    let count = firsts.indices.reduce(0) { $0 + (counts?[$1] ?? Int64($1 % 4) - 1) }
    return try KeyDirectoryPart(
      decoding: record(bytes.bytes),
      head(pages: firsts.count, groups: (firsts.count + 2) / 3, keys: firsts.count * keysOfPage, count),
      span: 5)
  }

  private static func head(pages: Int, groups: Int, keys: Int, _ count: Int64) -> KeyDirectory.Head {
    KeyDirectory.Head(
      address: RecordAddress(offset: 64, length: 100, checksum: 0), pages: 5..<5 + UInt32(pages),
      groups: 2..<2 + UInt32(groups), keyCount: UInt32(keys), count: Int32(count), countBefore: 3)
  }

  private static func record(_ bytes: UnsafeRawBufferPointer) -> RunRecord {
    let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
    raw.copyMemory(from: bytes)
    return RunRecord(taking: raw, count: bytes.count, isInner: false)
  }

  @Test func `the page of a key is found from any page before it`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<200 {
      let count = Int.random(in: 0...70, using: &random)
      let firsts = Set((0..<count).map { _ in UInt8.random(in: 1...250, using: &random) }).sorted()
      let part = try Self.part(firsts)
      for key in 0...255 as ClosedRange<UInt8> {
        let expected = firsts.lastIndex { $0 <= key }.map { $0 + 5 }
        for start in 5..<(expected ?? 4) + 1 {
          #expect(
            [key].withUnsafeBytes { part.page(of: $0, from: start) } == expected, "\(firsts), \(key)")
        }
        #expect(part.page(of: [key]) == expected, "\(firsts), \(key)")
        #expect(part.firstPage(from: [key]) == 5 + (firsts.firstIndex { $0 >= key } ?? firsts.count))
      }
    }
  }

  @Test func `each page is of the group that ends after it`() throws {
    for count in 0...10 {
      let part = try Self.part((0..<count).map { UInt8($0 + 1) })
      #expect(part.groups == 2..<2 + (count + 2) / 3 && part.pages == 5..<5 + count)
      for index in 0..<count {
        let page = 5 + index
        let group = part.group(of: page)
        #expect(group == 2 + index / 3)
        let ofGroup = index / 3 * 3..<min(index / 3 * 3 + 3, count)
        #expect(part.pages(of: group) == 5 + ofGroup.lowerBound..<5 + ofGroup.upperBound)
        #expect(part.numbers(of: page) == index % 3 * 2..<index % 3 * 2 + 2)
        #expect(part.keyCount(of: group) == ofGroup.count * 2)
        #expect(part.countAtEnd(of: page..<page + 1) == Int64(index % 4) - 1)
        let before = (0..<index).map { Int64($0 % 4) - 1 }
        #expect(part.countAtEnd(of: 5..<page) == before.reduce(0, +))
        let chunks = part.chunks(of: group)
        #expect(chunks.map(\.first) == ((ofGroup.upperBound - 1) % 2 == 0 ? [0] : [0, 5]))
      }
    }
  }

  @Test func `the first page with a key at the end of a run is found in any range`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<100 {
      let counts = (0..<Int.random(in: 1...40, using: &random)).map { _ in
        Int64([0, 0, 0, 1, 2].randomElement(using: &random)!)
      }
      let part = try Self.part((0..<counts.count).map { UInt8($0 + 1) }, counts)
      let start = Int.random(in: 0...counts.count, using: &random)
      let end = Int.random(in: start...counts.count, using: &random)
      let expected = (start..<end).first { counts[$0] > 0 } ?? end
      #expect(part.firstAtEnd(in: 5 + start..<5 + end) == 5 + expected)
    }
  }

  @Test func `a part of other keys, groups and chunks than there may be is damage`() throws {
    let place = RecordAddress(offset: 64, length: 100, checksum: 0)
    /// One page of two keys; numbers that follow its place.
    func part(
      _ flags: UInt64, _ chunks: [UInt64], said: UInt64? = nil, keys: Int = 2, count: Int64 = 2,
      saidCount: Int64? = nil
    ) throws -> KeyDirectoryPart {
      var bytes = RawBuffer(capacity: 64)
      for byte in [0, 1, 7] as [UInt8] { bytes.append(byte: byte) }
      place.append(to: &bytes)
      bytes.append(varint: flags)
      bytes.append(varint: ZigZag.encode(count))
      if flags & 1 == 1 { bytes.append(varint: said ?? UInt64(chunks.count)) }
      for chunk in chunks {
        bytes.append(varint: chunk)
        place.append(to: &bytes)
      }
      let head = Self.head(
        pages: 1, groups: 1, keys: keys, saidCount ?? Int64(Int32(truncatingIfNeeded: count)))
      return try KeyDirectoryPart(decoding: Self.record(bytes.bytes), head, span: 100)
    }
    #expect(try part(5, [0, 3, 100]).chunks(of: 2).count == 3)
    #expect(try part(513, [0], keys: 256).keyCount(of: 2) == 256)
    #expect(try part(5, [0], count: -2).countAtEnd(of: 5..<6) == -2)
    #expect(throws: PageDamage.self) { try part(5, [0], count: -2, saidCount: -1) }
    for count in [3, -3, .max, .min] as [Int64] {
      #expect(throws: PageDamage.self) { try part(5, [0], count: count) }
    }
    #expect(try Self.part([1, 2], keysOfPage: 128).keyCount(of: 2) == 256)
    #expect(throws: PageDamage.self) { try Self.part([1, 2], keysOfPage: 129) }
    for (flags, chunks, said, keys) in [
      (4, [], nil, 2), (1, [0], nil, 0), (5, [], 0, 2), (5, [1], nil, 2), (5, [0, 0], nil, 2),
      (5, [0, 101], nil, 2),
      (5, [0], 2, 2), (5, [0], nil, 3), (5, [0], nil, 1), (515, [0], nil, 257),
      (UInt64.max, [0], nil, Int(Int32.max)),
    ] as [(UInt64, [UInt64], UInt64?, Int)] {
      #expect(throws: PageDamage.self, "\(flags) \(chunks)") {
        try part(flags, chunks, said: said, keys: keys)
      }
    }
  }

  @Test func `a number of two or three bytes is read as any other`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        [0, 1, 0x7F, 0x80, 0x81, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(
          using: &random)!
      }
      if Bool.random(using: &random), !bytes.isEmpty { bytes[bytes.count - 1] &= 0x7F }
      bytes.withUnsafeBytes { bytes in
        let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
        var (one, other) = (ByteCursor(start, count: bytes.count), ByteCursor(start, count: bytes.count))
        let (number, expected) = (one.mediumVarint(), other.varint())
        #expect(number == expected, "\(Array(bytes))")
        // What follows is read from there.
        if number != nil { #expect(one.position == other.position, "\(Array(bytes))") }
      }
    }
  }
}
