// The updates of a live list: a position that pulls.

public import StrataEvents
public import StrataLists

/// The updates of a fetch controller's list.
///
/// Every iteration has its own position. Its first update is `.initial` with the whole list, or `.resumed` or
/// `.restarted` with a token. Each later one begins exactly where the previous one ended. An iteration ends with nil
/// when the task or the controller is cancelled or the store is closed, and throws when the list cannot continue; a new
/// iteration tries again.
public struct ListUpdates<Item: Identifiable & Sendable, Section: Hashable & Sendable>:
  AsyncSequence,
  Sendable
where Item.ID: DocumentID {
  public typealias Element = ListUpdate<Item, Section>
  public typealias Failure = ListError

  let controller: FetchController<Item, Section>
  let options: UpdateOptions<Item>
  /// What an iteration with the policy `.latest` keeps up to date about itself.
  var delivered: DeliveredMark?

  public func makeAsyncIterator() -> Iterator {
    var iterator = Iterator(controller: controller, options: options)
    iterator.consumer.delivered = delivered
    return iterator
  }

  public struct Iterator: AsyncIteratorProtocol {
    private let controller: FetchController<Item, Section>
    fileprivate var consumer: ListConsumer<Item, Section>
    /// The iteration has ended with nil or an error, and stays ended.
    private var isOver = false
    /// Nil for an iteration that need not wait between two updates.
    private var pace: UpdatePace?

    init(controller: FetchController<Item, Section>, options: UpdateOptions<Item>) {
      self.controller = controller
      consumer = ListConsumer(controller, options)
      pace = options.pace.flatMap { $0 > .zero ? UpdatePace(interval: $0) : nil }
    }

    public mutating func next() async throws(ListError) -> ListUpdate<Item, Section>? {
      try await next(isolation: nil)
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ListError) -> ListUpdate<Item, Section>? {
      if isOver { return nil }
      isOver = true
      await pace?.keep(for: controller)
      switch await consumer.next() {
      case .end: return nil
      case .failure(let error): throw error
      case .update(let update):
        // The caller's actor is running again: if the task or the list was cancelled on it meanwhile, there is no
        // further update.
        if controller.isCancelled || Task.isCancelled { return nil }
        isOver = false
        pace?.begin()
        return update
      }
    }
  }
}
