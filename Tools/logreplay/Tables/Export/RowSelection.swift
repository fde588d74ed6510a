// Which rows of a table an export has, and in which section each of them is.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataLists
internal import StrataTables

/// Decides for one row at a time, from its bytes, so that no list is built. Belongs to one thread.
final class RowSelection {
  /// Nil if every row is taken, in no section.
  private let list: CompiledList?
  private let isSectionedByTime: Bool
  private var key = PlacedKey()
  private var writer = SortKeyWriter()
  private(set) var problems = LeftOutRows()
  let table: String

  init(_ query: ListQuery, table: String) {
    let takesAll = query.sectionPath == nil && query.filters.isEmpty
    list = takesAll ? nil : query.list
    isSectionedByTime = query.isSectionedByTime
    self.table = table
  }

  /// Nil for a row that is not exported; otherwise its section, null where there are none.
  ///
  /// - Parameter reports: whether a row that cannot be shown is reported.
  func section(of row: RowView, reports: Bool = true) -> DocumentValue? {
    guard let list else {
      // Invalid bytes decode to the same text as others, and would be a second row with the same id.
      guard UTF8Validation.isValid(row.id) else {
        if reports { problems.add(row.id, "its id is not valid UTF-8", table) }
        return nil
      }
      return .null
    }
    key.place(row, by: list.definition, &writer)
    if let problem = key.problem, reports { problems.add(row.id, problem.what, table) }
    guard key.isShown else { return nil }
    guard list.isSectioned else { return .null }
    return key.bytes.withUnsafeBytes { bytes in
      ListState.section(
        UnsafeRawBufferPointer(rebasing: bytes[..<key.sectionLength]), isTime: isSectionedByTime)
    }
  }
}

/// The rows that an export leaves out, of which the first are named.
struct LeftOutRows {
  /// The most rows that are named.
  private static let namedMax = 5

  private(set) var count = 0
  private var lines: [String] = []

  mutating func add(_ id: UnsafeRawBufferPointer, _ what: String, _ table: String) {
    count += 1
    guard count <= Self.namedMax else { return }
    let name = PeopleText.printable("\(table)/\(String(decoding: id, as: UTF8.self))")
    lines.append("  \(name): \(PeopleText.printable(what))")
  }

  /// Adds the rows whose last event the table could not apply.
  mutating func add(_ problems: Tree, of table: String) {
    problems.forEach(in: 0..<problems.count) { id, what in
      add(id, String(decoding: what, as: UTF8.self), table)
    }
  }

  /// Names them on standard error.
  func warn() {
    guard count > 0 else { return }
    let why = count == 1 ? "because it has a problem" : "because they have problems"
    Terminal.note("logreplay: warning: \(counted(UInt64(count), "row")) left out, \(why):")
    for line in lines { Terminal.note(line) }
    if count > lines.count { Terminal.note("  and \(count - lines.count) more") }
  }
}
