// Folds that begin with a saved state.

package import StrataLog
package import StrataTables

extension Fold {
  /// A fold that begins with the newest valid state on disk that holds nothing after a sequence, and otherwise before the
  /// first event. A fold of some tables may begin with the state of all of them, in which other tables then stay as they
  /// were. O(bytes of the state). Blocks.
  package static func resuming(_ log: Log, _ folding: Folding, through last: UInt64 = .max) -> Fold {
    guard let restored = Checkpoints(log, folding.kept)?.restore(through: last) else {
      return Fold(log, folding)
    }
    return Fold(log, folding, from: restored.tables, headAtBegin: restored.head)
  }
}

extension TableSet {
  /// The views that were saved with the tables and that no list has asked for since.
  package var savedViews: [(table: String, kept: KeptView)] {
    tables.flatMap { table in table.savedViews.map { (table.name, $0.kept) } }
  }
}
