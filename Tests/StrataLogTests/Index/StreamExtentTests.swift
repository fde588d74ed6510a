// How many events a stream has, without looking at them, and the pages of a stream without all of its places.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct StreamExtentTests {
  private static let names = ["a", "b/1", "", "été", String(repeating: "x", count: 300)].map {
    Bytes($0.utf8)
  }

  /// The events of one segment, in memory and as a plain list.
  private struct Segment {
    let first: UInt64
    let index: SegmentIndex
    let bases: [Bytes: UInt64]
    var owners: [Bytes] = []

    init(_ random: inout SeededGenerator) {
      first = UInt64.random(in: 1...1_000, using: &random)
      index = SegmentIndex(of: SegmentName(first))
      bases = [Bytes: UInt64](
        uniqueKeysWithValues: names.map { ($0, UInt64.random(in: 0...3, using: &random)) })
    }

    mutating func append(to name: Bytes) throws {
      let revision = try name.withUnsafeBytes { stream throws(StoreError) in
        try index.append(to: stream, hash: XXH64.of(stream), type: stream) { bases[name]! }
      }
      owners.append(name)
      #expect(revision == bases[name]! + UInt64(owners.count { $0 == name }))
    }

    mutating func undo(_ count: Int) {
      index.undo(count)
      owners.removeLast(count)
    }

    func expectAgreement(through last: UInt64) {
      for name in names {
        let sequences = owners.indices.filter { owners[$0] == name }.map { first + UInt64($0) }
          .filter { $0 <= last }
        let (extent, places) = name.withUnsafeBytes {
          (index.extent(of: $0, through: last), index.places(of: $0, through: last))
        }
        #expect(places?.sequences ?? [] == SequenceList(sequences))
        #expect(extent?.count == places.map { UInt64($0.sequences.count) })
        #expect(extent?.base == places?.base && extent?.base ?? bases[name] == bases[name])
        #expect(extent?.revision == places?.revision)
      }
    }
  }

  @Test func `a segment counts the events of a stream up to any sequence, whatever was taken back`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<40 {
      var segment = Segment(&random)
      for _ in 0..<60 {
        if Int.random(in: 0..<8, using: &random) == 0 {
          segment.undo(Int.random(in: 0...min(4, segment.owners.count), using: &random))
        } else {
          try segment.append(to: Self.names.randomElement(using: &random)!)
        }
        let end = segment.first + UInt64(segment.owners.count)
        let any = UInt64.random(in: (segment.first - 1)...(end + 1), using: &random)
        for last in [0, segment.first - 1, any, end - 1, .max] { segment.expectAgreement(through: last) }
      }
    }
  }

  @Test func `the beginning of a value says what all of it says, and is refused where it cannot be true`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<500 {
      let first = UInt64.random(in: 1...1_000, using: &random)
      let base = [0, 7, UInt64.max - 40, .max].randomElement(using: &random)!
      let density = Int.random(in: 1...10, using: &random)
      let sequences = (first...first + 40).filter { _ in Int.random(in: 0..<10, using: &random) < density }
      guard !sequences.isEmpty else { continue }
      var value = RawBuffer(capacity: 64)
      StreamPositions(base: base, sequences: SequenceList(sequences)).encode(to: &value, firstSequence: first)
      var bytes = Bytes(value.bytes)
      let isWhole = Bool.random(using: &random)
      if !isWhole {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
        case 1:
          let place = Int.random(in: 0..<bytes.count, using: &random)
          bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default: bytes = random.bytes(Int.random(in: 0...30, using: &random))
        }
      }
      let extent = StreamExtent(decoding: bytes)
      let places = StreamPositions(decoding: bytes, firstSequence: first, lastSequence: first + 40)
      if let places {
        #expect(extent == StreamExtent(base: places.base, count: UInt64(places.sequences.count)))
      }
      if let extent {
        #expect(!extent.base.addingReportingOverflow(extent.count).overflow)
      }
      if isWhole {
        let isTooMuch = base.addingReportingOverflow(UInt64(sequences.count)).overflow
        #expect((extent == nil) == isTooMuch && (places == nil) == isTooMuch)
        if let places { #expect(places.sequences == SequenceList(sequences) && places.base == base) }
      }
    }
  }

  /// The parts of a stream as a model has them: by segment, the places behind a revision, and of these no more
  /// segments than it takes.
  private func parts(
    _ sequences: [UInt64], in segments: [SegmentName], after revision: UInt64, limit: Int
  ) -> [StreamPositions] {
    var parts: [StreamPositions] = []
    var base: UInt64 = 0
    for (place, first) in segments.enumerated() {
      let end = place + 1 < segments.count ? segments[place + 1].lastBefore : .max
      let inside = sequences.filter { $0 >= first.firstSequence && $0 <= end }
      let wanted = parts.reduce(0) { $0 + Int($1.revision - max($1.base, revision)) }
      if base + UInt64(inside.count) > revision, wanted < limit, !inside.isEmpty {
        parts.append(StreamPositions(base: base, sequences: SequenceList(inside)))
      }
      base += UInt64(inside.count)
    }
    return parts
  }

  private func expectAgreement(
    _ index: StoreIndex, _ log: Log, _ model: LogModel, _ random: inout SeededGenerator
  ) throws {
    #expect(try index.revision(of: Bytes("none".utf8)) == 0)
    #expect(try index.parts(of: Bytes("none".utf8), after: 0).isEmpty)
    let segments = log.source.catalog.names
    for (stream, sequences) in model.streams {
      let name = Bytes(stream.utf8)
      #expect(try index.revision(of: name) == UInt64(sequences.count))
      #expect(
        try index.parts(of: name, after: 0)
          == parts(sequences, in: segments, after: 0, limit: .max))
      for _ in 0..<4 {
        let revision = UInt64.random(in: 0...UInt64(sequences.count) + 1, using: &random)
        let limit = [0, 1, 2, sequences.count, -1, .max, Int.random(in: 0...sequences.count, using: &random)]
          .randomElement(using: &random)!
        #expect(
          try index.parts(of: name, after: revision, limit: limit)
            == parts(sequences, in: segments, after: revision, limit: limit),
          "\(stream) after \(revision), at most \(limit)")
      }
    }
  }

  @Test(arguments: [1, 600, 4_000, 1_000_000])
  func `every stream has the revision and the parts that a plain list has, over any number of segments`(
    segmentSize: Int
  ) throws {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let memory = MemoryFileSystem()
    let options = StoreOptions.still(segmentSize: segmentSize, blockSize: 300)
    var model = LogModel()
    var source = RandomAppends(seed: random.next(), sizeTypical: 40, sizeMax: 500, streamCount: 6)
    var log = try Log.openWriter(memory, path: "/store", options: options)
    for round in 0..<6 {
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let append = source.append()
        let outcome = try log.appendBlocking(append.draft())
        model.add(append, time: outcome.time)
        // What nobody sees yet counts for nobody.
        let stream = append.events[0].stream
        #expect(try log.index.revision(of: Bytes(stream.utf8)) == model.version(of: stream))
      }
      try expectAgreement(log.index, log, model, &random)
      if round == 2 {
        try log.close()
        log = try Log.openWriter(memory, path: "/store", options: options)
      }
      let other = try Log.openReader(memory, path: "/store", options: options)
      try expectAgreement(other.index, other, model, &random)
      let least = StoreIndex(other.source, isWriter: false, bytesMax: 0)
      try expectAgreement(least, other, model, &random)
      try other.close()
    }
    try log.close()
    for name in try memory.contents(ofDirectory: "/store/derived") {
      try memory.remove("/store/derived/\(name)")
    }
    let bare = try Log.openReader(memory, path: "/store", options: options)
    try expectAgreement(bare.index, bare, model, &random)
    try bare.close()
  }
}
