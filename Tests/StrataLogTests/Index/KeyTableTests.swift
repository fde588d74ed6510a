import StrataLog
import StrataSimulation
import Testing

/// The table and what it should hold, changed side by side.
private struct KeyTablePair: ~Copyable {
  var table = KeyTable(keyCapacity: 0, eventCapacity: 0)
  var bases: [Bytes: UInt64] = [:]
  var owners: [Bytes] = []
  let hash: @Sendable (Bytes) -> UInt64

  init(hash: @escaping @Sendable (Bytes) -> UInt64) { self.hash = hash }

  func find(_ key: Bytes) -> KeyTable.EntryIndex? {
    key.withUnsafeBytes { table.find($0, hash: hash(key)) }
  }

  mutating func insert(_ key: Bytes, base: UInt64) -> KeyTable.EntryIndex {
    bases[key] = base
    let hash = hash(key)
    return key.withUnsafeBytes { table.insert($0, hash: hash, base: base) }
  }

  mutating func append(_ key: Bytes, base: UInt64) -> UInt64 {
    let entry = find(key) ?? insert(key, base: base)
    owners.append(key)
    return table.append(to: entry)
  }

  mutating func undo(_ count: Int) {
    table.undo(count)
    owners.removeLast(count)
  }

  func expectedIndices(_ key: Bytes, upTo end: Int) -> [UInt32] {
    owners.indices.filter { $0 < end && owners[$0] == key }.map { UInt32($0) }
  }

  func expectAgreement(upTo end: Int) {
    #expect(table.entryCount == bases.count)
    #expect(Int(table.eventCount) == owners.count)
    for (key, base) in bases {
      guard let index = find(key) else {
        Issue.record("\(key) is not found")
        continue
      }
      let entry = table[index]
      let all = expectedIndices(key, upTo: owners.count)
      #expect(Bytes(table.key(of: index)) == key)
      #expect(entry.base == base && entry.hash == hash(key))
      #expect(Int(entry.count) == all.count && entry.last == all.last ?? KeyTable.none)
      #expect(entry.revision == base + UInt64(all.count))
      #expect(table.eventIndices(of: index, upTo: UInt32(end)) == expectedIndices(key, upTo: end))
    }
    for (event, key) in owners.enumerated() {
      #expect(Bytes(table.key(of: table.entry(ofEvent: UInt32(event)))) == key)
    }
    let sorted = table.entriesSortedByKey().map { Bytes(table.key(of: $0)) }
    #expect(sorted == bases.keys.sorted { $0.lexicographicallyPrecedes($1) })
  }
}

/// Hashes from good to as bad as can be.
enum HashQuality: CaseIterable, Sendable {
  case good, alwaysZero, sameSlot, sameTag, onlyLength

  func hash(_ key: Bytes) -> UInt64 {
    let good = key.withUnsafeBytes { $0.keyHash }
    return switch self {
    case .good: good
    case .alwaysZero: 0
    case .sameSlot: good & ~0xFFFF_FFFF | 0xFFFF_FFFF
    case .sameTag: good & 0xFFFF_FFFF
    case .onlyLength: UInt64(key.count) &* 0x1_0000_0001
    }
  }
}

@Suite struct IndexKeyTableTests {
  @Test(arguments: HashQuality.allCases)
  func `the table agrees with a dictionary however bad the hash`(_ quality: HashQuality) {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<6 {
      var pair = KeyTablePair(hash: quality.hash)
      for _ in 0..<400 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<7:
          let key = random.key()
          let before = pair.owners.count { $0 == key }
          let base = pair.bases[key] ?? UInt64.random(in: 0...9, using: &random)
          #expect(pair.append(key, base: base) == base + UInt64(before) + 1)
        case 7:
          pair.undo(Int.random(in: 0...min(5, pair.owners.count), using: &random))
        case 8:
          let key = random.key()
          #expect((pair.find(key) != nil) == (pair.bases[key] != nil))
        default:
          let key = random.key()
          if pair.bases[key] == nil { _ = pair.insert(key, base: 3) }
        }
      }
      pair.expectAgreement(upTo: Int.random(in: 0...pair.owners.count, using: &random))
      pair.undo(pair.owners.count)
      pair.expectAgreement(upTo: 0)
    }
  }

  @Test func `an empty table finds nothing and sorts to nothing`() {
    let pair = KeyTablePair(hash: HashQuality.good.hash)
    #expect(pair.find([]) == nil)
    #expect(pair.table.entriesSortedByKey().isEmpty)
    pair.expectAgreement(upTo: 0)
  }

  @Test func `a group taken back leaves its streams as they were`() {
    var pair = KeyTablePair(hash: HashQuality.good.hash)
    #expect(pair.append([1], base: 7) == 8)
    #expect(pair.append([1], base: 7) == 9)
    #expect(pair.append([2], base: 0) == 1)
    pair.undo(2)
    #expect(pair.append([1], base: 7) == 9)
    #expect(pair.append([2], base: 0) == 1)
    pair.expectAgreement(upTo: 3)
  }

  @Test(arguments: HashQuality.allCases)
  func `keys that are removed are as if they had never been inserted`(_ quality: HashQuality) {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var pair = KeyTablePair(hash: quality.hash)
    var inserted: [Bytes] = []
    for _ in 0..<200 {
      let key = random.key()
      if pair.bases[key] == nil {
        _ = pair.insert(key, base: UInt64.random(in: 0...9, using: &random))
        inserted.append(key)
      }
      guard Int.random(in: 0..<6, using: &random) == 0 else { continue }
      let count = Int.random(in: 0...min(9, inserted.count), using: &random)
      pair.table.removeLast(count)
      for key in inserted.suffix(count) {
        pair.bases[key] = nil
        #expect(pair.find(key) == nil)
      }
      inserted.removeLast(count)
      pair.expectAgreement(upTo: 0)
    }
  }

  @Test func `thousands of keys with one beginning come out in order`() {
    var pair = KeyTablePair(hash: HashQuality.good.hash)
    let beginning = Bytes(repeating: 120, count: 300)
    for number in 0..<1_000 { _ = pair.append(beginning + Bytes("\(number * 7919 % 1_000)".utf8), base: 0) }
    let sorted = pair.table.entriesSortedByKey().map { Bytes(pair.table.key(of: $0)) }
    #expect(sorted == pair.bases.keys.sorted { $0.lexicographicallyPrecedes($1) })
  }

  @Test func `taking back more than there is ends the program`() async {
    await #expect(processExitsWith: .failure) {
      var table = KeyTable()
      table.undo(1)
    }
  }
}
