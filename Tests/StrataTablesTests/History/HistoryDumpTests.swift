// What a dump shows of the files of a history: all that is in them, and of damaged ones what is wrong.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
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

  /// All that the dump of a history says, as lines.
  private static func lines(_ dump: HistoryDump) throws -> [String] {
    let manifest = try dump.manifest()
    var lines = ["\(manifest)"]
    for run in manifest.runs {
      try dump.forEachEntry(of: run, in: manifest) { entry in
        switch entry {
        case .row(let number, let table, let id): lines.append("row \(number) of \(table): \(Array(id))")
        case .version(let sequence, let time, let kind, let bytes):
          lines.append("\(sequence) \(time) \(kind) \(Array(bytes))")
        default: lines.append("\(entry)")
        }
      }
    }
    return lines
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
    let expected = try Self.lines(Self.dump(origin))
    let folder = "\(StateStore.layout.histories)/\(StateName(StateStore.documents)!.folder)/"
    var wrong = 0
    for path in origin.historyPaths where path.hasPrefix(folder) {
      let bytes = origin.contents(path)!
      for bit in stride(from: 0, to: 8 * bytes.count, by: 61) {
        let disk = origin.clone()
        if bit % 3 == 0 { disk.replace(path, Array(bytes[..<(bit / 8)])) } else { disk.flipBit(path, bit) }
        do {
          #expect(try Self.lines(Self.dump(disk)) == expected, "bit \(bit) of \(path)")
        } catch let problem as HistoryDump.Problem {
          #expect(path.hasSuffix(problem.file) && !problem.what.isEmpty, "bit \(bit) of \(path)")
          wrong += 1
        }
      }
      let disk = origin.clone()
      disk.delete(path)
      #expect(throws: HistoryDump.Problem.self) { try Self.lines(Self.dump(disk)) }
    }
    #expect(wrong > 20, "\(wrong)")
  }
}
