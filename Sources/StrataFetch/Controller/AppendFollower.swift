// A fold for one consumer that wants the list at the end of every append.

internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// Continues from a state, one append at a time. The new states share all unchanged pages with it.
///
/// Used by one task at a time, as iterators are. The blocking part runs on a dedicated thread while that task waits.
final class AppendFollower: @unchecked Sendable {
  /// The number of appends that are folded in one go. Their states share what they do not change.
  private static let countMax = 32
  /// What only the folding thread touches.
  private struct Exclusive: @unchecked Sendable {
    let fold: Fold
  }

  private let log: Log
  private let folding: Folding
  private let threads: FairThreads
  /// Nil after the task that waited for it was cancelled: the folding thread may still be using it.
  private var fold: Exclusive?
  private var headAtBegin: UInt64
  private var states: [TableSet] = []
  private var nextIndex = 0
  /// The state that `next` returned last.
  private(set) var state: TableSet

  /// - Parameter definition: the one view that is kept up to date; the state's other views are dropped.
  init<Item>(_ rows: RowTable<Item>, from state: TableSet, keeping definition: ViewDefinition) {
    var state = state
    for table in state.tables {
      let isOurs = table.name.utf8.elementsEqual(rows.name.utf8)
      for view in table.views where !isOurs || view.definition.identity != definition.identity {
        state.withTable(table.name) { $0.removeView(view.definition.identity) }
      }
    }
    log = rows.store.log
    folding = rows.folding
    threads = rows.store.machine.follows
    headAtBegin = state.sequence
    self.state = state
  }

  /// The state at the end of the next append, nil if there is none up to `last`.
  func next(through last: UInt64) async throws -> TableSet? {
    if nextIndex == states.count {
      guard state.sequence < last else { return nil }
      states = try await more(through: last)
      nextIndex = 0
    }
    guard nextIndex < states.count else { return nil }
    state = states[nextIndex]
    nextIndex += 1
    if nextIndex == states.count {
      states = []
      nextIndex = 0
    }
    return state
  }

  /// The states of the next appends. If the task is cancelled, the next call starts again after `state`.
  private func more(through last: UInt64) async throws -> [TableSet] {
    let exclusive = fold ?? Exclusive(fold: Fold(log, folding, from: state, headAtBegin: headAtBegin))
    exclusive.fold.tracksChain = true
    fold = nil
    do {
      let states = try await threads.result { slice in
        try exclusive.fold.statesByAppend(through: last, countMax: Self.countMax, slice)
      }
      fold = exclusive
      headAtBegin = exclusive.fold.headAtBegin
      return states
    } catch {
      // A failed read is tried again from the position where this fold stopped.
      if error is StoreError { fold = exclusive }
      throw error
    }
  }

  /// A state with one more view: the saved one, or one that is built in slices.
  static func state<Item>(
    _ state: TableSet, of rows: RowTable<Item>, adding view: ViewDefinition
  ) async throws -> TableSet {
    let machine = rows.store.machine
    guard state[rows.name].view(view.identity) == nil else { return state }
    let building = Lock<ViewBuilding?>(nil)
    return try await machine.follows.result { slice in
      var state = state
      if state.withTable(rows.name, { $0.openView(view) }) { return state }
      // One thread at a time is here.
      let current = building.withLock { $0 } ?? ViewBuilding(view, of: state[rows.name], on: machine.parallel)
      building.withLock { $0 = current }
      guard let built = current.resume(slice) else { return nil }
      state.withTable(rows.name) { $0.add(built) }
      return state
    }
  }

  /// The state folded up to a later sequence, which must be the end of an append.
  static func state<Item>(
    _ state: TableSet, of rows: RowTable<Item>, through sequence: UInt64
  ) async throws -> TableSet {
    let exclusive = Exclusive(fold: Fold(rows.store.log, rows.folding, from: state))
    return try await rows.store.machine.follows.result { slice in
      guard try exclusive.fold.run(through: sequence, slice) else { return nil }
      guard exclusive.fold.state.sequence == sequence else { throw StoreError.closed }
      return exclusive.fold.state
    }
  }
}

extension FetchController {
  /// The update of the next append that changes the list, nil at the end of the log.
  func nextAppend(_ position: inout Position) async throws -> Update? {
    guard var appends = position.appends else { return nil }
    while !Task.isCancelled {
      let prepared = try prepared()
      let seen: Position.Seen
      if prepared.epoch != position.looked.epoch {
        // The same appends under another request: nothing is skipped.
        let set = try await state(at: appends.state, prepared)
        appends = AppendFollower(prepared.rows, from: set, keeping: prepared.list.definition)
        position.appends = appends
        seen = .init(set, prepared)
      } else {
        let follower = appends
        let set = try await ListError.wrapping {
          try await follower.next(through: prepared.rows.store.head.sequence)
        }
        guard let set else { return nil }
        seen = .init(set, prepared)
      }
      if let update = update(to: seen, &position) { return update }
    }
    return nil
  }

  /// The state that was reached with one request, with the view of another request.
  private func state(
    at state: TableSet, _ prepared: Prepared
  ) async throws -> TableSet {
    let (rows, definition) = (prepared.rows, prepared.list.definition)
    if state.recordsTouches == prepared.request.reportsTouches {
      return try await ListError.wrapping {
        try await AppendFollower.state(state, of: rows, adding: definition)
      }
    }
    let states = try await ListError.wrapping {
      try await rows.store.states(
        at: [.sequence(state.sequence)], rows.folding, view: (rows.name, definition))
    }
    return states[0]
  }
}
