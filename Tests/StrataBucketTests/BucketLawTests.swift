// The laws of a carrier under random faults of a bucket.

internal import StrataBase
@testable internal import StrataBucket
internal import StrataReplica
internal import StrataSimulation
internal import Testing

@Suite struct BucketLawTests {
  /// How many histories an ordinary run has.
  private static let usual = 300

  /// One writer, and what it was told.
  private struct Writer {
    let carrier: BucketCarrier
    /// What was called stored: the bytes by their numbers.
    var stored: [UInt64: [UInt8]] = [:]
    /// What was called refused.
    var refused: [[UInt8]] = []
    var next: UInt64 = 1
  }

  /// The numbers that are taken, whether without a hole.
  private func numbers(_ carrier: BucketCarrier, in fake: FakeBucket) -> [UInt64] {
    fake.objects.keys.compactMap { key in
      key.hasPrefix(carrier.place.key("log/")) ? UInt64(key.suffix(20)) : nil
    }.sorted()
  }

  @Test func `each number has one winner, none is left out, and what was called stored is there`() throws {
    var (stores, takes, unknowns) = (0, 0, 0)
    for seed in SeededGenerator.historySeeds(Self.usual) {
      var random = SeededGenerator(seed: seed)
      let fake = FakeBucket()
      fake.change { state in
        state.random = random.split()
        state.faults = .all([0.02, 0.1, 0.3].randomElement(using: &random)!)
      }
      var writers = try (0..<3).map { _ in Writer(carrier: try BucketCarrier(fake: fake)) }
      var texts: [String] = []
      for step in 0..<40 {
        let who = writers.indices.randomElement(using: &random)!
        if Int.random(in: 0..<8, using: &random) == 0 {
          // Begins again, as after a restart, from what a list says.
          writers[who] = Writer(
            carrier: try BucketCarrier(fake: fake), stored: writers[who].stored, refused: writers[who].refused
          )
          do throws(CarrierError) {
            let extent = try writers[who].carrier.extent()
            #expect(extent.missing == [], "seed \(seed)")
            writers[who].next = extent.last + 1
          } catch { texts.append("\(error)") }
        }
        let count = UInt64.random(in: 1...4, using: &random)
        let objects = (0..<count).map {
          CarrierObject(writers[who].next + $0, "writer \(who) step \(step) object \($0)")
        }
        let answer = writers[who].carrier.put(objects)
        texts.append("\(answer)")
        let passed: Int
        switch answer {
        case .stored:
          passed = objects.count
          stores += 1
        case .stopped(let count, let stop):
          passed = count
          switch stop {
          case .taken:
            takes += 1
            #expect(
              fake.objects[writers[who].carrier.place.key(Self.path(objects[count].number))] != nil,
              "seed \(seed)")
            // What is there may be its own, from a try without an answer.
            writers[who].next += 1
          case .unknown: unknowns += 1
          case .refused: writers[who].refused.append(objects[count].bytes)
          }
        }
        for object in objects.prefix(passed) {
          #expect(writers[who].stored.updateValue(object.bytes, forKey: object.number) == nil, "seed \(seed)")
        }
        writers[who].next += UInt64(passed)
        let found = numbers(writers[0].carrier, in: fake)
        #expect(found == Array(1..<UInt64(found.count + 1)), "seed \(seed): a hole in \(found)")
      }
      fake.settle()
      let found = numbers(writers[0].carrier, in: fake)
      #expect(found == Array(1..<UInt64(found.count + 1)), "seed \(seed): a hole in \(found)")
      for (who, writer) in writers.enumerated() {
        for (number, bytes) in writer.stored {
          #expect(fake.objects[writer.carrier.place.key(Self.path(number))]?.bytes == bytes, "seed \(seed)")
          for other in writers[(who + 1)...] {
            #expect(other.stored[number] == nil, "seed \(seed): two winners")
          }
        }
        for bytes in writer.refused {
          #expect(!fake.objects.values.contains { $0.bytes == bytes }, "seed \(seed)")
        }
      }
      #expect(
        !texts.contains(where: Secret.isIn) && fake.violations.isEmpty, "seed \(seed) \(fake.violations)")
    }
    #expect(stores > 0 && takes > 0 && unknowns > 0)
  }

  private static func path(_ number: UInt64) -> String {
    let digits = String(number)
    return "log/" + String(repeating: "0", count: 20 - digits.utf8.count) + digits
  }

  @Test func `of eight threads that put an object under a number, one wins`() throws {
    let fake = FakeBucket()
    let carriers = try (0..<8).map { _ throws(CarrierError) in try BucketCarrier(fake: fake) }
    for number in UInt64(1)...100 {
      let winners = Lock<[Int]>([])
      Parallel(threads: .system, threadCountMax: 8).forEach(below: 8) { writer in
        guard carriers[writer].put([CarrierObject(number, "\(writer)")]) == .stored else { return }
        winners.withLock { $0.append(writer) }
      }
      let found = winners.withLock { $0 }
      #expect(found.count == 1)
      #expect(try carriers[0].object(number)?.bytes == found.first.map { Array("\($0)".utf8) })
    }
  }

  @Test func `a read is what is there, or an error, whatever befalls it`() throws {
    var errors = 0
    for seed in UInt64(1)...100 {
      let fake = FakeBucket()
      let carrier = try BucketCarrier(fake: fake, pageLength: 2)
      #expect(carrier.put((1...5).map { CarrierObject($0, "object \($0)") }) == .stored)
      fake.change { state in
        state.random = SeededGenerator(seed: seed)
        state.faults = .all(0.15)
      }
      for number in UInt64(1)...7 {
        do throws(CarrierError) {
          let bytes = try carrier.object(number)?.bytes
          #expect(bytes == (number <= 5 ? Array("object \(number)".utf8) : nil), "seed \(seed)")
          #expect(try carrier.hasObject(number) == (number <= 5), "seed \(seed)")
          #expect(try carrier.extent() == CarrierExtent(of: 1...5), "seed \(seed)")
        } catch { errors += 1 }
      }
    }
    #expect(errors < 100)
  }
}
