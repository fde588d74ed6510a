// The appends that change a list: the next one after a point, and the last one up to it.

package import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// Where a search for an append that changes a list ended.
package enum ListStep: Equatable, Sendable {
  /// The list changes here: the end of the append, or for a step backwards of the one before it.
  case found(UInt64)
  /// Nothing changed up to here, where the search stopped since it had read enough; it may go on from here.
  case paused(UInt64)
  /// Nothing changes from the point to the end, or to the begin, of the log.
  case end
}

extension ListBrowser {
  /// How many events one search reads at most.
  private static var eventCountMax: UInt64 { 20_000 }
  /// How many events before a point a search backwards begins with.
  private static var backwardMin: UInt64 { 64 }

  /// The end of the first append after a point that changes the list. O(events read).
  package func next(after point: ResolvedPoint) throws -> ListStep {
    let head = opened.log.mark.sequence
    guard point.sequence < head else { return .end }
    let last = min(head, point.sequence.addingSaturated(Self.eventCountMax))
    return try withStates(at: [point]) { lists, states in
      struct Found: Error { var sequence: UInt64 }
      var before = lists[0].version
      do {
        try run(from: point.sequence, through: last, states) { set in
          let after = version(of: set)
          if Self.isChanged(before, after) { throw Found(sequence: set.sequence) }
          before = after
        }
      } catch let found as Found {
        return .found(found.sequence)
      }
      return last == head ? .end : .paused(last)
    }
  }

  /// The end of the append before the last one, up to a point, that changes the list: what the list was before that
  /// change. O(events read), and the states at a few points.
  package func previous(before point: ResolvedPoint) throws -> ListStep {
    let begin = opened.log.mark.logBegin - 1
    guard point.sequence > begin else { return .end }
    var (end, length, left) = (point.sequence, Self.backwardMin, Self.eventCountMax)
    while end > begin, left > 0 {
      let start = try endOfAppend(before: end - min(end - begin, length))
      let found = try withStates(at: [ResolvedPoint(sequence: start)]) { lists, states in
        var (before, sequence) = (lists[0].version, start)
        var found: UInt64?
        try run(from: start, through: end, states) { set in
          let after = version(of: set)
          if Self.isChanged(before, after) { found = sequence }
          (before, sequence) = (after, set.sequence)
        }
        return found
      }
      if let found { return .found(found) }
      left -= min(left, end - start)
      end = start
      length *= 4
    }
    return end > begin ? .paused(end) : .end
  }

  /// The sequence, or the end of the last append before it if it is inside of one.
  private func endOfAppend(before sequence: UInt64) throws -> UInt64 {
    guard sequence >= opened.log.mark.logBegin else { return opened.log.mark.logBegin - 1 }
    do throws(StoreError) {
      guard let append = try opened.log.append(holding: sequence) else { return sequence }
      return append.last == sequence ? sequence : append.first - 1
    } catch { throw opened.failure(error) }
  }

  /// Folds the appends after a state, and lends the state at the end of each.
  private func run(
    from sequence: UInt64, through last: UInt64, _ states: PastStates,
    _ body: (borrowing TableSet) throws -> Void
  ) throws {
    do {
      let fold = Fold(opened.log, .documents(only: [table]), from: try states.state(at: sequence))
      try fold.runByAppend(through: last) { set in try body(set) }
    } catch let error as StoreError {
      throw opened.failure(error)
    }
  }

  private static func isChanged(_ old: ListVersion, _ new: ListVersion) -> Bool {
    !ListDiff(from: old, to: new).isEmpty
  }
}
