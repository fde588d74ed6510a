// Warnings on standard error about rows that a list leaves out, or shows by less than their whole key.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Reports which rows a list leaves out, and why.
enum ListProblems {
  /// The most rows that are reported by name.
  private static let namedMax = 5

  /// Reports the first rows that a list leaves out, for the state that leaves out the most. Returns whether there are
  /// any.
  static func report(_ states: ListState...) -> Bool {
    let counted = states.map { (state: $0, counts: ProblemCounts($0.version)) }
    guard let most = counted.max(by: { $0.counts < $1.counts })?.state else { return false }
    return report(most.version, of: most.table, at: most.sequence)
  }

  /// Reports the first rows that a list leaves out. Returns whether there are any.
  static func report(_ version: ListVersion, of table: String, at sequence: UInt64) -> Bool {
    var (leftOut, shortened) = (Rows(), Rows())
    for problems in [version.table.problems, version.view.problems] {
      problems.forEach(in: 0..<problems.count) { id, what in
        if RowProblem.isOfShownRow(what) {
          shortened.add(id, what, table)
        } else {
          leftOut.add(id, what, table)
        }
      }
    }
    leftOut.warn { count in
      "\(count) \(count == 1 ? "row is" : "rows are") left out at seq \(sequence), because a list cannot show "
        + "\(count == 1 ? "it" : "them")"
    }
    shortened.warn { count in
      "\(count) \(count == 1 ? "row has a key" : "rows have keys") too long for a list at seq \(sequence)"
    }
    return leftOut.count > 0
  }

  /// Rows of one kind, of which the first are named.
  private struct Rows {
    private(set) var count = 0
    private var lines: [String] = []

    mutating func add(_ id: UnsafeRawBufferPointer, _ what: UnsafeRawBufferPointer, _ table: String) {
      count += 1
      guard count <= namedMax else { return }
      let name = PeopleText.printable("\(table)/\(String(decoding: id, as: UTF8.self))")
      lines.append("  \(name): \(PeopleText.printable(String(decoding: what, as: UTF8.self)))")
    }

    func warn(_ what: (Int) -> String) {
      guard count > 0 else { return }
      Terminal.note("logreplay: warning: \(what(count)):")
      for line in lines { Terminal.note(line) }
      if count > lines.count { Terminal.note("  and \(count - lines.count) more") }
    }
  }
}

/// How many rows a list leaves out, and how many it shows by less than their whole key.
struct ProblemCounts: Comparable {
  private(set) var leftOut = 0
  private(set) var shortened = 0

  init() {}

  /// O(problems).
  init(_ version: ListVersion) {
    leftOut = version.table.problems.count
    let problems = version.view.problems
    problems.forEach(in: 0..<problems.count) { _, what in
      if RowProblem.isOfShownRow(what) { shortened += 1 } else { leftOut += 1 }
    }
  }

  /// More rows that are left out are more, whatever the others are.
  static func < (a: ProblemCounts, b: ProblemCounts) -> Bool {
    (a.leftOut, a.shortened) < (b.leftOut, b.shortened)
  }
}
