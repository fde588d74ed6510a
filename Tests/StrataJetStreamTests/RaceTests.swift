// Writers that compete, over a broker at its worst.

internal import ReplicaSchedules
internal import StrataBase
@testable internal import StrataJetStream
internal import StrataReplica
internal import StrataSimulation
internal import StrataTesting
internal import Testing

@Suite struct RaceTests {
  /// How many histories an ordinary run has.
  private static let usual = 200

  /// What a writer puts: its name, its window, and its place in it.
  private struct Mark: Equatable {
    var writer: Int
    var window: Int
    var index: Int
    var count: Int

    var bytes: [UInt8] {
      Array("\(writer) \(window) \(index) \(count) \(String(repeating: "x", count: index * 90))".utf8)
    }

    init(writer: Int, window: Int, index: Int, count: Int) {
      (self.writer, self.window, self.index, self.count) = (writer, window, index, count)
    }

    init?(_ bytes: [UInt8]) {
      let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ").prefix(4).compactMap {
        Int($0)
      }
      guard numbers.count == 4 else { return nil }
      self.init(writer: numbers[0], window: numbers[1], index: numbers[2], count: numbers[3])
    }
  }

  private struct Broken: Error { var what: String }

  /// Has writers put windows in random order. Returns how many windows were stored, and how many were taken.
  private func race(seed: UInt64, _ faults: MemoryBroker.Faults) throws -> (stored: Int, taken: Int) {
    var random = SeededGenerator(seed: seed)
    let broker = MemoryBroker()
    // Objects with a large index have parts.
    broker.state.withLock { $0.sizeMax = 300 + (1 << 10) }
    let carriers = try (0..<3).map { _ in try broker.carrier(messageSizeLeast: 0) }
    try carriers[0].prove()
    broker.setFaults(faults, seed: seed)
    var next = [UInt64](repeating: 1, count: carriers.count)
    var promised: [UInt64: [UInt8]] = [:]
    var (stored, taken) = (0, 0)
    for window in 0..<60 {
      let writer = Int.random(in: 0..<carriers.count, using: &random)
      let carrier = carriers[writer]
      let count = Int.random(in: 1...5, using: &random)
      let objects = (0..<count).map { index in
        CarrierObject(
          number: next[writer] + UInt64(index),
          bytes: Mark(writer: writer, window: window, index: index, count: count).bytes)
      }
      let answer = carrier.put(objects)
      if answer == .stored {
        for object in objects { promised[object.number] = object.bytes }
        next[writer] += UInt64(count)
        stored += 1
      } else {
        if case .stopped(let count, _) = answer, count > 0 {
          throw Broken(what: "a part of a window was stored")
        }
        if case .stopped(_, .taken) = answer { taken += 1 }
        // As a writer does that was overtaken: reads up to the end, and goes on there.
        if let last = try? carrier.extent().last { next[writer] = last + 1 }
      }
      let number = UInt64.random(in: 1...max(1, next.max()!), using: &random)
      if let expected = promised[number], let found = try? carrier.object(number)?.bytes, found != expected {
        throw Broken(what: "object \(number) is another than was stored")
      }
    }
    broker.setFaults(.init(), seed: seed)
    broker.deliverAll()
    try check(broker, promised)
    return (stored, taken)
  }

  private func check(_ broker: MemoryBroker, _ promised: [UInt64: [UInt8]]) throws {
    let reader = try broker.carrier(messageSizeLeast: 0)
    let extent = try reader.extent()
    if !extent.missing.isEmpty { throw Broken(what: "there is a hole") }
    var marks: [Mark] = []
    for number in 1...max(1, extent.last) {
      guard let found = try reader.object(number) else { throw Broken(what: "object \(number) is missing") }
      if let expected = promised[number], expected != found.bytes {
        throw Broken(what: "what was called stored under \(number) is not there")
      }
      guard let mark = Mark(found.bytes) else {
        throw Broken(what: "object \(number) was not put by anybody")
      }
      marks.append(mark)
    }
    if let last = promised.keys.max(), last > extent.last {
      throw Broken(what: "\(last) was called stored, and is not there")
    }
    var rest = marks[...]
    while let first = rest.first {
      let whole = (0..<first.count).map {
        Mark(writer: first.writer, window: first.window, index: $0, count: first.count)
      }
      if Array(rest.prefix(first.count)) != whole {
        throw Broken(what: "a window is not in one piece: \(rest.prefix(5))")
      }
      rest = rest.dropFirst(first.count)
    }
  }

  @Test
  func
    `of competing writers one wins each number, windows stay in one piece, and what is called stored is there`()
    throws
  {
    var (stored, taken) = (0, 0)
    for seed in SeededGenerator.historySeeds(Self.usual) {
      do {
        let counts = try race(seed: seed, .all([0, 0.05, 0.2][Int(seed % 3)]))
        stored += counts.stored
        taken += counts.taken
      } catch {
        Issue.record("\(error), seed \(seed)")
        return
      }
    }
    #expect(stored > 1000 && taken > 1000)
  }

  @Test func `the race sees a broker that ignores fences, and one that stores parts of batches`() {
    var ignoring = MemoryBroker.Faults.all(0.2)
    ignoring.ignoresFences = true
    var cutting = MemoryBroker.Faults.all(0.2)
    cutting.storesPartsOfBatches = true
    for faults in [ignoring, cutting] {
      #expect((0..<20).contains { (try? race(seed: $0, faults)) == nil })
    }
  }

  @Test(arguments: 0..<5)
  func `whole machines keep the laws of copies over a broker at its worst`(part: Int) throws {
    for seed in SeededGenerator.historySeeds(Self.usual / 10, share: 10) {
      let seed = seed &* 5 &+ UInt64(part)
      let broker = MemoryBroker()
      broker.state.withLock { $0.sizeMax = 900 + (1 << 10) }
      let carrier = try broker.carrier(messageSizeLeast: 0)
      try carrier.prove()
      var schedule = try ReplicaSchedule(seed: seed, carrier: carrier) { isOn in
        broker.setFaults(isOn ? .all(seed % 3 == 0 ? 0.3 : 0.1) : .init(), seed: seed)
      }
      do { try schedule.run(steps: 150) } catch {
        Issue.record("\(error), seed \(seed)")
        return
      }
    }
  }
}
