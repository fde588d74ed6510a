// One row of a sectioned list changes: the time until the new list is there, and what changed in it, by Strata's
// fetch controller and by GRDB's ValueObservation.
//
// What is measured: from the beginning of the write until the program holds the new sections and the difference
// to the old ones. The row gets another section and the newest time, so that it moves. Writes, reads and waits
// are those of the public interfaces. The libraries take turns in each round, each with a store of its own.
//
// On disk both have synced the change when the write returns: SQLite with a write-ahead log and
// `synchronous = FULL`, which is more than GRDB asks for by itself, since Strata's appends do so.
//
// GRDB refetches: an observation of a constant region, prepared statements, and an index in the list's order that
// covers the query of ids. It is measured with whole rows, and with ids and sections alone, which is the least that
// a list needs, and whose rows would have to be fetched when they are shown. The difference is that of the
// standard library over the flat list of ids. It says less than Strata's batch: a row that changed in its
// place is not in it, and a move is a removal and an insertion.

internal import Foundation

@main
struct SectionedLists {
  private static let changesOfTurn = 4

  static func main() async throws {
    let numbers = CommandLine.arguments.dropFirst().map { Int($0) }
    guard numbers.allSatisfy({ $0 ?? 0 > 0 }) else {
      FileHandle.standardError.write(Data("usage: SectionedLists [ROUNDS [ROWS...]]\n".utf8))
      exit(64)
    }
    let rounds = numbers.first.flatMap { $0 } ?? 15
    let sizes = numbers.dropFirst().compactMap { $0 }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sectioned-lists-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    print("GRDB 7.10.0 over SQLite \(try ObservedTickets.version()), medians of \(rounds) rounds of turns")
    for size in sizes.isEmpty ? [10_000, 100_000] : sizes {
      try await compare(size, nil, rounds)
      try await compare(size, folder.appendingPathComponent("\(size)").path, rounds)
    }
  }

  private static func compare(_ size: Int, _ path: String?, _ rounds: Int) async throws {
    print(
      "\n\(size) rows in \(Ticket.sectionCount) sections, \(path == nil ? "in memory" : "on disk, synced")")
    var rows = Ticket.rows(size)
    var strata = try await FollowedTickets(rows, path.map { $0 + ".strata" })
    var whole = try await ObservedTickets(rows, path.map { $0 + ".rows.sqlite" }, .rows)
    var ids = try await ObservedTickets(rows, path.map { $0 + ".ids.sqlite" }, .ids)
    var times = [[Step]](repeating: [], count: 3)
    for round in 0..<rounds + 1 {
      // Spread over the list, and never twice the same.
      let changes = (0..<changesOfTurn).map { number in
        let count = round * changesOfTurn + number
        let place = (count * 7_919 + size / 2) % size
        rows[place].move(count)
        return rows[place]
      }
      let steps = [
        try await turn(changes) { try await strata.change($0) },
        try await turn(changes) { try await whole.change($0) },
        try await turn(changes) { try await ids.change($0) },
      ]
      // The first round warms up.
      if round > 0 { for (index, step) in steps.enumerated() { times[index].append(step) } }
    }
    try await strata.close()
    report("Strata: list and changes", times[0], \.whole, beside: times[0])
    report("GRDB, whole rows: list", times[1], \.list, beside: times[0])
    report("GRDB, whole rows: and changes", times[1], \.whole, beside: times[0])
    report("GRDB, ids alone: list", times[2], \.list, beside: times[0])
    report("GRDB, ids alone: and changes", times[2], \.whole, beside: times[0])
  }
  /// A turn of one library: the medians of its changes but the first, which finds the processors busy with what
  /// the library before left behind.
  private static func turn(
    _ rows: [Ticket], _ change: (Ticket) async throws -> Step
  ) async throws -> Step {
    var steps: [Step] = []
    for row in rows { steps.append(try await change(row)) }
    steps.removeFirst()
    return Step(
      write: median(steps.map(\.write)), list: median(steps.map(\.list)), whole: median(steps.map(\.whole)))
  }
}
