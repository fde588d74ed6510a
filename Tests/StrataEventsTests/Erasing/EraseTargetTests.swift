// Which events an order means: many ranges and streams, against asking each of them about each event.

import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct EraseTargetTests {
  /// Single sequences and ranges, in no order: apart, side by side, one over the other, the same twice.
  private func ranges(
    upTo head: UInt64, _ random: inout StrataSimulation.SeededGenerator
  ) -> [ClosedRange<UInt64>] {
    var ranges: [ClosedRange<UInt64>] = []
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      let first = UInt64.random(in: 1...head, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0, 1: ranges.append(first...first)
      case 2: ranges.append(first...min(head, first + UInt64.random(in: 0...6, using: &random)))
      case 3:
        guard let last = ranges.last?.upperBound, last < head else { continue }
        ranges.append(last + 1...min(head, last + 1 + UInt64.random(in: 0...2, using: &random)))
      default: ranges += ranges.randomElement(using: &random).map { [$0] } ?? []
      }
    }
    if Int.random(in: 0..<8, using: &random) == 0 { ranges.append(1...head) }
    return ranges.shuffled(using: &random)
  }

  @Test(arguments: [1, 900, 6_000, 1_000_000])
  func `many ranges and streams take the content of exactly the events that one of them means`(
    segmentSize: Int
  ) throws {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    for _ in 0..<4 {
      var options = EraseTests.options()
      options.segmentSizeTarget = segmentSize
      let disk = SimulatedDisk()
      let store = try EraseTests.open(disk, options)
      var streams: [StreamName] = []
      var isErased: [Bool] = []
      for _ in 0..<3 {
        for _ in 0..<Int.random(in: 1...25, using: &random) {
          let names = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            StreamName("s/\(Int.random(in: 0..<12, using: &random))")
          }
          try store.appendBlocking(names.map { NewEvent("t", in: $0, .string("content")) })
          streams += names
          isErased += names.map { _ in false }
        }
        let head = UInt64(streams.count)
        var erasure = Erasure(sequences: ranges(upTo: head, &random), because: "asked to")
        for name in Set(streams) where name != "$erasures" && Int.random(in: 0..<6, using: &random) == 0 {
          erasure.streams += [name, name]
        }
        if erasure.streams.isEmpty, erasure.sequences.isEmpty { erasure.sequences = [head...head] }
        var count: UInt64 = 0
        for place in streams.indices where !isErased[place] && streams[place] != "$erasures" {
          let sequence = UInt64(place + 1)
          guard
            erasure.sequences.contains(where: { $0.contains(sequence) })
              || erasure.streams.contains(streams[place])
          else { continue }
          isErased[place] = true
          count += 1
        }
        #expect(try store.erasableCountBlocking(erasure) == count, "SEED=\(seed)")
        #expect(try store.eraseBlocking(erasure).eventCount == count, "SEED=\(seed)")
        // The order and the note that it is done.
        streams += ["$erasures", "$erasures"]
        isErased += [false, false]
        for place in streams.indices {
          let sequence = UInt64(place + 1)
          let append = try #require(try store.appendBlocking(holding: sequence))
          let event = try #require(append.events.first { $0.sequence == sequence })
          #expect(event.stream == streams[place])
          #expect((event.state == .erased) == isErased[place], "event \(sequence), SEED=\(seed)")
        }
      }
      try store.closeBlocking()
      #expect(try EraseTests.findings(disk).isEmpty, "SEED=\(seed)")
    }
  }
}
