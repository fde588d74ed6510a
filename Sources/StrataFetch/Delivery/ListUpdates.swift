// The updates of a live list: a position that pulls.

internal import StrataBase
public import StrataEvents
public import StrataLists
internal import StrataTables

/// The updates of a fetch controller's list.
///
/// Every iteration is a position of its own: its first update is `.initial` with the whole list, and each one
/// after it begins exactly where the one before it ended. It ends with nil when the task or the controller is
/// cancelled or the store is closed, and throws where the list cannot go on; a new iteration tries again.
public struct ListUpdates<Item: Identifiable & Sendable, Section: Hashable & Sendable>: AsyncSequence,
  Sendable
where Item.ID: DocumentID {
  public typealias Element = ListUpdate<Item, Section>
  public typealias Failure = ListError

  let controller: FetchController<Item, Section>
  let options: UpdateOptions<Item>

  public func makeAsyncIterator() -> Iterator { Iterator(controller: controller, options: options) }

  public struct Iterator: AsyncIteratorProtocol {
    let controller: FetchController<Item, Section>
    let options: UpdateOptions<Item>
    private var position: UpdatePosition<Item, Section>?
    /// It ended with nil or an error, and stays ended.
    private var isOver = false

    init(controller: FetchController<Item, Section>, options: UpdateOptions<Item>) {
      self.controller = controller
      self.options = options
    }

    public mutating func next() async throws(ListError) -> ListUpdate<Item, Section>? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ListError) -> ListUpdate<Item, Section>? {
      if isOver { return nil }
      isOver = true
      guard let (update, position) = try await controller.update(after: position, options) else { return nil }
      // Here the caller's actor has the turn again: whoever cancelled on it meanwhile gets nothing more.
      if controller.isCancelled || Task.isCancelled { return nil }
      self.position = position
      isOver = false
      return update
    }
  }
}

extension FetchController {
  typealias Position = UpdatePosition<Item, Section>

  /// What a look came to.
  enum Step: Sendable {
    case update(Update, Position)
    /// Nothing to tell: look again once more is announced than this.
    case wait(beyond: UInt64, Position)
    /// The list cannot go on. Where it had begun, the position has heard of the controller's failures; the number is
    /// that of the one that this is, nil where it is the look's own.
    case failure(ListError, Position?, number: UInt64?)
    case end
  }

  /// The next update behind a position. Runs on no actor: the difference is found off the caller's.
  nonisolated func update(
    after position: Position?, _ options: UpdateOptions<Item>
  ) async throws(ListError) -> (Update, Position)? {
    var position = position
    while !Task.isCancelled {
      switch await step(from: position, options) {
      case .update(let update, let position): return (update, position)
      case .wait(let number, let new):
        position = new
        await announcement.wait(beyond: number) { [weak self] in self?.follow() }
      case .failure(let error, _, _): throw error
      case .end: return nil
      }
    }
    return nil
  }

  /// One look from a position, without any waiting for news.
  nonisolated func step(from start: Position?, _ options: UpdateOptions<Item>) async -> Step {
    // In this order: what is announced from here on ends the wait, and what was published or appended before the
    // end is delivered before the end is told.
    let number = announcement.number
    guard let start else { return isCancelled ? .end : await begin(options) }
    var position = start
    let ending = ending(behind: position.heardFailures)
    if isCancelled { return .end }
    let update: Update?
    do throws(ListError) {
      update = try await position.appends == nil ? latest(&position) : nextAppend(&position)
    } catch {
      if case .cancelled = error { return .end }
      position = start
      if case .failure(_, let number) = ending { position.heardFailures = number }
      return .failure(error, position, number: nil)
    }
    if let update { return .update(update, position) }
    switch ending {
    case .none: return .wait(beyond: number, position)
    case .quiet: return .end
    case .failure(let error, let number):
      position.heardFailures = number
      return .failure(error, position, number: number)
    }
  }

  /// The difference to the newest list that was published, where there is one.
  private func latest(_ position: inout Position) -> Update? {
    guard let published, published.number > position.looked.number else { return nil }
    return update(to: .init(published), &position)
  }

  func update(to seen: Position.Seen, _ position: inout Position) -> Update? {
    // Not under the lock of the counts: a difference takes its time.
    var done = ListStatistics()
    defer { counts.withLock { $0.add(done) } }
    return position.look(at: seen, &done) ? position.deliver(&done) : nil
  }
}

// MARK: Beginning

extension FetchController {
  private func begin(_ options: UpdateOptions<Item>) async -> Step {
    // A failure that an earlier iteration left behind is not this one's.
    let heardFailures = failureCount
    do throws(ListError) {
      let resumption: Resumption =
        if let token = options.token { try await resumption(from: token) } else { .none }
      _ = try await fetch(reaching: rows.store.head.sequence)
      var (update, position) = try await first(resumption, options)
      position.heardFailures = heardFailures
      counts.withLock { $0.add(update.changes, appends: 1) }
      return .update(update, position)
    } catch {
      return error.isEnd ? .end : .failure(error, nil, number: nil)
    }
  }

  private func first(
    _ resumption: Resumption, _ options: UpdateOptions<Item>
  ) async throws(ListError) -> (Update, Position) {
    let unchanged = ListChanges<Item.ID, Section>()
    let reason: Update.Reason = if case .behindTheEnd = resumption { .restarted } else { .initial }
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
    guard let published else { throw .cancelled }
    let position = Position(.init(published), observing: options.observed)
    guard case .at(let set, let prepared) = resumption else {
      return (Update(reason: reason, before: nil, after: published.snapshot, changes: unchanged), position)
    }
    let before = prepared.snapshot(of: set)
    var done = ListStatistics()
    let changes = Position.changes(
      from: before, to: published.snapshot, observing: options.observed, &done)
    counts.withLock { $0.add(done) }
    return (Update(reason: .resumed, before: before, after: published.snapshot, changes: changes), position)
  }
}
