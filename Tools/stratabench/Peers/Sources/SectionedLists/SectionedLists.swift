// Measures a change of one row in a sectioned list: the time until the new list and its difference are available, with
// Strata's fetch controller and with GRDB's ValueObservation.
//
// The measured time runs from the beginning of the write until the program holds the new sections and the difference
// from the old ones. The row gets another section and the newest time, so that it moves. Writes, reads and waits use
// the public interfaces. The libraries take turns in each round, each with its own store.
//
// On disk, both have synced the change when the write returns: SQLite with a write-ahead log and
// `synchronous = FULL`, which is stricter than GRDB's default, because Strata's appends sync too.
//
// GRDB fetches the list again: with an observation of a constant region, prepared statements, and an index in the
// list's order that covers the query of ids. It is measured with whole rows, and with ids and sections only, which is
// the least that a list needs; their rows would have to be fetched when they are shown. The difference is that of the
// standard library over the flat list of ids. It holds less than Strata's batch: a row that changed in place is not in
// it, and a move is a removal and an insertion.

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
    print("GRDB 7.10.0 with SQLite \(try ObservedTickets.version()), medians of \(rounds) interleaved rounds")
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
      // Rows spread over the list, all distinct.
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
    report("GRDB, ids only: list", times[2], \.list, beside: times[0])
    report("GRDB, ids only: and changes", times[2], \.whole, beside: times[0])
  }
  /// Runs one library's turn: the medians of its changes except the first, which may be slowed down by work that the
  /// previous library left.
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
