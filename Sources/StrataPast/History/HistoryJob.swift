// What a historian does next, decided from what is known of its work.

/// One step of the work on a history.
enum HistoryJob: Equatable {
  case resumeMerging
  case beginMerging(MergePlan)
  /// The runs before one are left out.
  case leaveOut(before: Int)
  /// The state at the end of the runs is made, with which the fold begins.
  case beginFold
  /// Events are folded until a run is due, or to the end of the log.
  case fold
  /// What was folded is written as a run.
  case write
  /// The newest run that lacks the keys of a list is written again, if there is one.
  case addKeys
}

/// What the next job follows from. A value: what it knows of runs, log and fold was looked up before, so that the choice
/// can be tested without a file.
struct HistorySituation {
  /// A fold that has begun.
  struct Folded: Equatable {
    /// Whether it has enough for a run, which ends where an append does.
    var isDue = false
    /// Whether it has anything, and ends where an append does.
    var isWhole = false
    /// Whether there is nothing more to fold: it is at the end of the log, or before an event that cannot be applied.
    var isAtEnd = false
  }

  /// A merge comes before everything else, which is not looked at until it has ended.
  var isMerging = false
  /// The first run that stays, if those before it are older than what is kept, and whether it has what lived at its begin.
  var front: (first: Int, isBase: Bool)?
  /// The runs that are to be merged.
  var plan: MergePlan?
  /// Nil before the fold begins.
  var folded: Folded?
  /// Whether the log has events after the runs.
  var hasEvents = false
  /// Whether events are written that are too few for a run.
  var writesRest = false
  /// Whether a run may lack the keys of a list.
  var mayLackKeys = false

  /// Nil if there is nothing to do.
  var next: HistoryJob? {
    if isMerging { return .resumeMerging }
    if let front {
      return front.isBase ? .leaveOut(before: front.first) : .beginMerging(MergePlan(baseAt: front.first))
    }
    if let plan { return .beginMerging(plan) }
    if let folded {
      if folded.isDue { return .write }
      if !folded.isAtEnd { return .fold }
      if writesRest, folded.isWhole { return .write }
    } else if hasEvents {
      return .beginFold
    }
    return mayLackKeys ? .addKeys : nil
  }
}
