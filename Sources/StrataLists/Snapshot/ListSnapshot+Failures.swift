// Events that a list lacks because its projection could not apply them.

public import StrataTables

extension ListSnapshot {
  /// The events up to `sequence` that the list's projection could not apply: how many, and the first hundred with their
  /// sequences and errors. O(1).
  ///
  /// They belong to the whole projection, and not only to the table that the list shows: what they would have changed
  /// is not known. So they are those of the list's moment, also in the past. Empty for documents, whose rows have
  /// `problems` instead, and for projections that halt.
  ///
  /// An event that changes nothing makes no update. `performFetch()` returns the list with the newest failures.
  public var failures: ProjectionFailures { version.failures }
}
