// The states of a table that an application's projection saved.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// The table at the points at which it is known: where it was saved, and wherever its history has it. Blocks; belongs to
/// one thread.
final class SavedReplay {
  private let opened: OpenedStore
  private let table: String
  /// The list that is shown; nil if rows alone are read.
  private let view: ViewDefinition?
  private var saved: SavedTables
  /// Whether an earlier state may be shown in place of one that is not known.
  private let takesEarlier: Bool
  /// The table at the point that was last requested, with the list's view.
  private(set) var state = TableSet()
  private var isBegun = false

  init(
    _ opened: OpenedStore, _ saved: SavedTables, table: String, view: ViewDefinition?, takesEarlier: Bool
  ) {
    (self.opened, self.saved, self.table, self.view) = (opened, saved, table, view)
    self.takesEarlier = takesEarlier
  }

  /// Goes to a point, or to the newest one before it that is known, if that may be shown. Returns its sequence.
  func move(to sequence: UInt64) throws(CommandFailure) -> UInt64 {
    // Before the first event, every table is empty.
    if sequence < opened.log.mark.logBegin, opened.log.mark.logBegin == 1 {
      (state, isBegun) = (TableSet(), true)
      addView()
      return 0
    }
    guard let known = saved.point(notAfter: sequence), known == sequence || takesEarlier else {
      throw unknown(sequence)
    }
    if known < sequence {
      Terminal.note(
        "logreplay: warning: \(name) had saved '\(PeopleText.printable(table))' last at seq \(known), before seq "
          + "\(sequence): this is the table as of seq \(known); a history, which the program keeps, has it at every point"
      )
    }
    try go(to: known)
    return known
  }

  private func go(to sequence: UInt64) throws(CommandFailure) {
    if isBegun, state.sequence == sequence { return }
    do throws(StoreError) {
      state = try saved.tables(table, at: sequence, from: isBegun && state.sequence > 0 ? state : nil)
    } catch { throw opened.failure(error) }
    isBegun = true
    addView()
  }

  private func addView() {
    if let view { state.withTable(table) { $0.addView(view) } }
  }

  /// Lends the table after each append that changed something, up to a sequence, which the history must have.
  func runByAppend(through last: UInt64, _ body: (borrowing TableSet) throws -> Void) throws {
    guard let history = saved.history, history.contains(last),
      state.sequence == 0 ? history.lowerBound == 1 : history.contains(state.sequence)
    else { throw lacksHistory }
    let ends: [UInt64]
    do throws(StoreError) {
      ends = try saved.changedAppends(after: state.sequence, through: last)
    } catch { throw opened.failure(error) }
    for end in ends {
      try go(to: end)
      try body(state)
    }
    try go(to: last)
  }

  /// Lends what was saved since: the table after each append where the history has them, and otherwise the newest that was
  /// saved, up to a sequence.
  func follow(through limit: UInt64, _ body: (borrowing TableSet) throws -> Void) throws {
    do throws(StoreError) {
      let newest = try SavedTables.all(of: opened.log).first {
        $0.projection.utf8.elementsEqual(saved.projection.utf8)
      }
      // While an application replaces its files there may be none for a moment.
      if let newest { saved = newest }
    } catch { throw opened.failure(error) }
    guard let last = saved.point(notAfter: limit), last > state.sequence else { return }
    if let history = saved.history, history.contains(last), history.contains(state.sequence) {
      return try runByAppend(through: last, body)
    }
    try go(to: last)
    try body(state)
  }

  private var name: String { "the projection \(PeopleText.printable(saved.projection))" }

  private var lacksHistory: CommandFailure {
    CommandFailure(
      ExitStatus.notFound, "\(name) has no history of the range, and its states are only of some points",
      at: opened.path,
      next: "\(known); set `history` of the store's options in the program that has the projection")
  }

  private func unknown(_ sequence: UInt64) -> CommandFailure {
    CommandFailure(
      ExitStatus.notFound, "\(name) has not saved '\(PeopleText.printable(table))' at seq \(sequence)",
      at: opened.path,
      next:
        "\(known); to have it at every point, set `history` of the store's options in the program that has the "
        + "projection")
  }

  /// The points at which the table is known.
  private var known: String {
    var points = saved.states.map { "seq \($0)" }
    if let history = saved.history { points.append("seq \(history.lowerBound)…\(history.upperBound)") }
    return "it is known at " + points.joined(separator: ", ")
  }
}
