// How pages of past states are made.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// How pages of a past state are made, also where the runs have lost them.
struct PastHealing: Sendable {
  let state: StateHealing
  /// Names the history: states of one name are of the same rows.
  let history: String
  let limits: RunLimits
  /// The threads that count the ranks of many keys.
  let parallel: Parallel
  let noteDamage: @Sendable () -> Void
}
