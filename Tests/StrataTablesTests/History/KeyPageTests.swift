// One key in a page of keys: what is counted is what a walk over the keys counts.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct KeyPageTests {
  /// Every key of a set, as a walk finds it.
  private static func records(_ keys: KeySet) throws -> [(page: Int, record: KeyRecord)] {
    var records: [(page: Int, record: KeyRecord)] = []
    for page in keys.directory.places.indices {
      var cursor = KeyCursor(keys, page: page)
      repeat {
        guard try cursor.next() else { break }
        records.append((page, try cursor.record()))
      } while !cursor.isAtEndOfPage
    }
    return records
  }

  private static func isAlive(_ record: KeyRecord, at sequence: UInt64) -> Bool {
    record.isAlive != (record.moments.count { $0 <= sequence } % 2 == 1)
  }

  @Test func `a page counts the keys before any key as a walk over them does`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = (keys: 0, others: 0, deltas: 0, gone: 0)
    let runs = StateRuns(60, isLight: true)
    while runs.next() {
      let past = try KeptPastTests.Past(&random)
      let owner = try #require(KeyOwner(past.table, past.definition))
      for run in try #require(past.historian.runs()).runs {
        for (owner, kind) in [(KeyOwner.rows, KeyOwner.Kind.rows), (owner, .items)] {
          guard let keys = try run.keySet(kind, of: owner) else { continue }
          let records = try Self.records(keys)
          let sequence = UInt64.random(in: run.root.begin...run.root.end, using: &random)
          for (page, record) in records.shuffled(using: &random).prefix(20) {
            // Keys of the page, and others that share some of their bytes.
            var key = record.key
            switch Int.random(in: 0..<4, using: &random) {
            case 0: key.append(UInt8.random(in: 0...255, using: &random))
            case 1: key.removeLast(Int.random(in: 1...key.count, using: &random))
            case 2:
              key[Int.random(in: key.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default: break
            }
            let inPage = records.filter { $0.page == page }.map(\.record)
            var count: Int64 = 0
            for other in inPage where other.key.isBefore(key) {
              count += Self.isAlive(other, at: sequence) ? 1 : 0
              if !run.root.isBase, other.isAlive { count -= 1 }
            }
            let found = try KeyPage(keys, at: page)
            let counted = try key.withUnsafeBytes { try found.count(below: $0, at: sequence) }
            let known = inPage.first { $0.key == key }
            #expect(counted.count == count, "run \(runs.count)")
            #expect(counted.isAlive == known.map { Self.isAlive($0, at: sequence) }, "run \(runs.count)")
            met.keys += known == nil ? 0 : 1
            met.others += known == nil ? 1 : 0
            met.deltas += run.root.isBase ? 0 : 1
            met.gone += counted.isAlive == false ? 1 : 0
          }
        }
      }
      try past.store.closeBlocking()
    }
    #expect(
      met.keys > 3 * runs.count && met.others > 3 * runs.count && met.deltas > runs.count
        && met.gone > runs.count / 2, "\(met)")
  }

  @Test func `the page of a key is found from any page before it`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<200 {
      let count = Int.random(in: 0...70, using: &random)
      let firsts = Set((0..<count).map { _ in UInt8.random(in: 1...250, using: &random) }).sorted()
      var bytes = RawBuffer(capacity: 64)
      for first in firsts {
        for byte in [0, 1, first] as [UInt8] { bytes.append(byte: byte) }
        RunPlace(offset: 64, length: 100, checksum: 0).append(to: &bytes)
      }
      let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
      raw.copyMemory(from: bytes.bytes)
      let directory = try KeyDirectory(decoding: RunRecord(taking: raw, count: bytes.count, isInner: false))
      for key in 0...255 as ClosedRange<UInt8> {
        let expected = firsts.lastIndex { $0 <= key }
        for start in 0...(expected ?? 0) {
          #expect(
            [key].withUnsafeBytes { directory.page(of: $0, from: start) } == expected, "\(firsts), \(key)")
        }
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
