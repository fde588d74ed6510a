// What a dump shows of the files of a history: all that is in them, and of damaged ones what is wrong.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryDumpTests {
  private static func filled(_ disk: SimulatedDisk, seed: UInt64) throws -> (EventStore, RunSet) {
    var random = SeededGenerator(seed: seed)
    let store = try StateStore.open(disk, options: HistoryStore.keyOptions(&random))
    var events = StateEvents(seed: seed)
    for _ in 0..<40 { try events.append(to: store) }
    let historian = store.projector(StateStore.documents).historian!
    historian.keep(StateKeptViewTests.definition("counted", .key, calls: .keys), of: "b")
    try historian.recordBlocking()
    return (store, try #require(historian.runs()))
  }

  private static func dump(_ disk: SimulatedDisk) -> HistoryDump {
    HistoryDump(disk, StateStore.layout, folder: StateName(StateStore.documents)!.folder)
  }

  /// All that the dump of a history says, as bytes. Text by reflection took a tenth of the time of all these suites.
  private static func bytes(_ dump: HistoryDump) throws -> [UInt8] {
    let manifest = try dump.manifest()
    var all = Array("\(manifest)".utf8)
    func add(_ tag: UInt8, _ numbers: [UInt64] = [], _ parts: [any Collection<UInt8>] = []) {
      all.append(tag)
      for number in [UInt64(numbers.count)] + numbers + parts.map({ UInt64($0.count) }) {
        withUnsafeBytes(of: number) { all.append(contentsOf: $0) }
      }
      for part in parts { all.append(contentsOf: part) }
    }
    for run in manifest.runs {
      try dump.forEachEntry(of: run, in: manifest) { entry in
        switch entry {
        case .root(let root): add(0, [], ["\(root)".utf8])
        case .table(let number, let first, let name): add(1, [UInt64(number), first], [name.utf8])
        case .failure(let sequence, let what): add(2, [sequence], [what.utf8])
        case .row(let number, let table, let id): add(3, [number, UInt64(table)], [id])
        case .version(let sequence, let time, let kind, let bytes):
          add(4, [sequence, UInt64(bitPattern: time)], ["\(kind)".utf8, bytes])
        case .event(let sequence, let time, let endsAppend, let hasFailed, let rows):
          let flags: [UInt64] = [endsAppend ? 1 : 0, hasFailed ? 1 : 0]
          add(5, [sequence, UInt64(bitPattern: time)] + flags + rows.map(UInt64.init))
        case .keys(let keys): add(6, [], ["\(keys)".utf8])
        case .section(let section, let count): add(7, [UInt64(bitPattern: count)], [section])
        case .key(let key): add(8, [key.isAlive ? 1 : 0] + key.moments, [key.section, key.sort, key.id])
        }
      }
    }
    return all
  }

  @Test func `a dump shows every run, row, version and event`() throws {
    let seed = SeededGenerator.testSeed()
    let disk = SimulatedDisk()
    let (store, runs) = try Self.filled(disk, seed: seed)
    let dump = Self.dump(disk)
    #expect(
      try HistoryDump.folders(disk, StateStore.layout).contains(StateName(StateStore.documents)!.folder))
    let manifest = try dump.manifest()
    #expect(manifest.storeID == store.log.storeID && manifest.runs.map(\.number) == runs.runs.map(\.number))
    #expect(manifest.runs.map(\.end) == runs.runs.map(\.root.end))
    for (run, reader) in zip(manifest.runs, runs.runs) {
      var counts: (rows: UInt64, versions: UInt64, events: UInt64, tables: Int) = (0, 0, 0, 0)
      var (sets, keys): ([HistoryDump.Keys], [HistoryDump.Key]) = ([], [])
      var sections: Int64 = 0
      try dump.forEachEntry(of: run, in: manifest) { entry in
        switch entry {
        case .root(let root): #expect(root.isBase == reader.root.isBase && root.end == run.end)
        case .table: counts.tables += 1
        case .failure: break
        case .row: counts.rows += 1
        case .version: counts.versions += 1
        case .event: counts.events += 1
        case .keys(let set): sets.append(set)
        case .section(_, let count): sections += count
        case .key(let key): keys.append(key)
        }
      }
      let roots = reader.keys.flatMap(\.sets)
      #expect(sets.map(\.kind) == roots.map { "\($0.kind)" } && sets.map(\.keys) == roots.map(\.count))
      #expect(sets.filter { $0.owner != 0 }.map(\.kind) == ["items", "unplaced"])
      #expect(UInt64(keys.count) == roots.map(\.count).reduce(0, +))
      #expect(sections == sets.first { $0.kind == "items" }?.count)
      #expect(keys.allSatisfy { $0.isAlive || !$0.moments.isEmpty })
      #expect(counts.rows == reader.root.rowCount && counts.versions == reader.root.versionCount)
      #expect(counts.events == run.end - run.begin && counts.tables == reader.tables.count)
    }
    try store.closeBlocking()
  }

  @Test
  func `of files with any other byte, or cut short, a dump says what is wrong, or shows what was written`()
    throws
  {
    let origin = SimulatedDisk()
    let (store, _) = try Self.filled(origin, seed: 7)
    try store.closeBlocking()
    let expected = try Self.bytes(Self.dump(origin))
    let folder = "\(StateStore.layout.histories)/\(StateName(StateStore.documents)!.folder)/"
    var wrong = 0
    for path in origin.historyPaths where path.hasPrefix(folder) {
      let bytes = origin.contents(path)!
      for bit in stride(from: 0, to: 8 * bytes.count, by: 61) {
        let disk = origin.clone()
        if bit % 3 == 0 { disk.replace(path, Array(bytes[..<(bit / 8)])) } else { disk.flipBit(path, bit) }
        do {
          #expect(try Self.bytes(Self.dump(disk)) == expected, "bit \(bit) of \(path)")
        } catch let problem as HistoryDump.Problem {
          #expect(path.hasSuffix(problem.file) && !problem.what.isEmpty, "bit \(bit) of \(path)")
          wrong += 1
        }
      }
      let disk = origin.clone()
      disk.delete(path)
      #expect(throws: HistoryDump.Problem.self) { try Self.bytes(Self.dump(disk)) }
    }
    #expect(wrong > 20, "\(wrong)")
  }
}
