// The number of rows of each table.

internal import LogreplayShell
internal import StrataEvents
internal import StrataTables

/// The names of tables and their numbers of rows, ascending by name.
struct TableCounts {
  private let counts: [(name: String, items: Int)]

  /// - Parameter all: whether tables whose names begin with `$` are included.
  init(_ set: TableSet, all: Bool) {
    counts = set.tables.filter { all || !TableName.isInternal($0.name) }.map { ($0.name, $0.count) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// `{"table":"incident","items":n}` for each table.
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
