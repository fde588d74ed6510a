// Damage to derived files: the answers stay those of the log, and what is damaged is made again.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct DerivedDamageTests {
  /// A store that is open for reading, and its derived files as they should be.
  private final class Damaged {
    let kind: any DerivedKind
    let disk: SimulatedDisk
    let reader: EventStore
    let good: [String: [UInt8]]
    private let expected: [[UInt64: StateAnswers]]
    /// How many reads found files that end where.
    private(set) var ends: [UInt64: Int] = [:]
    /// The ends that a read may find: of the last writes, or of none.
    private let mayEnd: Set<UInt64>

    /// - Parameter written: the ends of all writes.
    init(_ kind: any DerivedKind, _ disk: SimulatedDisk, written: [UInt64]) throws {
      (self.kind, self.disk) = (kind, disk)
      good = kind.contents(disk)
      let store = try StateStore.open(disk, .readOnly, options: kind.options())
      reader = store
      expected = try kind.foldings.map { try kind.expected(store, $0) }
      mayEnd = Set(written.suffix(kind.writeCountKept) + [0])
    }

    /// Reads everything of each projection, or of the one that a file is of. Returns how much was not there.
    @discardableResult
    func check(_ what: String, _ path: String? = nil, isOlder: Bool = false) throws -> Int {
      var lostCount = 0
      for (folding, expected) in zip(kind.foldings, expected)
      where path?.hasPrefix(kind.folder(folding) + "/") ?? true {
        let reading = try kind.read(reader, folding, expected)
        #expect(reading.difference == nil, "\(what)")
        #expect(isOlder || mayEnd.contains(reading.end), "\(what): a part is used, up to \(reading.end)")
        ends[reading.end, default: 0] += 1
        lostCount += reading.lostCount + (reading.end == 0 ? 1 : 0)
      }
      return lostCount
    }

    /// Puts files back as they were, and removes those that were added.
    func repair(_ paths: [String]? = nil) {
      for path in paths ?? kind.paths(disk) where good[path] == nil { disk.delete(path) }
      for (path, bytes) in good where paths?.contains(path) ?? true { disk.add(path, bytes) }
    }

    /// How many of something that an ordinary run looks at it does: every one, or one of some.
    func some<Element>(_ all: [Element]) -> [Element] {
      if DamagedBits.step != nil || kind.damageStep == 1 { return all }
      return all.enumerated().filter { $0.offset % kind.damageStep == 0 }.map(\.element)
    }

    deinit { try? reader.closeBlocking() }
  }

  /// A store with derived files of several writes, and an event that is in none.
  private func damaged(_ kind: any DerivedKind, seed: UInt64, rounds: Int = 3) throws -> Damaged {
    let disk = SimulatedDisk()
    var events = StateEvents(seed: seed)
    events.rowCount = 9
    var written: [UInt64] = []
    for round in 0..<rounds {
      let store = try kind.open(disk)
      for _ in 0..<(round == 0 ? 12 : 3) { try events.append(to: store) }
      if round == 0 {
        try store.put("large", ["t": .string(String(repeating: "ab", count: 1_300) + events.text())])
      }
      try kind.write(store)
      written.append(store.head.sequence)
      try store.closeBlocking()
    }
    var options = kind.options()
    options.savedFoldingMin = .seconds(1_000)
    let store = try StateStore.open(disk, options: options)
    try events.append(to: store)
    try store.closeBlocking()
    return try Damaged(kind, disk, written: written)
  }

  @Test(arguments: derivedKinds)
  func `fault 59, 77: any byte of a derived file may be another one`(_ kind: any DerivedKind)
    async throws
  {
    let damaged = try damaged(kind, seed: 1)
    #expect(try kind.findings(damaged.reader.log) == [])
    var (byteCount, changeCount, foundCount) = (0, 0, 0)
    for (path, bytes) in damaged.good.sorted(by: { $0.key < $1.key }) {
      byteCount += bytes.count
      for bit in damaged.some(DamagedBits.of(byteCount: bytes.count)) {
        changeCount += 1
        var changed = bytes
        changed[bit / 8] ^= UInt8(1 << (bit % 8))
        damaged.disk.replace(path, changed)
        let what = "bit \(bit) of \(path)"
        let lostCount = try damaged.check(what, path)
        #expect(lostCount > 0 || !kind.readsEveryByte, "\(what) is not noticed")
        guard changeCount % 9 == 0 else { continue }
        let findings = try kind.findings(damaged.reader.log)
        #expect(findings.allSatisfy { path.hasSuffix($0.file) } && findings.count < 2, "\(what): \(findings)")
        #expect(findings.count == 1 || !kind.readsEveryByte, "\(what): \(findings)")
        foundCount += findings.count
        if changeCount % 45 == 0 { _ = try await kind.check(damaged.disk.clone(), what) }
      }
      damaged.repair([path])
    }
    // The newest files, those before, and none were used, each many times.
    print("damage: \(changeCount) bits of \(byteCount) bytes, by the end that was read: \(damaged.ends)")
    #expect(byteCount > 6_000 && foundCount > 10)
    guard DamagedBits.step == nil else { return }
    #expect(damaged.ends.count > kind.writeCountKept && damaged.ends[0]! > 200 / kind.damageStep)
  }

  @Test(arguments: derivedKinds)
  func `fault 59, 96: derived files may be cut at any length, be longer, and be missing`(
    _ kind: any DerivedKind
  ) throws {
    let damaged = try damaged(kind, seed: 2)
    let step = DamagedBits.step == 1 ? 1 : 3
    for (path, bytes) in damaged.good.sorted(by: { $0.key < $1.key }) {
      let lengths = bytes.indices.filter { $0 % step == 0 || $0 < 700 || $0 > bytes.count - 300 }
      for length in damaged.some(lengths) {
        damaged.disk.replace(path, Array(bytes[..<length]))
        try damaged.check("\(path) has \(length) bytes", path)
        guard length % 64 == 0 else { continue }
        damaged.disk.replace(path, bytes + [UInt8](repeating: UInt8(length % 251), count: length))
        try damaged.check("\(path) has \(length) bytes more", path)
      }
      damaged.disk.delete(path)
      try damaged.check("without \(path)")
      damaged.repair()
    }
    let before = damaged.ends
    try damaged.check("as it was")
    #expect(damaged.ends[0] == before[0] && damaged.ends[0]! > 300 / kind.damageStep)
  }

  @Test(arguments: derivedKinds)
  func `two derived files may be exchanged, and a file may have another's number`(
    _ kind: any DerivedKind
  ) throws {
    let damaged = try damaged(kind, seed: 3)
    let paths = damaged.good.keys.sorted()
    #expect(paths.count >= 4)
    for one in paths {
      for other in damaged.some(paths.filter { $0 != one }) {
        damaged.disk.replace(one, damaged.good[other]!)
        try damaged.check("\(one) is a copy of \(other)")
        damaged.disk.replace(other, damaged.good[one]!)
        try damaged.check("\(one) and \(other) are exchanged")
        damaged.repair([one, other])
      }
    }
    for path in paths where !path.hasSuffix("/\(kind.headFile)") {
      let folder = path.prefix(upTo: path.lastIndex(of: "/")!)
      for number: UInt32 in [1, 2, 3, 4, 5, .max] {
        damaged.disk.add("\(folder)/\(kind.dataFile(number))", damaged.good[path]!)
        try damaged.check("\(path) is there as \(number) too")
        damaged.repair()
      }
    }
    #expect(damaged.ends[0, default: 0] > 20 / kind.damageStep)
  }

  @Test(arguments: derivedKinds)
  func `files of a store that differs in one value are not taken for those of another`(
    _ kind: any DerivedKind
  ) throws {
    let origin = try damaged(kind, seed: 6)
    var ends: [UInt64] = []
    let disks = try (1...2).map { number in
      let disk = origin.disk.clone()
      let store = try kind.open(disk)
      try store.put("same", ["n": .int(Int64(number))])
      try kind.write(store)
      ends.append(store.head.sequence)
      try store.closeBlocking()
      return disk
    }
    func data(_ disk: SimulatedDisk) -> [String] {
      kind.paths(disk).filter { !$0.hasSuffix("/\(kind.headFile)") }
    }
    #expect(data(disks[0]) == data(disks[1]))
    let damaged = try Damaged(kind, disks[0], written: [origin.ends.keys.max() ?? 0, ends[0]])
    try damaged.check("as it was")
    for path in data(disks[1]) { disks[0].replace(path, disks[1].contents(path)!) }
    try damaged.check("the other's files", isOlder: true)
    #expect(damaged.ends.count > 1)
  }

  @Test(arguments: derivedKinds)
  func `fault 59: derived files of any older time may be put back, all or some of them`(
    _ kind: any DerivedKind
  ) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    var ends: [UInt64: Int] = [:]
    let runs = StateRuns(parts: kind.damageStep)
    while runs.next() {
      let disk = SimulatedDisk()
      var events = StateEvents(seed: random.next())
      var older: [[String: [UInt8]]] = []
      var store = try kind.open(disk)
      for _ in 0..<6 {
        for _ in 0..<3 { try events.append(to: store) }
        try kind.write(store)
        older.append(kind.contents(disk))
        if Bool.random(using: &random) {
          try store.closeBlocking()
          store = try kind.open(disk)
        }
      }
      try store.closeBlocking()
      let damaged = try Damaged(kind, disk, written: [])
      for files in older {
        for path in kind.paths(disk) { disk.delete(path) }
        for (path, bytes) in files { disk.add(path, bytes) }
        try damaged.check("all files are older", isOlder: true)
        damaged.repair()
        for (path, bytes) in files where Bool.random(using: &random) { disk.add(path, bytes) }
        try damaged.check("some files are older", isOlder: true)
        damaged.repair()
      }
      ends.merge(damaged.ends) { $0 + $1 }
    }
    #expect(ends.count > 10 && ends[0]! > 20 / kind.damageStep, "\(ends)")
  }

  @Test(arguments: derivedKinds)
  func `fault 96: after any damage what is written next is used by the next open`(
    _ kind: any DerivedKind
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    let runs = StateRuns(parts: 2)
    while runs.isShort {
      let seed = random.next()
      let origin = try damaged(kind, seed: seed).disk
      for _ in 0..<20 {
        runs.add()
        let disk = origin.clone()
        var what = "seed \(seed)"
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let path = kind.paths(disk).randomElement(using: &random)!
          let bytes = disk.contents(path)!
          let index = bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &random)
          switch bytes.isEmpty ? 0 : Int.random(in: 0..<8, using: &random) {
          case 0: disk.delete(path)
          case 1..<5: disk.flipBit(path, 8 * index + Int.random(in: 0..<8, using: &random))
          default: disk.replace(path, Array(bytes[..<index]))
          }
          what += ", byte \(index) of \(path)"
        }
        _ = try await kind.check(disk, what)
      }
    }
  }

  @Test(arguments: derivedKinds)
  func `a derived file that cannot be read is as good as none`(_ kind: any DerivedKind) throws {
    let damaged = try damaged(kind, seed: 5)
    for (path, bytes) in damaged.good {
      for start in stride(from: 0, to: bytes.count, by: 97) {
        damaged.disk.makeUnreadable(path, start..<start + 1)
        try damaged.check("byte \(start) of \(path) cannot be read", path)
        damaged.disk.makeReadable()
      }
    }
    #expect(damaged.ends[0, default: 0] > 10 / kind.damageStep)
  }
}
