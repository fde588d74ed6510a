// A consumer's own fold, for who wants the list at the end of every append.

internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// Goes on from a state, append by append. It shares all pages with it that did not change.
///
/// Used by one task at a time, as iterators are; the blocking part runs on a thread for it while that task waits.
final class AppendFollower: @unchecked Sendable {
  /// So many appends are folded in one go. Their states share what they do not change.
  private static let countMax = 32
  /// Threads for these folds alone, so that a long one keeps nobody from the disk.
  private static let threads = IOThreads(name: "strata-follow", threadCountMax: 2)

  private let fold: Fold
  private var states: [TableSet] = []
  private var place = 0
  /// The state that was taken last.
  private(set) var state: TableSet

  /// - Parameter definition: the one view that is kept up to date; others that the state has are left out.
  init<Item>(_ rows: RowTable<Item>, from state: TableSet, keeping definition: ViewDefinition) {
    var state = state
    for table in state.tables {
      let isOurs = table.name.utf8.elementsEqual(rows.name.utf8)
      for view in table.views where !isOurs || view.definition.identity != definition.identity {
        state.withTable(table.name) { $0.removeView(view.definition.identity) }
      }
    }
    fold = Fold(rows.store.log, rows.folding, from: state)
    fold.tracksChain = true
    self.state = state
  }

  /// The state at the end of the next append, nil where that is behind a sequence.
  func next(through last: UInt64) async throws(StoreError) -> TableSet? {
    if place == states.count {
      guard state.sequence < last else { return nil }
      let result = await Self.threads.result { [self] () throws(StoreError) in
        try fold.statesByAppend(through: last, countMax: Self.countMax)
      }
      states = try result.get()
      place = 0
    }
    guard place < states.count else { return nil }
    state = states[place]
    place += 1
    if place == states.count {
      states = []
      place = 0
    }
    return state
  }

  /// A state with one view more. Building it takes its time, and holds no thread of the pool.
  static func state(_ state: TableSet, adding view: ViewDefinition, to table: String) async -> TableSet {
    await threads.run { () throws(Never) in
      var state = state
      state.withTable(table) { $0.addView(view) }
      return state
    }
  }

  /// What a state comes to at a sequence, which is behind it and the end of an append.
  static func state<Item>(
    _ state: TableSet, of rows: RowTable<Item>, through sequence: UInt64
  ) async throws(StoreError) -> TableSet {
    let (log, folding) = (rows.store.log, rows.folding)
    let result = await threads.result { () throws(StoreError) in
      let fold = Fold(log, folding, from: state)
      try fold.run(through: sequence)
      guard fold.state.sequence == sequence else { throw .closed }
      return fold.state
    }
    return try result.get()
  }
}

extension FetchController {
  /// The update of the next append that changes the list, nil at the end of the log.
  func nextAppend(_ position: inout Position) async throws(ListError) -> Update? {
    guard var appends = position.appends else { return nil }
    while !Task.isCancelled {
      let prepared = try prepared()
      let seen: Position.Seen
      if prepared.generation != position.looked.generation {
        // The same appends under another request: nothing is skipped.
        let set = try await state(at: appends.state, prepared)
        appends = AppendFollower(prepared.rows, from: set, keeping: prepared.list.definition)
        position.appends = appends
        seen = .init(set, prepared)
      } else {
        let follower = appends
        let set = try await ListError.wrapping { () async throws(StoreError) in
          try await follower.next(through: prepared.rows.store.head.sequence)
        }
        guard let set else { return nil }
        seen = .init(set, prepared)
      }
      if let update = update(to: seen, &position) { return update }
    }
    return nil
  }

  /// A state that was reached with one request, with the view of another.
  private func state(
    at state: TableSet, _ prepared: Prepared
  ) async throws(ListError) -> TableSet {
    let (rows, definition) = (prepared.rows, prepared.list.definition)
    if state.recordsTouches == prepared.request.reportsTouches {
      return await AppendFollower.state(state, adding: definition, to: rows.name)
    }
    let states = try await ListError.wrapping { () async throws(StoreError) in
      try await rows.store.states(
        at: [.sequence(state.sequence)], rows.folding, view: (rows.name, definition))
    }
    return states[0]
  }
}
