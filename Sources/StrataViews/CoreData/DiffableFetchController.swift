// The shape of a fetched results controller over a fetch controller: fetch, read rows, receive changes.

internal import StrataBase
public import StrataEvents
public import StrataFetch
public import StrataLists
public import StrataTables

/// A list for programs that were written for a fetched results controller.
///
/// ```swift
/// let controller = DiffableFetchController(
///   events, sectionKey: \.sectionName,
///   sortKeys: [.init(\.sectionName), .init(\.timestamp, .reverse)])
/// controller.nearbyItemsSize = 40
/// controller.delegate = self
/// show(try await controller.performFetch())
/// ```
///
/// - The first fetch does not notify the delegate: `performFetch` returns its list. Every later change is delivered
///   once, in order, as the difference from the list that was delivered last.
/// - `currentSnapshot` is the list that was delivered last. `viewObject(with:)` reads it, so that a screen never reads a
///   row that it does not show yet; `object(with:)` reads the newest list.
/// - The delegate is called with one change at a time, on the main actor or on `processingQueue`. It may write to the
///   store and call every method of the controller. Changes that occur while it is busy are not queued: the next call
///   delivers all of them as one difference.
/// - If `cancel()` is called, or the last reference is dropped, where the delegate is called, no call follows.
///
/// It keeps no list of its own: everything is a `FetchController`'s, which new programs use directly. Safe to use from
/// any task and thread.
public final class DiffableFetchController<Item: Identifiable & Sendable, Section: Hashable & Sendable>:
  Sendable
where Item.ID: DocumentID {
  // All mutable state, and what guards it:
  //
  //   state         its own lock. Of the program's code nothing runs under it, and no value of the program ends under it.
  //   mainDelegate  the main actor
  //   configuring   the turn to change the request: one task at a time
  //
  // One task delivers: it waits on the thread pool, or where `processingQueue` computes, and calls the delegate where
  // `recipient` says. It holds no reference to the controller while it waits.
  struct State {
    var recipient = Recipient<Item, Section>()
    var request: DiffableFetchRequest<Item, Section>
    /// Changes the request before every fetch.
    var configure: Configuration?
    /// The list that was delivered last; nil before the first fetch.
    var current: ListSnapshot<Item, Section>?
    var isMonitoring = true
    var isCancelled = false
    /// Whether new lists were requested, so that they are delivered even if the store is not followed.
    var isAsked = false
    /// Whether the look that is under way was requested.
    var isAnswering = false
    /// The task that delivers.
    var delivery: Task<Void, Never>?
    var nearbyItemsSize: Int?
    var cache = RowCache<Item>()
    var statistics = DiffableFetchStatistics()
  }

  /// A change of the request. It runs where it is isolated: `{ @MainActor [weak self] request in … }` may read the
  /// state of a screen.
  public typealias Configuration =
    @isolated(any) @Sendable (_ request: inout DiffableFetchRequest<Item, Section>) -> Void

  /// The list itself. Everything that this class does not offer is available there: `updates`, the past, windows,
  /// explanations and editing.
  ///
  /// Its request is replaced by the next change of `fetchRequest`, so change the request here and not there.
  public let list: FetchController<Item, Section>
  let processingQueue: UpdateExecutor
  let state: Lock<State>
  let configuring = Turns<OneThing>()
  /// The delegate that is called on the main actor.
  @MainActor weak var mainDelegate: (any DiffableFetchControllerDelegate<Item, Section>)?

  /// - Parameters:
  ///   - request: how the list is sectioned, sorted and filtered.
  ///   - source: a collection of documents, or a table of a projection.
  ///   - processingQueue: where a delegate is called that is set with `setDelegate`; the main actor by default.
  public init(
    _ request: DiffableFetchRequest<Item, Section>, from source: some RowSource<Item>,
    processingQueue: UpdateExecutor = .main
  ) {
    list = FetchController(request.listRequest, from: source)
    self.processingQueue = processingQueue
    state = Lock(State(request: request))
  }

  /// Makes the same controller from the parts of a request.
  public convenience init(
    _ source: some RowSource<Item>, sectionKey: any KeyPath<Item, Section> & Sendable,
    sortKeys: [DiffableFetchSortKey<Item>], processingQueue: UpdateExecutor = .main
  ) where Section: SortKey {
    self.init(
      DiffableFetchRequest(sectionKey: sectionKey, sortKeys: sortKeys), from: source,
      processingQueue: processingQueue)
  }

  /// Makes the same controller without sections.
  public convenience init(
    _ source: some RowSource<Item>, sortKeys: [DiffableFetchSortKey<Item>],
    processingQueue: UpdateExecutor = .main
  ) where Section == Unsectioned {
    self.init(
      DiffableFetchRequest(sortKeys: sortKeys), from: source, processingQueue: processingQueue)
  }

  deinit {
    state.withLock { $0.delivery }?.cancel()
    list.cancel()
  }
}

// MARK: Properties

extension DiffableFetchController {
  /// How the list is sectioned, sorted and filtered. `apply(changing:)` and `configureFetch` change it.
  public var fetchRequest: DiffableFetchRequest<Item, Section> { state.withLock { $0.request } }

  /// The list that was delivered last; nil before the first fetch. It is immutable. O(1).
  public var currentSnapshot: ListSnapshot<Item, Section>? { state.withLock { $0.current } }

  /// Whether the list follows the store by itself, as it does by default. If not, it changes only when `process`,
  /// `performFetch` or `apply(changing:)` is called. When the property is set to true again, everything that was not
  /// delivered is one difference.
  public var isMonitoring: Bool {
    get { state.withLock { $0.isMonitoring } }
    set {
      // The list's lock is taken under this one, and never the other way around.
      state.withLock { state in
        state.isMonitoring = newValue
        if !newValue { list.keepFollowing(false) }
      }
      follow()
      list.lookAgain()
    }
  }

  /// Counts of what the controller has done.
  public var statistics: DiffableFetchStatistics { state.withLock { $0.statistics } }

  /// Ends the list: the delegate is not called any more, and fetches throw `CancellationError`. The current list stays.
  public func cancel() {
    let delivery = state.withLock { state in
      state.isCancelled = true
      defer { state.delivery = nil }
      return state.delivery
    }
    delivery?.cancel()
    list.cancel()
  }
}
