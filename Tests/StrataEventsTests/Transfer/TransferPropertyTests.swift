// Events out and in again: nothing is lost, whatever a store holds.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct TransferPropertyTests {
  @Test func `fault 120: an empty store that takes all lines of a store has its chain after every event`()
    async throws
  {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    for round in 0..<5 {
      let store = try TransferStores.random(&random)
      let lines = try TransferStores.lines(store)
      let disk = SimulatedDisk()
      let other = try TransferStores.open(disk)
      let piece = Int.random(in: 1...5_000, using: &random)
      let report = try TransferStores.take(lines, into: other, piece: piece)
      #expect(report.relation == .same && report.known == 0, "seed \(seed), round \(round)")
      #expect(
        try TransferStores.chains(other) == TransferStores.chains(store), "seed \(seed), round \(round)")
      #expect(try await TransferStores.appends(other) == TransferStores.appends(store), "seed \(seed)")
      #expect(other.id != store.id)
      // What came in goes out as it was, except for the id of the store.
      let again = try TransferStores.lines(other)
      #expect(again.eventLines == lines.eventLines, "seed \(seed), round \(round)")
      let repeated = try TransferStores.take(lines, into: other)
      #expect(repeated.appended == 0 && repeated.known == report.appendsRead && repeated.relation == .same)
      try other.closeBlocking()
      #expect(try disk.findings(inStore: TransferStores.root).isEmpty, "seed \(seed), round \(round)")
      // Rewritten, it is still the same.
      let reopened = try TransferStores.open(disk)
      _ = try reopened.sealBlocking()
      #expect(try TransferStores.lines(reopened).eventLines == lines.eventLines)
      try reopened.closeBlocking()
      #expect(try disk.findings(inStore: TransferStores.root).isEmpty, "seed \(seed), round \(round)")
    }
  }

  @Test func `an import that ends after any part of the lines goes on with the next one`() throws {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    for round in 0..<4 {
      let store = try TransferStores.random(&random)
      let lines = try TransferStores.lines(store)
      let other = try TransferStores.open(SimulatedDisk())
      for _ in 0..<3 {
        let part = Array(lines.prefix(Int.random(in: 0..<lines.count, using: &random)))
        let importer = try EventImporter(into: other, source: nil)
        try part.lendBytes { bytes throws(StoreError) in try importer.take(bytes) }
        // A part without the last line is refused, and what it had is there. The last line needs no line feed.
        if part.count == lines.count - 1 {
          _ = try importer.finish()
        } else if !part.isEmpty {
          #expect(throws: StoreError.self) { _ = try importer.finish() }
        }
        importer.abandon()
      }
      let head = other.head.sequence
      let report = try TransferStores.take(lines, into: other)
      #expect(report.relation == .same, "seed \(seed), round \(round)")
      #expect(report.sequences.map { $0.lowerBound == head + 1 } ?? (head == store.head.sequence))
      #expect(
        try TransferStores.chains(other) == TransferStores.chains(store), "seed \(seed), round \(round)")
    }
  }

  @Test
  func
    `fault 120: lines that are missing, repeated, moved or changed are refused, and nothing of them is there`()
    throws
  {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let store = try TransferStores.random(&random, appends: 25)
    let chains = try TransferStores.chains(store)
    let lines = try TransferStores.lines(store).splitLines
    for round in 0..<80 {
      var damaged = lines
      let place = Int.random(in: 1..<lines.count, using: &random)
      switch round % 4 {
      case 0: damaged.remove(at: place)
      case 1: damaged.insert(lines[place], at: place)
      case 2:
        let other = place == 1 ? 2 : place - 1
        damaged.swapAt(place, other)
      default:
        let byte = Int.random(in: 0..<damaged[place].count, using: &random)
        damaged[place][byte] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        if damaged[place].contains(0x0A) { continue }
      }
      let other = try TransferStores.open(SimulatedDisk())
      let bytes = damaged.joinedLines
      do {
        let report = try TransferStores.take(bytes, into: other)
        // A change that means the same, as another case of a hex digit, or a digit of a time beyond nanoseconds.
        #expect(report.relation == .same && round % 4 == 3, "seed \(seed), round \(round)")
        #expect(try TransferStores.chains(other) == chains, "seed \(seed), round \(round)")
      } catch let error as StoreError {
        let isNamed = error.what.contains("line")
        #expect(isNamed, "\(error.what), seed \(seed), round \(round)")
        let found = try TransferStores.chains(other)
        #expect(found == Array(chains.prefix(found.count)), "\(error.what), seed \(seed), round \(round)")
      }
    }
  }

  @Test func `fault 121: a part of a store is added to another one once, with times, ids and whole appends`()
    async throws
  {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    for round in 0..<4 {
      let store = try TransferStores.random(&random)
      let all = try await TransferStores.appends(store)
      let first = all.randomElement(using: &random)!.sequences.upperBound
      let last = all.randomElement(using: &random)!.sequences.upperBound
      let lines = try TransferStores.lines(
        store, from: .sequence(min(first, last)), to: .sequence(max(first, last)))
      let other = try TransferStores.open(SimulatedDisk())
      try other.appendBlocking([NewEvent("first", in: "of/its", .int(1))])
      let report = try TransferStores.take(lines, into: other)
      #expect(report.relation == .added)
      let wanted = all.filter {
        $0.sequences.lowerBound > min(first, last) && $0.sequences.upperBound <= max(first, last)
      }
      .map { append in append.events.filter { $0.stream.category.first != "$" && $0.state == .whole } }
      .filter { !$0.isEmpty }
      let found = try await TransferStores.appends(other).dropFirst().map(\.events)
      #expect(found.count == wanted.count, "seed \(seed), round \(round)")
      for (a, b) in zip(found, wanted) {
        #expect(a.map(\.stream) == b.map(\.stream) && a.map(\.type) == b.map(\.type))
        #expect(a.map(\.payload) == b.map(\.payload) && a.map(\.time) == b.map(\.time))
        #expect(a.map(\.metadataBytes) == b.map(\.metadataBytes))
      }
      let head = other.head
      let again = try TransferStores.take(lines, into: other)
      #expect(again.appended == 0 && again.known == report.appended && other.head == head, "seed \(seed)")
    }
  }

  @Test func `lines of chosen events are those of the events that a feed of the same choice has`()
    async throws
  {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let store = try TransferStores.random(&random)
    for selection in [EventSelection.category("a"), .types("opened", "$put"), .stream("漢"), .all] {
      var wanted: [UInt64] = []
      for try await append in store.feed(of: selection, until: .caughtUp) {
        wanted += append.events.map(\.sequence)
      }
      var bytes: [UInt8] = []
      for try await piece in store.export(selection) { bytes += piece }
      let lines = try bytes.splitLines.map { try DocumentValue(json: $0) }
      let found = lines.dropFirst().dropLast().map { line -> DocumentValue? in
        guard case .object(let object) = line else { return nil }
        return object["sequence"]
      }
      #expect(found == wanted.map { DocumentValue($0) }, "seed \(seed)")
      // They are added to an empty store too: it cannot have their sequences.
      let other = try TransferStores.open(SimulatedDisk())
      let report = try await other.importEvents(from: store.export(selection))
      #expect(report.relation == .added && report.eventsRead == UInt64(wanted.count))
    }
  }

  @Test func `a writer may append while the lines are read, which end where the log ended`() async throws {
    let store = try TransferStores.open(SimulatedDisk())
    for number in 0..<400 { try store.appendBlocking([NewEvent("n", in: "a/1", .int(Int64(number)))]) }
    let other = try TransferStores.open(SimulatedDisk())
    let chain = try store.log.chain(after: 400)
    var number: Int64 = 400
    var export = store.export().makeAsyncIterator()
    let importer = try EventImporter(into: other, source: nil)
    while let piece = try await export.next() {
      number += 1
      try await store.append([NewEvent("n", in: "a/1", .int(number))])
      try piece.lendBytes { bytes throws(StoreError) in try importer.take(bytes) }
    }
    _ = try importer.finish()
    #expect(other.head.sequence == 400)
    #expect(try other.log.chain(after: 400) == chain)
  }
}
