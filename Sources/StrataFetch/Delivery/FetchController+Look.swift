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
    let unchanged = ListChanges<Item.ID, Section>()
    let reason: Update.Reason = if case .fromTheBeginning = resumption { .restarted } else { .initial }
    if options.policy == .everyCommit {
      let seen: Position.Seen
      let appends: AppendFollower
      if case .at(let set, let prepared) = resumption {
        seen = .init(set, prepared)
        appends = AppendFollower(prepared.rows, from: set, keeping: prepared.list.definition)
      } else {
        let prepared = try prepared()
        let set = try await ListError.wrapping {
          try await prepared.rows.projector.state(
            reaching: prepared.rows.store.head.sequence, with: prepared.lease)
        }
        seen = .init(set, prepared)
        appends = AppendFollower(prepared.rows, from: set, keeping: prepared.list.definition)
      }
      let position = Position(seen, observing: options.observed, appends: appends)
      guard case .at = resumption else {
        return (Update(reason: reason, before: nil, after: seen.snapshot, changes: unchanged), position)
      }
      return (
        Update(reason: .resumed, before: seen.snapshot, after: seen.snapshot, changes: unchanged), position
      )
    }
    guard let published = state.withLock({ $0.published }) else { throw CancellationError() }
    let position = Position(.init(published), observing: options.observed)
    guard case .at(let set, let prepared) = resumption else {
      return (
        Update(reason: reason, before: nil, after: published.list.snapshot, changes: unchanged), position
      )
    }
    let before = prepared.snapshot(of: set)
    var done = ListStatistics()
    let changes = Position.changes(
      from: before, to: published.list.snapshot, observing: options.observed, &done)
    counts.withLock { $0.add(done) }
    return (
      Update(reason: .resumed, before: before, after: published.list.snapshot, changes: changes), position
    )
  }
}
