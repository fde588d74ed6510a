// The updates of a live list: a position that pulls.

public import StrataEvents
internal import StrataTables

/// The updates of a fetch controller's list.
///
/// Every iteration is a position of its own: its first update is `.initial` with the whole list, and each one
/// after it begins where the one before it ended. It ends with nil when the task or the controller is
/// cancelled or the store is closed, and throws where the list cannot go on; a new iteration tries again.
public struct ListUpdates<Item: Identifiable & Sendable, Section: Hashable & Sendable>: AsyncSequence,
  Sendable
where Item.ID: DocumentID {
  public typealias Element = ListUpdate<Item, Section>
  public typealias Failure = ListError

  let controller: FetchController<Item, Section>

  public func makeAsyncIterator() -> Iterator { Iterator(controller: controller) }

  public struct Iterator: AsyncIteratorProtocol {
    let controller: FetchController<Item, Section>
    private var last: FetchController<Item, Section>.Published?

    init(controller: FetchController<Item, Section>) { self.controller = controller }

    public mutating func next() async throws(ListError) -> ListUpdate<Item, Section>? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ListError) -> ListUpdate<Item, Section>? {
      guard let (update, published) = try await controller.update(after: last) else { return nil }
      // Here the caller's actor has the turn again: whoever cancelled on it meanwhile gets nothing more.
      if controller.isCancelled || Task.isCancelled { return nil }
      last = published
      return update
    }
  }
}

extension FetchController {
  /// Every change of the list from now on, beginning with the list as it is.
  public var updates: ListUpdates<Item, Section> { ListUpdates(controller: self) }

  /// The next update behind what was delivered last. Runs on no actor: the difference is found off the
  /// caller's.
  nonisolated func update(
    after last: Published?
  ) async throws(ListError) -> (ListUpdate<Item, Section>, Published)? {
    var last = last
    while !Task.isCancelled {
      // In this order: what is announced from here on ends the wait below, and what was published before the
      // end is delivered before the end is told.
      let number = announcement.number
      let ending = ending
      if isCancelled { return nil }
      guard let shown = last else {
        // A failure that an earlier iteration left behind is not this one's.
        clearFailure()
        do throws(ListError) { try await performFetch() } catch {
          if case .cancelled = error { return nil }
          if case .store(.closed) = error { return nil }
          throw error
        }
        guard let published else { continue }
        let update = ListUpdate(
          reason: .initial, before: nil, after: published.snapshot,
          changes: ListChanges<Item.ID, Section>())
        return (update, published)
      }
      if let published, published.number > shown.number {
        let changes = ListChanges(from: shown.snapshot, to: published.snapshot)
        let isSame = published.generation == shown.generation
        if isSame, changes.isEmpty {
          last = published
          continue
        }
        let update = ListUpdate(
          reason: isSame ? .changed : .reconfigured, before: shown.snapshot, after: published.snapshot,
          changes: changes)
        return (update, published)
      }
      switch ending {
      case .none: await announcement.wait(beyond: number) { [weak self] in self?.follow() }
      case .quiet: return nil
      case .failure(let error):
        clearFailure()
        throw error
      }
    }
    return nil
  }
}
