// A store's tables, rows, counts and condition, as the JSON that the commands print.

internal import ArgumentParser
internal import LogreplayEvents
package import LogreplayPoints
package import LogreplayShell
internal import StrataBase
internal import StrataDocuments
package import StrataEvents
internal import StrataLists
package import StrataLog
internal import StrataPast
internal import StrataTables

/// What a program shows of a store beside its lists. Every call blocks for as long as the disk does.
package struct StoreBrowser: Sendable {
  private let opened: OpenedStore
  private let times: TimeText

  /// The most bytes of an answer.
  private static let answerSizeMax = 8 << 20
  /// The most versions of a row that are shown.
  package static let versionCountMax = 500
  /// If more events than these are after the saved state, they are not searched for tables.
  private static let searchedMax: UInt64 = 2_000_000
  private static let categoryCountMax = 200

  package init(_ opened: OpenedStore, times: TimeText) { (self.opened, self.times) = (opened, times) }

  /// The names of the tables, and the kept lists: `"tables":[…],"lists":[{"name":…,"table":…}]`. Of a damaged log, those
  /// before the damage.
  package func addTables(to line: inout JSONLine) {
    let saved = Fold.resuming(opened.log, .documents(only: nil)).state
    var names = saved.tables.map(\.name)
    if opened.log.mark.sequence - min(saved.sequence, opened.log.mark.sequence) <= Self.searchedMax {
      names = (try? StoreTables(opened: opened).all()) ?? names
    } else {
      for found in (try? opened.log.index.names(.category, limit: Self.categoryCountMax)) ?? []
      where !names.contains(found.text) { names.append(found.text) }
    }
    line.array("tables", names.filter { !TableName.isInternal($0) }.sorted().map(Self.json))
    line.array(
      "lists",
      KeptList.all(in: saved).map { list in
        var line = JSONLine()
        line.field("name", list.name)
        line.field("table", list.table)
        line.field("sectionBy", list.sectionBy)
        return line.finish()
      })
  }

  private static func json(_ text: String) -> [UInt8] { Array(DocumentValue.string(text).json().utf8) }

  /// What `logreplay info -o json` prints; `problem` says why tables or consumers are missing.
  package func info() throws -> [UInt8] {
    var info = try StoreInfo(opened)
    let damage = info.countTables(opened, all: false) ?? info.findConsumers(opened)
    var line = JSONLine()
    line.raw("info", info.json)
    if let damage = damage ?? self.damage { line.raw("problem", damage.members) }
    return line.finish()
  }

  /// Whether the past of the documents is kept, as far as some event.
  package var hasHistory: Bool { (try? SavedHistory.all(of: opened.log))?.isEmpty == false }

  /// Why the log ends where it does; nil if it is whole.
  package var damage: CommandFailure? {
    do throws(CommandFailure) { try opened.throwDamage() } catch { return error }
    return nil
  }

  /// What `logreplay info --describe -o json` prints.
  package func fields(of table: String) throws -> [UInt8] {
    try StoreTables(opened: opened).check(table)
    return try TableDescription(opened, table).json
  }

  /// What `logreplay info --types -o json` prints.
  package func types() throws -> [UInt8] { try EventTypes(opened, all: false).json }

  /// What `logreplay log --row TABLE/ID -p -o json` prints, of many versions the last ones.
  package func row(_ id: String, of table: String) throws -> [UInt8] {
    let name = try RowName("\(table)/\(id)")
    let log = try RowLog(opened, name, EventRange(last: Self.versionCountMax))
    var writer = OutputWriter(keepingAtMost: Self.answerSizeMax)
    try RowLogText(log: log, row: name, options: OutputOptions.parse([])).writeJSON(to: &writer)
    try writer.flush()
    return writer.bytes
  }

  /// What `logreplay count -o json` prints.
  ///
  /// - Parameter words: the arguments after the store.
  package func counts(_ words: [String]) throws -> [UInt8] {
    let command: CountCommand
    do { command = try CountCommand.parse([opened.path] + words) } catch {
      throw CommandFailure(
        ExitStatus.usage, CountCommand.message(for: error), next: "correct what is to be counted")
    }
    let report = try command.report(notes: false) { () throws(CommandFailure) in opened }.report
    var writer = OutputWriter(keepingAtMost: Self.answerSizeMax)
    try report.write(as: .json, to: &writer)
    try writer.flush()
    return writer.bytes
  }

  /// A filter of events, as `logreplay log --where` takes it.
  package func condition(_ text: String) throws(CommandFailure) -> @Sendable (RecordedEvent) -> Bool {
    let condition = try EventWhere(text, times: times)
    return { condition.passes($0) }
  }

  /// What `logreplay verify -o json` prints.
  ///
  /// - Parameter progress: called with the bytes that were read, and those that there are.
  package func check(
    _ depth: VerifyDepth, progress: @escaping (UInt64, UInt64) -> Void
  ) throws(CommandFailure) -> [UInt8] {
    do throws(StoreError) {
      var verifier = LogVerifier(PosixFileSystem(), path: opened.path, depth: depth, progress: progress)
      return try verifier.run().json(nil)
    } catch { throw CommandFailure(reading: opened.path, error) }
  }
}
