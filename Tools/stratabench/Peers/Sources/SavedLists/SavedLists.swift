// Measures a list that is on disk, with Strata's kept lists and with SQLite through GRDB: from the start of a process
// to the first page, random rows, a change and the page after it, and what is written for a large row.
//
// Both have the same rows and give the same pages, as values of the same type, through public interfaces. Processes
// take turns in each round. The programs stay in the system's page cache; the files of the stores are dropped from it
// where that is said.

internal import Foundation

@main
struct SavedLists {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == Probe.mark { return try await Probe.main(Array(arguments.dropFirst())) }
    let numbers = arguments.map { Int($0) }
    guard numbers.allSatisfy({ $0 ?? 0 > 0 }) else {
      FileHandle.standardError.write(Data("usage: SavedLists [ROUNDS [ROWS...]]\n".utf8))
      exit(64)
    }
    let rounds = numbers.first.flatMap { $0 } ?? 15
    let sizes = numbers.dropFirst().compactMap { $0 }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("saved-lists-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    print(
      "GRDB 7.10.0, medians of \(rounds) interleaved rounds: Strata, SQLite, and SQLite relative to Strata")
    for size in sizes.isEmpty ? [100_000, 1_000_000] : sizes {
      try await Comparison(folder, size, rounds).run()
    }
    try compareLargeRows(folder)
  }

  /// The bytes that are written for a thousand changes of a row of 1 MB, each synced, with the first page after it.
  private static func compareLargeRows(_ folder: URL) throws {
    print("\na row of 1 MB, changed \(Probe.changeCount) times")
    for (name, probe) in [("one field of it", Probe.largeField), ("its text", .largeText)] {
      let strata = try probe.run(StrataIncidents.self, folder.appendingPathComponent("\(name).strata").path)
      let sqlite = try probe.run(SQLiteIncidents.self, folder.appendingPathComponent("\(name).sqlite").path)
      report("\(name): seconds", strata["large"], sqlite["large"], "%.2f")
      report("\(name): MB written", strata["written"], sqlite["written"], "%.1f", scale: 1e-6)
    }
  }
}

/// The same rows in a store of each library.
private struct Comparison {
  private let strata: String
  private let sqlite: String
  private let size: Int
  private let rounds: Int

  init(_ folder: URL, _ size: Int, _ rounds: Int) {
    strata = folder.appendingPathComponent("\(size).strata").path
    sqlite = folder.appendingPathComponent("\(size).sqlite").path
    (self.size, self.rounds) = (size, rounds)
  }

  func run() async throws {
    print("\n\(size) rows in \(Incident.sectionCount) sections")
    try await fill(StrataIncidents.self, strata)
    try await fill(SQLiteIncidents.self, sqlite)
    report("bytes a row, of state or database", bytes("\(strata)/derived/state"), bytes(sqlite), "%.0f")
    report("bytes a row, all files", bytes(strata), bytes(sqlite), "%.0f")
    for isCached in [true, false] { try starts(isCached: isCached) }
    try randomRows()
    try await changes()
    for path in [strata, sqlite] { try FileManager.default.removeItem(atPath: path) }
  }

  private func fill<Library: SavedIncidents>(_ library: Library.Type, _ path: String) async throws {
    let store = try await Library(path, access: .write)
    for start in stride(from: 0, to: size, by: 10_000) {
      try await store.put(Incident.rows(start..<min(size, start + 10_000)))
    }
    try await store.keepList()
    try await store.close()
  }

  /// From the start of a process to its end, and in it from the opening of the store to the page and to the numbers of
  /// rows of all sections.
  private func starts(isCached: Bool) throws {
    var times: [(strata: Probe.Figures, sqlite: Probe.Figures)] = []
    for _ in 0..<rounds {
      if !isCached { for path in [strata, sqlite] { dropFromPageCache(path) } }
      times.append(
        (try Probe.page.run(StrataIncidents.self, strata), try Probe.page.run(SQLiteIncidents.self, sqlite)))
    }
    print(isCached ? "  files in the system's page cache" : "  files not in the system's page cache")
    for (key, name, format, scale) in [
      ("page", "  the first page, ms", "%.2f", 1e3), ("counts", "  and the section counts, ms", "%.2f", 1e3),
      ("whole", "  the whole process, ms", "%.1f", 1e3),
      ("processor", "  its processor time, ms", "%.1f", 1e3),
      ("peak", "  its memory, MiB", "%.1f", 1 / Double(1 << 20)),
    ] {
      report(
        name, median(times.compactMap { $0.strata[key] }), median(times.compactMap { $0.sqlite[key] }),
        format,
        scale: scale)
    }
  }

  private func randomRows() throws {
    var times: (strata: [Double], sqlite: [Double]) = ([], [])
    for _ in 0..<min(rounds, 5) {
      times.strata.append(
        try Probe.rows.run(StrataIncidents.self, strata, rows: size)["rows"] ?? .nan)
      times.sqlite.append(
        try Probe.rows.run(SQLiteIncidents.self, sqlite, rows: size)["rows"] ?? .nan)
    }
    report(
      "a random row, µs", median(times.strata), median(times.sqlite), "%.1f",
      scale: 1e6 / Double(Probe.readCount))
  }

  /// A change that makes a row the first one of the list, synced, and the first page after it; and then the numbers of
  /// rows of all sections, too.
  private func changes() async throws {
    let stores = (
      try await StrataIncidents(strata, access: .write), try await SQLiteIncidents(sqlite, access: .write)
    )
    var pages: (strata: [Double], sqlite: [Double]) = ([], [])
    var counts = pages
    for number in 0..<rounds * 10 {
      var row = Incident.rows(number * 7_919 % size..<number * 7_919 % size + 1)[0]
      row.product = Incident.product(0)
      row.time = 20_000_000 + number
      let first = try await change(stores.0, row)
      let second = try await change(stores.1, row)
      // The first round reads what later ones find in memory.
      guard number >= 10 || rounds == 1 else { continue }
      pages.strata.append(first.page)
      pages.sqlite.append(second.page)
      counts.strata.append(first.counts)
      counts.sqlite.append(second.counts)
    }
    try await stores.0.close()
    try await stores.1.close()
    report("a change, and the first page, µs", median(pages.strata), median(pages.sqlite), "%.0f", scale: 1e6)
    report("  and the section counts, µs", median(counts.strata), median(counts.sqlite), "%.0f", scale: 1e6)
  }

  private func change(
    _ store: some SavedIncidents, _ row: Incident
  ) async throws -> (page: Double, counts: Double) {
    let start = ContinuousClock.now
    let page = try await store.changeAndShow(row)
    let time = start.seconds
    precondition(page.first?.id == row.id, "the changed row is the first one")
    let counts = try await store.sectionCounts()
    let whole = start.seconds
    precondition(counts.count == Incident.sectionCount, "the list is whole")
    return (time, whole)
  }

  private func bytes(_ path: String) -> Double { Double(bytesOnDisk(path)) / Double(size) }
}

private func report(_ name: String, _ strata: Double?, _ sqlite: Double?, _ format: String, scale: Double = 1)
{
  guard let strata, let sqlite else { return }
  print(
    "  " + name.padding(toLength: 36, withPad: " ", startingAt: 0)
      + String(format: "\(format)   \(format)   %.2f ×", strata * scale, sqlite * scale, sqlite / strata))
}
