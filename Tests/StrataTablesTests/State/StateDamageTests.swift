// Damage to the files of a state: the answers stay those of the log.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateDamageTests {
  /// A store that is open for reading, and the files of its states as they should be.
  private final class Damaged {
    let disk: SimulatedDisk
    let reader: EventStore
    let good: [String: [UInt8]]
    let expected: [StateAnswers]
    private let foldings = [StateStore.documents, StateStore.tally]
    /// How many folds began with which sequence.
    private(set) var begins: [UInt64: Int] = [:]

    init(_ disk: SimulatedDisk) throws {
      self.disk = disk
      good = Dictionary(uniqueKeysWithValues: disk.statePaths.map { ($0, disk.contents($0)!) })
      reader = try StateStore.open(disk, .readOnly)
      let store = reader
      expected = try foldings.map { try StateAnswers(folding: $0, of: store) }
    }

    /// Folds each projection, beginning with what is on disk.
    func check(_ what: String) throws {
      for (folding, expected) in zip(foldings, expected) { try check(folding, expected, what) }
    }

    func check(_ folding: Folding, _ expected: StateAnswers? = nil, _ what: String) throws {
      let projector = Projector(reader.log, folding)
      let fold = projector.currentFold()
      begins[fold.state.sequence, default: 0] += 1
      try fold.run(through: .max)
      let expected = try expected ?? StateAnswers(folding: folding, of: reader)
      let difference = try StateAnswers(fold.state, of: reader).difference(from: expected)
      #expect(difference == nil, "\(what)")
    }

    /// Puts files back as they were, and removes those that were added.
    func repair(_ paths: [String]? = nil) {
      for path in paths ?? disk.statePaths where good[path] == nil { disk.delete(path) }
      for (path, bytes) in good where paths?.contains(path) ?? true { disk.add(path, bytes) }
    }

    deinit { try? reader.closeBlocking() }
  }

  /// A store with two states of two projections, each with two slots and two page files.
  private func disk(seed: UInt64, rounds: Int = 3) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    var events = StateEvents(seed: seed)
    for round in 0..<rounds {
      let store = try StateStore.open(disk)
      for folding in [StateStore.documents, StateStore.tally] { _ = store.projector(folding) }
      for _ in 0..<(round == 0 ? 12 : 3) { try events.append(to: store) }
      if round == 0 {
        try store.put("large", ["t": .string(String(repeating: "ab", count: 1_300) + events.text())])
      }
      try store.checkpointBlocking()
      try store.closeBlocking()
    }
    // Not in any state.
    let store = try StateStore.open(disk, options: StateStore.options(savingFrom: .seconds(1_000)))
    try events.append(to: store)
    try store.closeBlocking()
    return disk
  }

  @Test func `fault 59: any byte of a state's files may be another one: the answers stay those of the log`()
    throws
  {
    let damaged = try Damaged(disk(seed: 1))
    var (byteCount, changeCount) = (0, 0)
    for (path, bytes) in damaged.good.sorted(by: { $0.key < $1.key }) {
      let folding = path.hasPrefix(StateStore.folder() + "/") ? StateStore.documents : StateStore.tally
      let expected = try StateAnswers(folding: folding, of: damaged.reader)
      for bit in DamagedBits.of(byteCount: bytes.count) {
        var changed = bytes
        changed[bit / 8] ^= UInt8(1 << (bit % 8))
        damaged.disk.replace(path, changed)
        try damaged.check(folding, expected, "bit \(bit) of \(path)")
        changeCount += 1
      }
      byteCount += bytes.count
      damaged.repair([path])
    }
    // The newest state, the one before it, and none were used, each many times.
    print("damage: \(changeCount) bits of \(byteCount) bytes, folds by their begin: \(damaged.begins)")
    #expect(byteCount > 8_000)
    guard changeCount >= byteCount else { return }
    #expect(damaged.begins.count >= 3 && damaged.begins[0]! > 200)
  }

  @Test func `a state's files may be cut at any length, and be missing`() throws {
    let damaged = try Damaged(disk(seed: 2))
    let step = DamagedBits.step == 1 ? 1 : 3
    for (path, bytes) in damaged.good.sorted(by: { $0.key < $1.key }) {
      let folding = path.hasPrefix(StateStore.folder() + "/") ? StateStore.documents : StateStore.tally
      let expected = try StateAnswers(folding: folding, of: damaged.reader)
      for length in 0..<bytes.count where length % step == 0 || length < 700 || length > bytes.count - 300 {
        damaged.disk.replace(path, Array(bytes[..<length]))
        try damaged.check(folding, expected, "\(path) has \(length) bytes")
        if length % 64 == 0 {
          damaged.disk.replace(path, bytes + [UInt8](repeating: UInt8(length % 251), count: length))
          try damaged.check(folding, expected, "\(path) has \(length) bytes more")
        }
      }
      damaged.disk.delete(path)
      try damaged.check("without \(path)")
      damaged.repair()
    }
    let before = damaged.begins
    try damaged.check("as it was")
    #expect(damaged.begins[0] == before[0] && damaged.begins[0]! > 500)
  }

  @Test func `two files of states may be exchanged, and a file may have another's number`() throws {
    let damaged = try Damaged(disk(seed: 3))
    let paths = damaged.good.keys.sorted()
    #expect(paths.count >= 6)
    for one in paths {
      for other in paths where other != one {
        damaged.disk.replace(one, damaged.good[other]!)
        try damaged.check("\(one) is a copy of \(other)")
        damaged.disk.replace(other, damaged.good[one]!)
        try damaged.check("\(one) and \(other) are exchanged")
        damaged.repair([one, other])
      }
    }
    for path in paths where path.hasSuffix(StoreLayout.pagesSuffix) {
      let folder = path.prefix(upTo: path.lastIndex(of: "/")!)
      for number: UInt32 in [1, 2, 3, 4, 5, .max] {
        damaged.disk.add("\(folder)/\(StoreLayout.pageFileName(number))", damaged.good[path]!)
        try damaged.check("\(path) is there as \(number) too")
        damaged.repair()
      }
    }
    #expect(damaged.begins[0, default: 0] > 20)
  }

  @Test func `page files of a state that differs in one value are not taken for those of another`() throws {
    let origin = try disk(seed: 6)
    let disks = try (1...2).map { number in
      let disk = origin.clone()
      let store = try StateStore.open(disk)
      try store.put("same", ["n": .int(Int64(number))])
      try store.checkpointBlocking()
      try store.closeBlocking()
      return disk
    }
    let lengths = disks.map { disk in disk.pageFiles().map { disk.contents($0)!.count } }
    #expect(lengths[0] == lengths[1])
    let damaged = try Damaged(disks[0])
    try damaged.check("as it was")
    for path in disks[1].pageFiles() { disks[0].replace(path, disks[1].contents(path)!) }
    try damaged.check("the other's pages")
    #expect(damaged.begins.count > 1)
  }

  @Test func `fault 59: files of any older state may be put back, all or some of them`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var begins: [UInt64: Int] = [:]
    let runs = StateRuns()
    while runs.next() {
      let disk = SimulatedDisk()
      var events = StateEvents(seed: random.next())
      var older: [[String: [UInt8]]] = []
      var store = try StateStore.open(disk)
      for _ in 0..<6 {
        _ = store.projector(StateStore.tally)
        for _ in 0..<3 { try events.append(to: store) }
        try store.checkpointBlocking()
        older.append(Dictionary(uniqueKeysWithValues: disk.statePaths.map { ($0, disk.contents($0)!) }))
        if Bool.random(using: &random) {
          try store.closeBlocking()
          store = try StateStore.open(disk)
        }
      }
      try store.closeBlocking()
      let damaged = try Damaged(disk)
      for files in older {
        for path in disk.statePaths { disk.delete(path) }
        for (path, bytes) in files { disk.add(path, bytes) }
        try damaged.check("all files are older")
        damaged.repair()
        for (path, bytes) in files where Bool.random(using: &random) { disk.add(path, bytes) }
        try damaged.check("some files are older")
        damaged.repair()
      }
      begins.merge(damaged.begins) { $0 + $1 }
    }
    #expect(begins.count > 10 && begins[0]! > 20, "\(begins)")
  }

  @Test func `after any damage a checkpoint writes a state that the next open uses`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns()
    while runs.isShort {
      let seed = random.next()
      let origin = try disk(seed: seed)
      for _ in 0..<20 {
        runs.add()
        let disk = origin.clone()
        let path = disk.statePaths.randomElement(using: &random)!
        let bytes = disk.contents(path)!
        let index = Int.random(in: bytes.indices, using: &random)
        let what: String
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
          what = "without \(path)"
          disk.delete(path)
        case 1..<5:
          what = "byte \(index) of \(path) is another one"
          disk.flipBit(path, 8 * index + Int.random(in: 0..<8, using: &random))
        default:
          what = "\(path) has \(index) bytes"
          disk.replace(path, Array(bytes[..<index]))
        }
        let store = try StateStore.open(disk)
        _ = store.projector(StateStore.tally)
        try store.put("x", in: "b", ["n": .int(Int64(index))])
        try store.checkpointBlocking()
        try store.closeBlocking()
        let damaged = try Damaged(disk)
        try damaged.check("seed \(seed), \(what)")
        #expect(damaged.begins == [damaged.reader.head.sequence: 2], "seed \(seed), \(what)")
      }
    }
  }

  @Test func `a page file that cannot be read is as good as none`() throws {
    let damaged = try Damaged(disk(seed: 5))
    for (path, bytes) in damaged.good {
      for start in stride(from: 0, to: bytes.count, by: 97) {
        damaged.disk.makeUnreadable(path, start..<start + 1)
        try damaged.check("byte \(start) of \(path) cannot be read")
        damaged.disk.makeReadable()
      }
    }
    #expect(damaged.begins[0, default: 0] > 10)
  }
}
