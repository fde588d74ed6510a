// What the indexes say of streams, categories and types, next to a plain scan of the log: over rolls, reopens, saved
// indexes, and derived files that are missing, cut or changed.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

/// What a scan of the log finds: the sequences of each name.
private struct ScannedNames {
  var sequences: [IndexedKind: [Bytes: [UInt64]]] = [.stream: [:], .category: [:], .type: [:]]
  var ids: [Bytes: UInt64] = [:]
  var last: UInt64 = 0

  init(_ log: Log) throws {
    var cursor = log.cursor(after: 0)
    while let block = try cursor.next() {
      try block.forEachAppend { append, first in
        if append.id.count > 0 { ids[Bytes(append.id)] = first }
      }
      try block.forEachEvent { event, _, sequence in
        last = sequence
        let stream = Bytes(event.stream)
        sequences[.stream]![stream, default: []].append(sequence)
        sequences[.category]![Bytes(stream.prefix { $0 != 0x2F }), default: []].append(sequence)
        sequences[.type]![Bytes(event.type), default: []].append(sequence)
      }
    }
  }

  func names(_ kind: IndexedKind, prefix: Bytes = []) -> [IndexedName] {
    sequences[kind]!.filter { $0.key.starts(with: prefix) }
      .map { IndexedName(name: $0.key, count: UInt64($0.value.count)) }
      .sorted { $0.name.lexicographicallyPrecedes($1.name) }
  }
}

