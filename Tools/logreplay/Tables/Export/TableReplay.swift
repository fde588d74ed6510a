// The states of one table at points of the log, without a list over them.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// A table at a point.
struct TableState {
  var table: Table
  var point: ResolvedPoint
  /// The chain after the point's sequence.
  var chain: UInt64
}

/// Makes states in the order of the log, from what a history or a saved state has of them. Blocks; belongs to one thread.
///
/// Memory is bounded: rows that are not in a saved state go to a file without a name beyond a number of bytes.
final class TableReplay {
  let opened: OpenedStore
  let table: String
  private let past: PastReader

  init(_ opened: OpenedStore, table: String) {
    (self.opened, self.table) = (opened, table)
    past = PastReader(opened.store, .documents(only: [table]))
  }

  /// The table at a point. Points must be requested in the order of the log.
  func state(at point: ResolvedPoint) throws -> TableState {
    let fold: Fold
    do throws(StoreError) { fold = try past.fold(at: point.sequence) } catch { throw opened.failure(error) }
    guard fold.state.sequence == point.sequence else {
      try opened.throwDamage()
      throw opened.failure(.closed)
    }
    if !fold.state.contains(table) { try StoreTables(opened: opened).check(table) }
    let chain: UInt64?
    do throws(StoreError) { chain = try opened.log.chain(after: point.sequence) } catch {
      throw opened.failure(error)
    }
    guard let chain else { throw opened.failure(.closed) }
    return TableState(table: fold.state[table], point: point, chain: chain)
  }
}

/// The rows that an export has, in its order: those of a list, or those of a table, ascending by their ids' UTF-8.
enum ExportRows {
  case list(ListState)
  case table(TableState, RowSelection)

  /// How many rows there are at most.
  var countMax: Int {
    switch self {
    case .list(let list): list.count
    case .table(let state, _): state.table.count
    }
  }

  /// Lends each row with its section, which is null where there are none. May be called again.
  ///
  /// - Parameter reports: whether rows that are left out are reported.
  func forEach(reports: Bool, _ body: (RowView, DocumentValue) throws -> Void) throws {
    switch self {
    case .list(let list):
      for place in 0..<list.version.sectionCount {
        let section = list.section(at: place)
        try list.forEachRow(inSectionAt: place, 0..<list.shownCount(ofSectionAt: place)) { row in
          try body(row, section)
        }
      }
    case .table(let state, let selection):
      try state.table.forEachRow { (row) throws in
        if let section = selection.section(of: row, reports: reports) { try body(row, section) }
      }
    }
  }
}
