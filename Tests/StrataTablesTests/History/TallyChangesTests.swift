// The changes of a tally are sorted by their events, those that cancel are left out, and a chunk is found by its event.

internal import StrataBase
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct TallyChangesTests {
  private struct Change: Equatable {
    var distance: UInt64
    var isBirth: Bool
    var unit: UInt32
  }

  @Test func `changes are sorted as by comparing their events`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for run in 0..<500 {
      let count =
        run % 50 == 0
        ? Int.random(in: 4_000...12_000, using: &random) : Int.random(in: 0...200, using: &random)
      let most = UInt64.max >> UInt64.random(in: 1...64, using: &random)
      // Few events among many, as after an import, or distances that differ only in their high bits.
      let shift = UInt64.random(in: 0...20, using: &random)
      var expected = (0..<count).map { unit in
        Change(
          distance: (UInt64.random(in: 0...most, using: &random) >> shift) << shift,
          isBirth: Bool.random(using: &random), unit: UInt32(unit))
      }
      var changes = TallyChanges()
      for change in expected { changes.append(change.distance, isBirth: change.isBirth, unit: change.unit) }
      changes.sort()
      expected.sort { ($0.distance, $0.unit) < ($1.distance, $1.unit) }
      let sorted = (0..<changes.count).map { place in
        Change(
          distance: changes.distance(place), isBirth: changes.isBirth(place), unit: changes.unit(place))
      }
      #expect(sorted == expected, "run \(run)")
    }
  }

  @Test func `of the changes of one unit at one event, what they differ by is left`() {
    struct Place: Hashable {
      var distance: UInt64
      var unit: UInt32
    }
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for run in 0..<500 {
      let (eventCount, unitCount) = (
        UInt64.random(in: 1...40, using: &random), Int.random(in: 1...6, using: &random)
      )
      var changes = TallyChanges()
      var expected: [Place: Int] = [:]
      for unit in 0..<UInt32(unitCount) {
        for _ in 0..<Int.random(in: 0...20, using: &random) {
          let (distance, isBirth) = (
            UInt64.random(in: 0..<eventCount, using: &random), Bool.random(using: &random)
          )
          changes.append(distance, isBirth: isBirth, unit: unit)
          expected[Place(distance: distance, unit: unit), default: 0] += isBirth ? 1 : -1
        }
      }
      changes.sort()
      changes.cancel()
      var found: [Place: Int] = [:]
      var last: UInt64 = 0
      for place in 0..<changes.count {
        #expect(changes.distance(place) >= last, "run \(run)")
        last = changes.distance(place)
        found[Place(distance: last, unit: changes.unit(place)), default: 0] += changes.isBirth(place) ? 1 : -1
      }
      expected = expected.filter { $0.value != 0 }
      #expect(found == expected, "run \(run)")
      #expect(changes.count == expected.values.reduce(0) { $0 + abs($1) }, "run \(run)")
    }
  }

  @Test func `of a tally with many chunks the one is found that an event is counted from`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<50 {
      let count = Int.random(in: 1...200, using: &random)
      var firsts: Set<UInt64> = [0]
      while firsts.count < count { firsts.insert(.random(in: 1...5_000, using: &random)) }
      let ascending = firsts.sorted()
      var bytes = RawBuffer(capacity: 64)
      bytes.append(varint: 7)
      for (index, first) in ascending.enumerated() {
        KeyChunk(first: first, address: RecordAddress(offset: UInt64(100 + index), length: 20, checksum: 3))
          .append(to: &bytes)
      }
      let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
      copy.copyMemory(from: bytes.bytes)
      let index = try TallyIndex(RunRecord(taking: copy, count: copy.count, isInner: false), span: 5_000)
      #expect(index.units == 7)
      for distance in ascending + ascending.map({ $0 + 1 }) + [5_000] {
        let expected = ascending.lastIndex { $0 <= distance }!
        let found = try index.chunk(at: distance)
        #expect(found.first == ascending[expected] && found.address.offset == UInt64(100 + expected))
      }
    }
  }
}
