// Saved views that no process asks for any longer.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// When a saved view is given up: it and the rows that it was made of take room in every state, so one that a program
/// stopped to use is not carried on for ever.
///
/// Nobody asked for it in the last 16 processes that saved a state, nor in the last 30 days by the times of the log. The
/// one alone says little: a program may be started every minute, or once in a season. A process that only reads leaves
/// no trace here.
enum ForgottenView {
  /// The processes in a row that saved a state and did not ask for the view.
  static let processCountMin: UInt64 = 16
  /// In nanoseconds, between the last event when the view was asked for and the last one now.
  static let timeMin: Int64 = 30 * 86_400 * 1_000_000_000
  /// The table whose rows define lists by fields, each with the list's name as its id. None of those is ever given up.
  static let definitions = "$view"
}

extension Checkpoints {
  /// The views of a state that are given up with the next checkpoint. Reads a block of the log for each that was not
  /// asked for by enough processes.
  func forgottenViews(of tables: TableSet) -> Set<TableView> {
    var forgotten: Set<TableView> = []
    for table in tables.tables {
      for case let view as ViewOnDisk in table.savedViews where isForgotten(view, tables) {
        forgotten.insert(TableView(table.name, view.kept))
      }
    }
    return forgotten
  }

  private func isForgotten(_ view: ViewOnDisk, _ tables: TableSet) -> Bool {
    guard view.unaskedCount >= ForgottenView.processCountMin, let now = tables.time else { return false }
    // Own times may go back, and the clock of the next process may be wrong.
    guard let asked = try? log.append(holding: view.sequence)?.ownTime, now > asked,
      now.subtractingReportingOverflow(asked).overflow || now - asked >= ForgottenView.timeMin
    else { return false }
    return !(name.isOfDocuments && tables[ForgottenView.definitions].hasRow(view.kept.name))
  }
}

extension Table {
  fileprivate func hasRow(_ id: String) -> Bool {
    Array(id.utf8).withUnsafeBytes { id in withRow(id) { $0 != nil } }
  }
}
