import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct IndexFileTests {
  @Test func `a file answers as a dictionary would`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<24 {
      let model = random.model(keys: [0, 1, 30, 400][round % 4], valueLengthMax: round < 12 ? 12 : 200)
      let target = [1, 64, 4096].randomElement(using: &random)!
      let file = try #require(try model.written(chunkLengthTarget: target).index())
      #expect(file.entryCount == model.values.count)
      for key in model.keys { #expect(try file.value(key) == model.values[key]) }
      for _ in 0..<200 {
        let key = random.key()
        #expect(try file.value(key) == model.values[key])
      }
      for _ in 0..<20 {
        let prefix = Bytes(random.key().prefix(Int.random(in: 0...8, using: &random)))
        let expected = model.keys.filter { $0.starts(with: prefix) }
        let entries = try file.entries(withPrefix: prefix)
        #expect(entries.map(\.key) == expected)
        #expect(entries.map(\.value) == expected.map { model.values[$0]! })
      }
      try file.check()
    }
  }

  @Test func `a walk begins at any key, whether the file has it or not`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for target in [1, 64, 4096] {
      let model = random.model(keys: 300, valueLengthMax: 12)
      let file = try #require(try model.written(chunkLengthTarget: target).index())
      for _ in 0..<100 {
        let start = Bool.random(using: &random) ? random.key() : model.keys.randomElement(using: &random)!
        var seen: [Bytes] = []
        try file.forEach(from: start) { key, _ in
          seen.append(Bytes(key))
          return true
        }
        #expect(seen == model.keys.filter { !$0.lexicographicallyPrecedes(start) })
      }
    }
  }

  @Test func `an id leads to its appends, those with its fingerprint included, and few others to any`() throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for count in [0, 1, 31, 32, 33, 511, 512, 513, 5_000] {
      let model = random.model(keys: 3, ids: count, valueLengthMax: 4)
      let file = try #require(try model.written().index())
      #expect(file.idCount == count)
      for hash in Set(model.ids.map(\.hash)) {
        let found = try file.candidates(forID: hash)
        #expect(found == found.sorted())
        var rest = found[...]
        for first in model.firsts(hash) {
          guard let place = rest.firstIndex(of: first) else {
            Issue.record("\(first) is not among \(found)")
            break
          }
          rest = rest[(place + 1)...]
        }
      }
      let vain = try (0..<4_000).count { _ in try !file.candidates(forID: random.next()).isEmpty }
      #expect(vain < 20, "\(vain) of 4,000")
      try file.check()
    }
  }

  @Test func `places take as many bits as the range needs, down to none`() throws {
    for span in [0, 1, 2, 255, 256, 65_535, 1 << 20, UInt64(UInt32.max)] {
      var identity = IndexIdentity.example
      identity.lastSequence = identity.firstSequence + span
      let distances = (0..<600).map { UInt32(UInt64($0) * span / 599) }
      let model = IndexModel(
        ids: distances.enumerated().map { (UInt64($0.offset + 1) &* 0x9E37_79B9_7F4A_7C15, $0.element) })
      let disk = try model.written(identity: identity)
      let file = try #require(disk.index(expecting: identity))
      for (hash, distance) in model.ids {
        #expect(try file.candidates(forID: hash).contains(identity.firstSequence + UInt64(distance)))
      }
    }
  }

  @Test func `values of megabytes come back and are read for no other key`() throws {
    var model = IndexModel()
    let large = Bytes((0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    model.values = [
      [1]: [5], [2]: large, [3]: [], [4]: Bytes(large.prefix(262_144)), [5]: Bytes(large.prefix(9_000)),
    ]
    let disk = try model.written()
    let file = try #require(disk.index())
    for key in model.keys { #expect(try file.value(key) == model.values[key]) }
    #expect(try file.entries().map(\.value) == model.keys.map { model.values[$0]! })
    let count = disk.readCount
    // The hash of the key that is there gets the absent one past the filter.
    let absent = try ([2, 0] as Bytes).withUnsafeBytes { absent in
      try ([2] as Bytes).withUnsafeBytes { try file.value(forKey: absent, hash: $0.keyHash) }
    }
    #expect(absent == nil)
    #expect(disk.readCount == count)
  }

  @Test func `a lookup reads one chunk and its neighbours none`() throws {
    var model = IndexModel()
    for number in 10_000..<11_000 { model.values[Bytes("\(number)".utf8)] = Bytes("value \(number)".utf8) }
    let disk = try model.written()
    let file = try #require(disk.index())
    #expect(disk.readCount == 4)
    #expect(try file.value(Bytes("10500".utf8)) != nil)
    #expect(try file.value(Bytes("10500".utf8)) != nil)
    #expect(disk.readCount == 5)
    #expect(try file.value(Bytes("10001".utf8)) != nil)
    #expect(disk.readCount == 6)
    #expect(disk.longestRead <= 4096)
  }

  @Test func `a walk ends when the body says so`() throws {
    var model = IndexModel()
    for number in 0..<100 { model.values[[UInt8(number)]] = [1] }
    let file = try #require(try model.written(chunkLengthTarget: 32).index())
    var seen = 0
    try file.forEach(withPrefix: []) { _, _ in
      seen += 1
      return seen < 17
    }
    #expect(seen == 17)
  }

  @Test func `what the file held before is gone`() throws {
    let garbage = Bytes(repeating: 0xAB, count: 100_000)
    let model = IndexModel(values: [[1]: [2]])
    #expect(try model.written(over: garbage).bytes == model.written().bytes)
  }

  @Test func `a file of something else is not opened`() throws {
    let disk = try IndexModel(values: [[1]: [2]]).written()
    let changes: [(inout IndexIdentity) -> Void] = [
      { $0.store.low ^= 1 }, { $0.store.high ^= 1 }, { $0.firstSequence -= 1 }, { $0.lastSequence += 1 },
      { $0.chain ^= 1 },
    ]
    for change in changes {
      var identity = IndexIdentity.example
      change(&identity)
      #expect(disk.index(expecting: identity) == nil)
    }
    #expect(disk.index() != nil)
    #expect(disk.openCount == 0)
  }

  @Test func `where there is no file none is opened`() { #expect(OneFileDisk(nil).index() == nil) }

  @Test func `a disk that fails is told apart from damage`() throws {
    let disk = try IndexModel(values: [[1]: [2]]).written()
    let file = try #require(disk.index())
    disk.state.withLock { $0.failsReads = true }
    #expect(throws: StoreError.refused("read", disk.path, code: 5)) {
      try file.value([1])
    }
    #expect(disk.index() == nil)
    disk.state.withLock { $0.failsReads = false }
    #expect(try file.value([1]) == [2])
  }

  @Test func `a write that fails reaches the caller`() throws {
    let disk = OneFileDisk()
    disk.state.withLock { $0.failsWrites = true }
    var writer = IndexFileWriter(file: disk, identity: .example)
    try writer.add([1], [2])
    var failure: StoreError?
    do { try writer.finish() } catch { failure = error }
    #expect(failure?.systemCode == 28)
  }

  @Test func `the filter lets few absent keys through and all present ones`() throws {
    var model = IndexModel()
    for number in 0..<20_000 { model.values[Bytes("order/\(number)".utf8)] = [] }
    let file = try #require(try model.written().index())
    func passes(_ key: String) -> Bool {
      Bytes(key.utf8).withUnsafeBytes { file.mayContain($0.keyHash) }
    }
    #expect((0..<20_000).allSatisfy { passes("order/\($0)") })
    let through = (20_000..<60_000).count { passes("order/\($0)") }
    #expect(through < 800, "\(through) of 40,000")
  }

  @Test func `threads may ask at the same time`() throws {
    var model = IndexModel()
    for number in 0..<2_000 { model.values[Bytes("\(number)".utf8)] = Bytes("value \(number)".utf8) }
    let file = try #require(try model.written(chunkLengthTarget: 256).index())
    let wrong = Lock(0)
    let threads = try (0..<4).map { thread in
      try DedicatedThread(name: "asking") {
        for number in 0..<2_000 {
          let number = number * (thread * 2 + 1) % 2_000
          if (try? file.value(Bytes("\(number)".utf8))) != Bytes("value \(number)".utf8) {
            wrong.withLock { $0 += 1 }
          }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test func `keys that do not ascend end the program`() async {
    await #expect(processExitsWith: .failure) {
      var writer = IndexFileWriter(file: OneFileDisk(), identity: .example)
      try writer.add([1, 2], [])
      try writer.add([1], [])
    }
    await #expect(processExitsWith: .failure) {
      var writer = IndexFileWriter(file: OneFileDisk(), identity: .example)
      try writer.add([1], [])
      try writer.add([1], [])
    }
  }
}
