// The updates of a live list: a position that pulls.

public import StrataEvents
public import StrataLists

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
    private let controller: FetchController<Item, Section>
    private var consumer: ListConsumer<Item, Section>
    /// It ended with nil or an error, and stays ended.
    private var isOver = false

    init(controller: FetchController<Item, Section>, options: UpdateOptions<Item>) {
      self.controller = controller
      consumer = ListConsumer(controller, options)
    }

    public mutating func next() async throws(ListError) -> ListUpdate<Item, Section>? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ListError) -> ListUpdate<Item, Section>? {
      if isOver { return nil }
      isOver = true
      switch await consumer.next() {
      case .end: return nil
      case .failure(let error): throw error
      case .update(let update):
        // Here the caller's actor has the turn again: whoever cancelled on it meanwhile gets nothing more.
        if controller.isCancelled || Task.isCancelled { return nil }
        isOver = false
        return update
      }
    }
  }
}