@Suite struct IndexNamesTests {
  /// Compares everything that an index answers with a scan.
  private func expectAgreement(
    _ index: StoreIndex, _ scan: ScannedNames, _ random: inout SeededGenerator, _ what: String
  ) throws {
    for kind in IndexedKind.allCases {
      #expect(try index.names(kind, limit: .max) == scan.names(kind), "\(what)")
      try expectPages(index, kind, scan, &random, what)
      try expectPlaces(index, kind, scan, &random, what)
    }
    for (stream, sequences) in scan.sequences[.stream]! {
      #expect(try index.revision(of: stream) == UInt64(sequences.count), "\(what)")
      let places = try index.parts(of: stream, after: 0).flatMap { Array($0.sequences) }
      #expect(places == sequences, "\(what)")
    }
    for (id, first) in scan.ids { #expect(try index.first(ofID: id) == first, "\(what)") }
    #expect(try index.first(ofID: Bytes("absent".utf8)) == nil, "\(what)")
    #expect(try Set(index.ids(prefix: [], limit: .max)) == Set(scan.ids.keys))
  }

  private func expectPages(
    _ index: StoreIndex, _ kind: IndexedKind, _ scan: ScannedNames, _ random: inout SeededGenerator,
    _ what: String
  ) throws {
    let prefix = Bytes(
      scan.sequences[kind]!.keys.randomElement(using: &random)?.prefix(Int.random(in: 0...3, using: &random))
        ?? [])
    let limit = Int.random(in: 1...4, using: &random)
    var found: [IndexedName] = []
    while true {
      let page = try index.names(kind, prefix: prefix, after: found.last?.name, limit: limit)
      found += page
      if page.count < limit { break }
    }
    #expect(found == scan.names(kind, prefix: prefix), "\(what)")
  }

  private func expectPlaces(
    _ index: StoreIndex, _ kind: IndexedKind, _ scan: ScannedNames, _ random: inout SeededGenerator,
    _ what: String
  ) throws {
    let all = scan.sequences[kind]!
    var names = all.keys.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    if Bool.random(using: &random) { names.append(Bytes("absent/name".utf8)) }
    let start = UInt64.random(in: 0...scan.last + 2, using: &random)
    let wanted = names.flatMap { all[$0] ?? [] }.filter { $0 > start }.sorted()
    var covered: [ClosedRange<UInt64>] = []
    var position = start
    while true {
      let (ranges, through) = try index.places(of: names, kind, after: position)
      #expect(ranges.allSatisfy { $0.lowerBound > position && $0.upperBound <= through }, "\(what)")
      covered += ranges
      guard through > position else { break }
      position = through
    }
    #expect(position == max(start, scan.last), "\(what)")
    #expect(zip(covered, covered.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }, "\(what)")
    #expect(wanted.allSatisfy { sequence in covered.contains { $0.contains(sequence) } }, "\(what)")
    if kind == .stream { #expect(covered.flatMap { Array($0) } == wanted, "\(what)") }

    var cursor = IndexedCursor(index, kind, of: names, after: start)
    var pulled: [UInt64] = []
    while true {
      let before = cursor.lastSequence
      guard let block = try cursor.next() else { break }
      try block.forEachEvent { event, _, sequence in
        let name: Bytes =
          switch kind {
          case .stream: Bytes(event.stream)
          case .category: Bytes(Bytes(event.stream).prefix { $0 != 0x2F })
          case .type: Bytes(event.type)
          }
        if sequence > before, names.contains(name) { pulled.append(sequence) }
      }
    }
    #expect(pulled == wanted, "\(what)")
  }

  /// Appends with few names, so that they recur in other segments, and bare ones that are categories too.
  private func append(_ number: Int, _ random: inout SeededGenerator) -> ModelAppend {
    let categories = ["a", "a-b", "b", "", "été", "a/"]
    let events = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      let category = categories.randomElement(using: &random)!
      let id = Int.random(in: 0..<5, using: &random)
      let stream = id == 0 && !category.isEmpty ? category : "\(category)/\(id)"
      return ModelEvent(
        stream: stream, type: ["t", "$put", "u-\(id)"].randomElement(using: &random)!,
        payload: Bytes(repeating: 7, count: Int.random(in: 0...60, using: &random)))
    }
    return ModelAppend(events, id: Bool.random(using: &random) ? "id-\(number)" : nil)
  }

  /// Removes, cuts or changes some derived files.
  private func harm(_ disk: SimulatedDisk, _ random: inout SeededGenerator) {
    for path in disk.paths where path.hasPrefix("/store/derived/") {
      guard let bytes = disk.contents(path) else { continue }
      switch Int.random(in: 0..<6, using: &random) {
      case 0: disk.delete(path)
      case 1: disk.replace(path, Bytes(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))))
      case 2 where !bytes.isEmpty: disk.flipBit(path, Int.random(in: 0..<bytes.count * 8, using: &random))
      default: break
      }
    }
  }

  @Test(arguments: SeededGenerator.historySeeds(20, share: 26))
  func `indexes answer what a scan of the log finds, whatever became of the derived files`(round: UInt64)
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed() &+ round &* 1_000_003)
    for history in 0..<26 {
      let disk = SimulatedDisk()
      let segmentSize = [1, 600, 2_000, 1 << 20].randomElement(using: &random)!
      var options = StoreOptions.still(.buffered, segmentSize: segmentSize, blockSize: 200)
      options.savedIndexEventsMin = [1, 5, 4096].randomElement(using: &random)!
      options.writesInStep = Bool.random(using: &random)
      var number = 0
      for opening in 0..<Int.random(in: 1...3, using: &random) {
        let log = try Log.openWriter(disk, path: "/store", options: options)
        for _ in 0..<Int.random(in: 0...12, using: &random) {
          number += 1
          _ = try log.appendBlocking(append(number, &random).draft())
        }
        if Int.random(in: 0..<6, using: &random) == 0 { _ = try log.seal() }
        let scan = try ScannedNames(log)
        let what = "round \(round), history \(history), opening \(opening)"
        try expectAgreement(log.index, scan, &random, what + ", the writer")
        let reader = try Log.openReader(disk, path: "/store", options: options)
        try expectAgreement(reader.index, scan, &random, what + ", a reader beside it")
        if opening > 0, Bool.random(using: &random) {
          harm(disk, &random)
          try expectAgreement(reader.index, scan, &random, what + ", a reader whose files were harmed")
          try expectAgreement(log.index, scan, &random, what + ", a writer whose files were harmed")
        }
        try reader.close()
        try log.close()
        if Bool.random(using: &random) { harm(disk, &random) }
        let after = try Log.openReader(disk, path: "/store", options: options)
        try expectAgreement(after.index, scan, &random, what + ", a reader after it")
        try after.close()
      }
    }
  }

  @Test func `a small index with any byte changed gives no wrong answer`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var options = StoreOptions.still(.buffered, segmentSize: 600, blockSize: 200)
    options.savedIndexEventsMin = 1
    let disk = SimulatedDisk()
    let log = try Log.openWriter(disk, path: "/store", options: options)
    for number in 0..<12 { _ = try log.appendBlocking(append(number, &random).draft()) }
    let scan = try ScannedNames(log)
    try log.close()
    let paths = disk.paths.filter { $0.hasPrefix("/store/derived/") }.sorted()
    #expect(paths.count >= 2)
    // The index of a closed segment, and the saved one of the active segment.
    for path in [paths.first!, paths.last!] {
      let whole = disk.contents(path)!
      for place in whole.indices {
        var bytes = whole
        bytes[place] ^= UInt8(1 << (place % 8))
        disk.replace(path, bytes)
        let reader = try Log.openReader(disk, path: "/store", options: options)
        try expectAgreement(reader.index, scan, &random, "byte \(place) of \(path)")
        try reader.close()
      }
      disk.replace(path, whole)
    }
  }
}
