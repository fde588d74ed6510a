// Warnings on standard error about rows that a list leaves out.

internal import ArgumentParser
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
    guard let state = states.max(by: { $0.problemCount < $1.problemCount }) else { return false }
    return report(state.version, of: state.table, at: state.sequence)
  }

  /// Reports the first rows that a list leaves out. Returns whether there are any.
  static func report(_ version: ListVersion, of table: String, at sequence: UInt64) -> Bool {
    let count = version.problemCount
    guard count > 0 else { return false }
    Terminal.note(
      "logreplay: warning: \(count) \(count == 1 ? "row is" : "rows are") left out at seq \(sequence), "
        + "because a list cannot show \(count == 1 ? "it" : "them"):")
    var left = namedMax
    for problems in [version.table.problems, version.view.problems] {
      problems.forEach(in: 0..<min(left, problems.count)) { id, what in
        left -= 1
        let name = PeopleText.printable("\(table)/\(String(decoding: id, as: UTF8.self))")
        Terminal.note("  \(name): \(PeopleText.printable(String(decoding: what, as: UTF8.self)))")
      }
    }
    if count > namedMax { Terminal.note("  and \(count - namedMax) more") }
    return true
  }
}

extension ListVersion {
  /// How many rows the list leaves out.
  var problemCount: Int { view.problems.count + table.problems.count }
}
