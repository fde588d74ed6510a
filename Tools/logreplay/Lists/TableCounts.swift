// How many rows each table holds.

internal import StrataEvents
internal import StrataTables

/// Tables with their numbers of rows, ascending by name.
struct TableCounts {
  private let counts: [(name: String, items: Int)]

  /// - Parameter all: those whose names begin with `$` too.
  init(_ set: TableSet, all: Bool) {
    counts = set.tables.filter { all || !$0.name.hasPrefix("$") }.map { ($0.name, $0.count) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// `{"table":"incident","items":n}` for each.
  var json: [[UInt8]] {
    counts.map { name, items in
      var line = JSONLine()
      line.field("table", name)
      line.field("items", items)
      return line.finish()
    }
  }

  var text: String {
    guard !counts.isEmpty else { return "none" }
    return counts.map { name, items in "\(PeopleText.printable(name)) (\(PeopleText.count(items, "item")))" }
      .joined(separator: ", ")
  }
}
