// Where the numbers of `count` come from: a fold, a kept list in a history, or the tables that a projection saved.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// What is counted, and when. Blocks.
struct CountAxis {
  let opened: OpenedStore
  let table: String
  /// Nil for documents.
  let saved: SavedTables?
  let request: AxisRequest
  let times: TimeText

  /// If more events than these are in no run, they are folded with all others.
  private static let lagMax: UInt64 = 4_096

  /// The axis, and where the past came from. Throws what reading the store throws, `TimeAxisSteps.tooMany` among it.
  func axis(
    _ calendar: CalendarSteps, after first: UInt64, through last: UInt64, since: Int64?, until: Int64?
  ) throws -> (axis: TimeAxis, counts: PastCounts) {
    let steps = try TimeAxisSteps(
      opened.log, calendar, after: first, through: last, since: since, until: until, now: times.now)
    if let saved { return (try axis(of: saved, steps), PastCounts()) }
    if let kept = try keptList(through: last), let found = try axis(of: kept, steps) { return found }
    let fold = TimeAxisFold(opened.log, table, request, steps)
    guard let axis = try fold.resume(nil) else { throw StoreError.closed }
    return (axis, PastCounts(foldedEvents: last - min(opened.log.mark.logBegin - 1, last)))
  }

  private func axis(of saved: SavedTables, _ steps: TimeAxisSteps) throws -> TimeAxis {
    let replay = SavedReplay(opened, saved, table: table, view: nil, takesEarlier: false)
    return try TimeAxisStates(steps, ends: steps.ends(in: opened.log)).axis(request) { (sequence) throws in
      _ = try replay.move(to: sequence)
      return replay.state[table]
    }
  }

  // MARK: Kept lists

  /// A kept list of which the history has the numbers of rows of each group; nil if there is none.
  private func keptList(through last: UInt64) throws -> KeptList? {
    guard request.by.count == 1, request.sum == nil,
      let history = try SavedHistory.all(of: opened.log).first(where: \.isOfDocuments),
      history.sequence.addingSaturated(Self.lagMax) >= last
    else { return nil }
    let filters = request.filter.map { [$0.description] } ?? []
    let lists = KeptList.all(in: Fold.resuming(opened.log, .documents(only: nil)).state).filter { list in
      list.table.utf8.elementsEqual(table.utf8) && list.filters == filters
        && list.sectionBy.flatMap { try? FieldPath($0, option: "--by") } == request.by[0]
    }
    // Lists without an order leave no row out because of it.
    return lists.min { $0.sort.count < $1.sort.count }
  }

  /// Nil if the history does not have the list at all steps, or the list leaves rows out that are counted.
  private func axis(
    of kept: KeptList, _ steps: TimeAxisSteps
  ) throws -> (axis: TimeAxis, counts: PastCounts)? {
    struct Unfit: Error {}
    let list = try kept.query(ListOptions.parse([]), times: times).list
    let ends = try steps.ends(in: opened.log)
    guard let first = ends.first,
      let begin = opened.store.listHistoriesBlocking([(table, list.definition)]).first?.firstSequence,
      begin <= max(first, opened.log.mark.logBegin)
    else { return nil }
    let past = PastReader(opened.store, .documents(only: [table]), view: (table, list.definition))
    do {
      let axis = try TimeAxisStates(steps, ends: ends).axis { (sequence) throws in
        let fold = try past.fold(at: sequence)
        guard fold.state.sequence == sequence else { throw Unfit() }
        fold.state.withTable(table) { $0.addView(list.definition) }
        let version = ListVersion(fold.state, table: table, list)
        // Keys that are cut are not the values; a row may be left out for the field that sorts it.
        guard ProblemCounts(version).shortened == 0, kept.sort.isEmpty || version.view.problems.count == 0
        else { throw Unfit() }
        return version
      }
      return (axis, past.counts)
    } catch is Unfit { return nil }
  }
}
