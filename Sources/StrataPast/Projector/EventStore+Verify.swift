// Comparing the tables of a projection with what the program makes of the log.

internal import StrataBase
public import StrataEvents
internal import StrataLog
public import StrataTables

extension EventStore {
  /// Whether the newest tables of a projection are those that this build of the program makes of the log.
  ///
  /// Tables that another build saved under the same version are used without a look at the log. So call it in a test,
  /// with a copy of a store that the released program has used, or once after an update whose version may have had to be
  /// raised. If it returns false, raise `Projection.version`: the next build then folds the log again.
  ///
  /// Not while events are being erased. Compares rows, problems, failures and the order of tables. O(log), with both tables in memory as far as saved ones
  /// are not dropped. Changes nothing. Throws what folding throws.
  public func verifyTables(of projection: some Projection) async throws -> Bool {
    let folding = Folding.own(projection)
    while true {
      let verification = TablesVerification(log, folding)
      _ = try await machine.past.result { _ in try verification.begin() }
      let shown = try await projector(folding).state(reaching: .max)
      let outcome = try await machine.past.result { try verification.step(shown, $0) }
      if outcome != .incomparable { return outcome == .same }
    }
  }
}

/// A fold of the log beside the one whose tables are shown. Belongs to one thread at a time.
private final class TablesVerification: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  enum Outcome {
    case same, different
    /// Content was erased meanwhile, which one of the two may have.
    case incomparable
  }

  private let log: Log
  private let fold: Fold

  init(_ log: Log, _ folding: Folding) {
    self.log = log
    fold = Fold(log, folding, marksErasures: true)
  }

  /// Notes what is erased by now. To be called before the tables are asked for.
  func begin() throws(StoreError) -> Bool { try fold.run(through: fold.state.sequence) }

  /// Goes on for one slice. Returns nil if it ended first.
  func step(_ shown: TableSet, _ slice: TimeSlice) throws(StoreError) -> Outcome? {
    guard try fold.run(through: shown.sequence, slice) else { return nil }
    guard fold.state.sequence == shown.sequence else { throw .closed }
    guard fold.restartCount == 0, try log.erasures() == fold.erasures else { return .incomparable }
    return fold.state.hasSameContent(as: shown) ? .same : .different
  }
}

extension TableSet {
  /// Whether both have the same tables in the same order, with the same rows, problems and failures. O(bytes) if they
  /// share nothing.
  func hasSameContent(as other: TableSet) -> Bool {
    let (mine, its) = (tables.filter(\.isWritten), other.tables.filter(\.isWritten))
    return failures == other.failures && mine.map(\.nameBytes) == its.map(\.nameBytes)
      && zip(mine, its).allSatisfy {
        $0.rows.hasSameEntries(as: $1.rows) && $0.problems.hasSameEntries(as: $1.problems)
      }
  }
}

extension Tree {
  /// Whether both trees have the same keys with the same values. O(bytes) if they share nothing.
  fileprivate func hasSameEntries(as other: Tree) -> Bool {
    struct Difference: Error {}
    guard count == other.count else { return false }
    do throws(Difference) {
      try Tree.forEachDifference(from: self, to: other) { (_) throws(Difference) in throw Difference() }
    } catch { return false }
    return true
  }
}
