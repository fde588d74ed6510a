import StrataLog
import StrataSimulation
import Testing

@Suite struct SimulatedDiskTests {
  private let models = CrashModel.allCases
  private let powerCuts: [CrashModel] = [.dropAll, .reorder, .garbage]

  /// A disk with one file that is wholly durable.
  private func disk(holding bytes: [UInt8], at path: String = "/a") -> SimulatedDisk {
    let disk = SimulatedDisk()
    disk.add(path, bytes)
    return disk
  }

  private func filled(_ value: UInt8, _ sectors: Int) -> [UInt8] {
    Array(repeating: value, count: sectors * 512)
  }

  // MARK: Bytes

  @Test func `synced bytes survive every cut`() throws {
    for isData in [false, true] {
      let disk = disk(holding: [])
      let file = try disk.open("/a", .readWrite)
      try file.write(filled(1, 8), at: 0)
      if isData { try file.syncData() } else { try file.sync() }
      #expect(disk.unsynced.isEmpty)
      for model in models {
        for seed in 0..<50 {
          #expect(disk.crash(seed: UInt64(seed), model: model).contents("/a") == filled(1, 8))
        }
      }
    }
  }

  @Test func `unsynced bytes are gone where nothing reached the medium`() throws {
    let disk = disk(holding: filled(1, 4))
    let file = try disk.open("/a", .readWrite)
    try file.write(filled(2, 8), at: 512)
    #expect(disk.unsynced == SimulatedUnsynced(sectorCount: 8, sizeCount: 1))
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == filled(1, 4))
  }

  @Test func `reordered sectors are each old or new`() throws {
    let disk = disk(holding: filled(1, 8))
    let file = try disk.open("/a", .readWrite)
    try file.write(filled(2, 8), at: 0)
    var seen: Set<[UInt8]> = []
    for seed in 0..<2_000 {
      let bytes = try #require(disk.crash(seed: UInt64(seed), model: .reorder).contents("/a"))
      let sectors = stride(from: 0, to: bytes.count, by: 512).map { Set(bytes[$0..<$0 + 512]) }
      #expect(bytes.count == 8 * 512 && sectors.allSatisfy { $0 == [1] || $0 == [2] })
      seen.insert(sectors.map { $0.first! })
    }
    // All 256 combinations can happen: a later sector without an earlier one among them.
    #expect(seen.count > 200)
    #expect(seen.contains(Array(repeating: 1, count: 8)) && seen.contains(Array(repeating: 2, count: 8)))
  }

  @Test func `a write makes only the sectors it touches uncertain`() throws {
    let disk = disk(holding: filled(1, 8))
    try disk.open("/a", .readWrite).write([9, 9], at: 511)
    #expect(disk.unsynced.sectorCount == 2)
    for seed in 0..<200 {
      let bytes = try #require(disk.crash(seed: UInt64(seed), model: .garbage).contents("/a"))
      #expect(bytes[1_024...].allSatisfy { $0 == 1 })
    }
  }

  @Test func `only garbage tears sectors`() throws {
    let disk = disk(holding: filled(1, 2))
    try disk.open("/a", .readWrite).write(filled(2, 2), at: 0)
    func isTorn(_ seed: Int, _ model: CrashModel) -> Bool {
      let bytes = disk.crash(seed: UInt64(seed), model: model).contents("/a")!
      return Set(bytes[..<512]).count > 1 || Set(bytes[512...]).count > 1
    }
    #expect((0..<200).contains { isTorn($0, .garbage) })
    #expect(!(0..<200).contains { isTorn($0, .reorder) })
  }

  @Test func `the size is anywhere between the old and the new`() throws {
    let disk = disk(holding: filled(1, 1))
    try disk.open("/a", .readWrite).write(filled(2, 1), at: 512)
    var sizes: Set<Int> = []
    for seed in 0..<500 {
      let bytes = try #require(disk.crash(seed: UInt64(seed), model: .reorder).contents("/a"))
      sizes.insert(bytes.count)
      #expect(bytes[..<512].allSatisfy { $0 == 1 })
      // The length may have reached the medium without the bytes, which then are zeros.
      #expect(bytes[512...].allSatisfy { $0 == 2 } || bytes[512...].allSatisfy { $0 == 0 })
    }
    #expect(sizes.contains(512) && sizes.contains(1_024) && sizes.count > 20)
    #expect(sizes.allSatisfy { (512...1_024).contains($0) })
  }

  @Test func `a cut is durable after sync and not after sync data`() throws {
    for isData in [false, true] {
      let disk = disk(holding: filled(1, 8))
      let file = try disk.open("/a", .readWrite)
      try file.truncate(to: 512)
      if isData { try file.syncData() } else { try file.sync() }
      let sizes = Set((0..<100).map { disk.crash(seed: UInt64($0), model: .reorder).contents("/a")!.count })
      #expect(sizes.allSatisfy { $0 >= 512 })
      #expect(isData ? sizes.contains(8 * 512) : sizes == [512])
      #expect(disk.unsynced.isEmpty == !isData)
    }
  }

  @Test func `what was cut off and not synced may come back`() throws {
    let disk = disk(holding: filled(1, 4))
    let file = try disk.open("/a", .readWrite)
    try file.truncate(to: 0)
    try file.truncate(to: 4 * 512)
    #expect(disk.contents("/a") == filled(0, 4))
    let found = Set((0..<300).map { disk.crash(seed: UInt64($0), model: .reorder).contents("/a")! })
    #expect(found.contains(filled(1, 4)) && found.contains(filled(0, 4)) && found.contains([]))
  }

  /// Against a model that remembers, for every byte, all values it may have.
  @Test func `no cut makes up bytes`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<60 {
      let disk = disk(holding: [])
      let file = try disk.open("/a", .readWrite)
      var live: [UInt8] = []
      var possible: [Set<UInt8>] = []
      var sizes = 0...0
      for _ in 0..<20 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...5:
          let offset = Int.random(in: 0...max(live.count, 600), using: &random)
          let bytes = (0..<Int.random(in: 1...900, using: &random)).map { _ in
            UInt8.random(in: 1...255, using: &random)
          }
          try file.write(bytes, at: Int64(offset))
          live += Array(repeating: 0, count: max(0, offset + bytes.count - live.count))
          live.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        case 6:
          let size = Int.random(in: 0...2_000, using: &random)
          try file.truncate(to: Int64(size))
          live = Array(live.prefix(size)) + Array(repeating: 0, count: max(0, size - live.count))
        default:
          try file.sync()
          possible = live.map { [$0] }
          sizes = live.count...live.count
        }
        while possible.count < live.count { possible.append([0]) }
        for (index, byte) in live.enumerated() { possible[index].insert(byte) }
        sizes = min(sizes.lowerBound, live.count)...max(sizes.upperBound, live.count)
        #expect(disk.contents("/a") == live)
        let seed = UInt64.random(in: 0 ... .max, using: &random)
        let left = try #require(disk.crash(seed: seed, model: .reorder).contents("/a"))
        #expect(sizes.contains(left.count))
        #expect(left.indices.allSatisfy { possible[$0].contains(left[$0]) })
      }
    }
  }

  // MARK: Names

  @Test func `a new name is durable only with its folder`() throws {
    let disk = SimulatedDisk()
    let file = try disk.put("text", at: "/a")
    try file.sync()
    #expect(disk.unsynced == SimulatedUnsynced(entryCount: 1))
    #expect(disk.crash(seed: 0, model: .dropAll).paths == [])
    let found = Set((0..<50).map { disk.crash(seed: UInt64($0), model: .reorder).paths })
    #expect(found == [[], ["/a"]])
    try disk.syncDirectory("/")
    for model in models { #expect(disk.crash(seed: 1, model: model).contents("/a") == Array("text".utf8)) }
  }

  @Test func `a removed name may come back until its folder is synced`() throws {
    let disk = disk(holding: [1])
    try disk.remove("/a")
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [1])
    try disk.syncDirectory("/")
    for model in models { #expect(disk.crash(seed: 0, model: model).paths == []) }
  }

  @Test func `a renamed file has its old name or its new or both and never none`() throws {
    let disk = disk(holding: [1], at: "/old")
    disk.add("/target", [2])
    try disk.rename("/old", to: "/target")
    let found = Set(
      (0..<200).map { seed -> [String: [UInt8]] in
        let after = disk.crash(seed: UInt64(seed), model: .reorder)
        return Dictionary(uniqueKeysWithValues: after.paths.map { ($0, after.contents($0)!) })
      }
    )
    #expect(found == [["/old": [1], "/target": [2]], ["/old": [1], "/target": [1]], ["/target": [1]]])
    try disk.syncDirectory("/")
    for model in models { #expect(disk.crash(seed: 3, model: model).contents("/target") == [1]) }
  }

  @Test func `a file moved between folders is never lost`() throws {
    for synced in [nil, "/from", "/to"] {
      let disk = disk(holding: [1], at: "/from/a")
      disk.add("/to/other", [])
      try disk.put("", at: "/to/a")
      try disk.rename("/from/a", to: "/to/a")
      if let synced { try disk.syncDirectory(synced) }
      for seed in 0..<100 {
        for model in powerCuts {
          let after = disk.crash(seed: UInt64(seed), model: model)
          #expect(after.contents("/from/a") == [1] || after.contents("/to/a") == [1])
        }
      }
      try disk.syncDirectory("/to")
      #expect(disk.crash(seed: 0, model: .dropAll).contents("/to/a") == [1])
    }
  }

  @Test func `changes of one name reach the medium in their order`() throws {
    let disk = SimulatedDisk()
    for text in ["1", "2", "3"] {
      try disk.put(text, at: "/new").sync()
      try disk.rename("/new", to: "/a")
    }
    let found = Set(
      (0..<400).map { seed in
        disk.crash(seed: UInt64(seed), model: .reorder).contents("/a").map {
          String(decoding: $0, as: UTF8.self)
        }
      }
    )
    #expect(found == [nil, "1", "2", "3"])
    try disk.syncDirectory("/")
    #expect(disk.crash(seed: 0, model: .dropAll).contents("/a") == [UInt8(ascii: "3")])
  }

  @Test func `created folders are durable`() throws {
    let disk = SimulatedDisk()
    try disk.createDirectory("/a/b/c")
    #expect(disk.unsynced.isEmpty)
    #expect(try disk.crash(seed: 0, model: .dropAll).kind(of: "/a/b/c") == .directory)
  }

  // MARK: Processes

  @Test func `a killed process loses its locks and nothing else`() throws {
    let disk = disk(holding: [1])
    let file = try disk.open("/a", .readWrite)
    #expect(try file.tryLock(.exclusive))
    try file.write([2], at: 0)
    #expect(try !disk.open("/a", .read).tryLock(.shared))
    let after = disk.crash(seed: 0, model: .lossless)
    #expect(try after.open("/a", .readWrite).tryLock(.exclusive))
    #expect(after.contents("/a") == [2])
    // It is as little on the medium as before.
    #expect(after.unsynced == disk.unsynced)
    #expect(after.crash(seed: 0, model: .dropAll).contents("/a") == [1])
  }

  @Test func `a clone and its original go their own ways`() throws {
    let disk = disk(holding: [1])
    let copy = disk.clone()
    try copy.open("/a", .readWrite).write([2], at: 0)
    #expect(disk.contents("/a") == [1])
    #expect(copy.contents("/a") == [2])
  }

  @Test func `one seed gives one disk`() throws {
    let disk = SimulatedDisk()
    for index in 0..<20 { try disk.put(String(repeating: "x", count: index * 300), at: "/\(index)") }
    for model in powerCuts {
      func left(_ seed: UInt64) -> [[UInt8]?] {
        let after = disk.crash(seed: seed, model: model)
        return (0..<20).map { after.contents("/\($0)") }
      }
      #expect(left(5) == left(5))
    }
    // The same on every machine and in every run, or no seed could be handed on.
    let after = disk.crash(seed: 5, model: .reorder)
    #expect(after.paths.map { "\($0): \(after.contents($0)!.count)" } == Self.filesOfSeedFive)
  }

  private static let filesOfSeedFive = [
    "/0: 0", "/1: 0", "/10: 0", "/11: 1761", "/12: 6", "/13: 3900", "/14: 0", "/2: 0", "/3: 405", "/4: 1127",
    "/5: 1500", "/6: 1686", "/7: 821", "/8: 1510", "/9: 2700",
  ]
}
