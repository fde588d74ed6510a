// Lists of sequences and ranges of them, as an index keeps them, next to plain arrays.

import StrataBase
import StrataSimulation
import Testing

@testable import StrataLog

@Suite struct SequenceRangesTests {
  /// Ascending sequences with gaps of all kinds.
  private static func sequences(_ count: Int, _ random: inout SeededGenerator) -> [UInt64] {
    let gaps: [UInt64] = [1, 1, 2, 64, 65, 128, 129, 1_000]
    let few = gaps.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
    var next = UInt64.random(in: 1...1_000, using: &random)
    return (0..<count).map { _ in
      next += few.randomElement(using: &random)!
      return next
    }
  }

  /// Ranges whose distance is more than a number.
  private static func united(_ sequences: [UInt64], _ distance: UInt64) -> [ClosedRange<UInt64>] {
    var ranges: [ClosedRange<UInt64>] = []
    for sequence in sequences {
      if let last = ranges.last, sequence - last.upperBound <= distance {
        ranges[ranges.count - 1] = last.lowerBound...sequence
      } else {
        ranges.append(sequence...sequence)
      }
    }
    return ranges
  }

  @Test func `ranges are the runs, or as few as an index keeps, united with the least distance`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for count in [1, 2, 10, 255, 256, 257, 600, 3_000] {
      for _ in 0..<20 {
        let sequences = Self.sequences(count, &random)
        var ranges = SequenceRanges()
        for sequence in sequences { ranges.add(sequence) }
        var distance: UInt64 = 1
        while Self.united(sequences, distance).count > SequenceRanges.rangesMax {
          distance = distance == 1 ? 64 : distance * 2
        }
        #expect(ranges.ranges == Self.united(sequences, distance))
        let start = UInt64.random(in: 0...sequences.last! + 1, using: &random)
        let rest = ranges.after(start).ranges
        #expect(rest.allSatisfy { $0.lowerBound > start })
        #expect(sequences.filter { $0 > start }.allSatisfy { one in rest.contains { $0.contains(one) } })
      }
    }
  }

  @Test func `what is written of ranges and lists comes back, and nothing outside of the segment`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for count in [1, 2, 3, 40, 700] {
      for _ in 0..<20 {
        let sequences = Self.sequences(count, &random)
        // One sequence more, so that there is a smaller segment too.
        let (first, last) = (sequences.first! - 1, sequences.last!)
        var names = RawBuffer(capacity: 64)
        var ranges = SequenceRanges()
        for sequence in sequences { ranges.add(sequence) }
        let places = NamePositions(count: UInt64(count), ranges: ranges)
        places.encode(to: &names, firstSequence: first)
        #expect(NamePositions(decoding: Bytes(names.bytes), in: first...last) == places)
        #expect(NamePositions.count(decoding: names.bytes) == UInt64(count))
        #expect(NamePositions(decoding: Bytes(names.bytes), in: first...last - 1) == nil)

        var value = RawBuffer(capacity: 64)
        StreamPositions(base: 3, sequences: SequenceList(sequences)).encode(to: &value, firstSequence: first)
        let decoded = StreamPositions(
          decoding: Bytes(value.bytes), firstSequence: first, lastSequence: last)
        #expect(decoded.map { Array($0.sequences) } == sequences)
        #expect(decoded?.sequences.runs == Self.united(sequences, 1))
        #expect(
          StreamPositions(decoding: Bytes(value.bytes), firstSequence: first, lastSequence: last - 1) == nil)
        #expect(StreamExtent(decoding: Bytes(value.bytes))?.count == UInt64(count))
      }
    }
  }

  @Test func `a stream that has a segment for itself takes a few bytes of its index`() {
    var value = RawBuffer(capacity: 64)
    let sequences = SequenceList(Array(1_001...200_000))
    StreamPositions(base: 0, sequences: sequences).encode(to: &value, firstSequence: 1_001)
    #expect(value.count < 10)
    var single = RawBuffer(capacity: 64)
    StreamPositions(base: 0, sequences: [1_100]).encode(to: &single, firstSequence: 1_001)
    #expect(single.count == 2)
  }

  @Test func `a list answers as an array does, whatever of it are runs`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for count in [0, 1, 2, 50, 300] {
      let sequences = Self.sequences(count, &random)
      var list = SequenceList()
      for run in Self.united(sequences, 1) {
        let isAdded = list.add(run)
        #expect(isAdded)
      }
      #expect(Array(list) == sequences && list == SequenceList(sequences))
      #expect(list.first == sequences.first && list.last == sequences.last && list.count == count)
      #expect(Array(list.reversed()) == sequences.reversed())
      let skipped = Int.random(in: 0...count, using: &random)
      #expect(Array(list[skipped...].prefix(7)) == Array(sequences[skipped...].prefix(7)))
    }
    var huge = SequenceList()
    let (isFirst, isSecond) = (huge.add(1...UInt64(Int.max)), huge.add(.max - 1 ... .max))
    #expect(isFirst && !isSecond)
  }
}
