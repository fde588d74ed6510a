// One look of a consumer: the difference between its position and the newest list.

internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataPast
internal import StrataTables

extension FetchController {
  typealias Position = UpdatePosition<Item, Section>

  /// The update from a position to the newest list or, with `.everyCommit`, to the next append. Nil if there is no
  /// update; the position counts as having looked all the same.
  ///
  /// - Parameter tellsAll: whether a newer list without a difference is also an update.
  func update(from position: inout Position, tellsAll: Bool) async throws -> Update? {
    if position.appends != nil { return try await nextAppend(&position) }
    return latest(&position, tellsAll: tellsAll)
  }

  /// The difference to the newest published list, if there is one.
  private func latest(_ position: inout Position, tellsAll: Bool) -> Update? {
    guard let published = state.withLock({ $0.published }), published.number > position.looked.number else {
      return nil
    }
    return update(to: .init(published), &position, tellsAll: tellsAll)
  }

  func update(to seen: Position.Seen, _ position: inout Position, tellsAll: Bool = false) -> Update? {
    // Collected here and not under the lock of the counts, because finding a difference takes time.
    var done = ListStatistics()
    defer { counts.withLock { $0.add(done) } }
    if position.look(at: seen, &done) { return position.deliver(&done) }
    return tellsAll ? position.pass() : nil
  }
}

// MARK: Beginning

extension FetchController {
  /// The first update of a consumer, and its position after it.
  func firstUpdate(_ options: UpdateOptions<Item>) async throws -> (Update, Position) {
    // This consumer does not receive failures from before it began.
    let heard = state.withLock { $0.lastFailure }
    let resumption: Resumption =
      switch options.start {
      case .newest, .point(.head): .none
      case .token(let token): try await resumption(from: token)
      case .point(let point): try await resumption(from: point)
      }
    _ = try await fetch(reaching: rows.store.head.sequence)
    var (update, position) = try await first(resumption, options)
    position.heard = heard
    counts.withLock { $0.add(update.changes, appends: 1) }
    return (update, position)
  }

  private func first(
    _ resumption: Resumption, _ options: UpdateOptions<Item>
  ) async throws -> (Update, Position) {
    var reason = Update.Reason.initial
    var start: (set: TableSet, prepared: Prepared)?
    switch resumption {
    case .none: break
    case .fromTheBeginning: reason = .restarted
    case .at(let set, let prepared): (reason, start) = (.resumed, (set, prepared))
    }
    if options.policy == .everyCommit {
      let (set, prepared) = if let start { start } else { try await newestState() }
      let appends = AppendFollower(prepared.rows, from: set, keeping: prepared.list.definition)
      let position = Position(.init(set, prepared), observing: options.observed, appends: appends)
      let list = position.shown.snapshot
      let before = start == nil ? nil : list
      return (Update(reason: reason, before: before, after: list, changes: ListChanges()), position)
    }
    guard let published = state.withLock({ $0.published }) else { throw CancellationError() }
    let position = Position(.init(published), observing: options.observed)
    let before = start.map { $0.prepared.snapshot(of: $0.set) }
    var done = ListStatistics()
    let changes = before.map {
      Position.changes(from: $0, to: position.shown.snapshot, observing: options.observed, &done)
    }
    counts.withLock { $0.add(done) }
    let update = Update(
      reason: reason, before: before, after: position.shown.snapshot, changes: changes ?? ListChanges())
    return (update, position)
  }

  private func newestState() async throws -> (set: TableSet, prepared: Prepared) {
    let prepared = try prepared()
    let set = try await ListError.wrapping {
      try await prepared.rows.projector.state(
        reaching: prepared.rows.store.head.sequence, with: prepared.lease)
    }
    return (set, prepared)
  }
}
