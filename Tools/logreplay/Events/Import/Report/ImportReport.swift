// The report of an import, for people and for programs.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataLog

/// The counts of one import.
package struct ImportReport: Equatable {
  /// What is counted: lines, or commits.
  var unit = "lines"
  var read: UInt64 = 0
  var appended: UInt64 = 0
  /// Already in the store.
  var known: UInt64 = 0
  /// Bad lines that were skipped.
  package var skipped: UInt64 = 0
  /// Times that were earlier than the time before them, and were raised to it.
  var raised: UInt64 = 0
  /// Times that are ahead of the clock by more than a day, and were taken.
  var ahead: UInt64 = 0
  /// Lines that were appended after newer ones of their source.
  var late: UInt64 = 0
  /// Lines with a number that was rounded.
  var rounded: UInt64 = 0
  /// Records that a mapping passed over.
  var passed: UInt64 = 0
  /// Whether something that is no line was left out, which was said.
  package var isPart = false
  /// The first and the last appended sequence; nil if nothing was appended.
  var first: UInt64?
  var last: UInt64?
  /// The appended events of each table, in the order in which the tables came.
  var tables: [ImportTableCounts] = []
  /// What only an import of a git history counts.
  var git: ImportGitCounts?
  /// What only an import of events counts.
  var events: ImportEventCounts?

  /// The most tables that are counted one by one.
  static let tablesMax = 100

  /// Adds the results of appends.
  mutating func add(_ progress: AppendRun.Progress) {
    appended += progress.appended
    known += progress.known
    raised += progress.raised
    first = first ?? progress.first
    last = progress.last ?? last
  }

  /// Counts an event that is appended.
  mutating func count(_ kind: ImportRow.Kind, in table: String) {
    let known = tables.firstIndex { $0.name == table }
    // Where records name their tables, there may be any number of them.
    let index = known ?? (tables.count > Self.tablesMax ? Self.tablesMax : tables.count)
    let table = known == nil && index == Self.tablesMax ? "further tables" : table
    if index == tables.count { tables.append(ImportTableCounts(name: table)) }
    tables[index].add(kind)
  }

  package var json: String {
    let numbers = [
      ("read", read), ("appended", appended), ("known", known), ("skipped", skipped), ("first", first),
      ("last", last), ("raised", raised), ("ahead", ahead), ("late", late), ("rounded", rounded),
    ].map { name, number in "\"\(name)\":" + (number.map { String($0) } ?? "null") }
    let passed = passed == 0 ? [] : ["\"passed\":\(passed)"]
    let tables = tables.isEmpty ? [] : ["\"tables\":[\(tables.map(\.json).joined(separator: ","))]"]
    return "{\"schema\":1,"
      + (numbers + passed + tables + (git?.json ?? []) + (events?.json ?? [])).joined(separator: ",") + "}"
  }

  package var short: String {
    var text = "\(counted(read, String(unit.dropLast()))) read, \(appended) appended"
    if let first, let last {
      text += first == last ? " as sequence \(first)" : " as sequences \(first)…\(last)"
    }
    text += ", \(known) known, \(skipped) skipped"
    if let events { return text + events.short(raised: raised) }
    if let git { return text + git.short(raised: raised, ahead: ahead) }
    if raised > 0 { text += ", \(counted(raised, "time")) raised to the one before" }
    if ahead > 0 { text += ", \(counted(ahead, "time")) ahead of the clock" }
    if late > 0 { text += ", \(counted(late, "line")) applied late" }
    if rounded > 0 { text += ", \(counted(rounded, "line")) with a rounded number" }
    if passed > 0 { text += ", \(passed) passed over by the mapping" }
    for table in tables { text += "\n  \(table.short)" }
    return text
  }
}

/// The events of one table that an import appended.
struct ImportTableCounts: Equatable {
  var name: String
  var put: UInt64 = 0
  var merged: UInt64 = 0
  var deleted: UInt64 = 0

  init(name: String) { self.name = name }

  mutating func add(_ kind: ImportRow.Kind) {
    switch kind {
    case .put: put += 1
    case .merge: merged += 1
    case .delete: deleted += 1
    }
  }

  private var counts: [(word: String, count: UInt64)] {
    [("put", put), ("merged", merged), ("deleted", deleted)]
  }

  var json: String {
    let name = DocumentValue.string(name).json()
    return "{\"table\":\(name)," + counts.map { "\"\($0.word)\":\($0.count)" }.joined(separator: ",") + "}"
  }

  var short: String {
    PeopleText.printable(name) + ": "
      + counts.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
  }
}
