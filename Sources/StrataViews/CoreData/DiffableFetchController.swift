// The fetched results controller's shape over a fetch controller: fetch, ask for rows, hear what changed.

internal import StrataBase
public import StrataEvents
internal import StrataFetch
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
/// - The first fetch tells the delegate nothing: its list is what `performFetch` returns. Every later change is
///   told once, in order, as the difference from what was told before.
/// - `currentSnapshot` is what the delegate was told last. `viewObject(with:)` answers from it, so that a screen
///   never asks for a row that it has not heard of; `object(with:)` answers from the newest list.
/// - The delegate is called one call after the other, on the main actor or where `processingQueue` says. It may
///   write to the store and call every method of the controller. While it is busy changes are not queued: the
///   next call tells all of them as one difference.
/// - Whoever calls `cancel()`, or drops the last reference, where the delegate is called, hears nothing after it.
///
/// It keeps no list of its own: everything is a `FetchController`'s, which new programs use directly. Safe to
/// use from any task and thread.
public final class DiffableFetchController<Item: Identifiable & Sendable, Section: Hashable & Sendable>:
  Sendable
where Item.ID: DocumentID {
  typealias List = FetchController<Item, Section>

  struct State {
    weak var delegate: (any DiffableFetchControllerDelegate<Item, Section>)?
    var request: DiffableFetchRequest<Item, Section>
    /// What the delegate was told last; nil before the first fetch.
    var current: ListSnapshot<Item, Section>?
    var isMonitoring = true
    var isCancelled = false
    /// Whether somebody asked for what is new, so that it is told also where the store is not followed.
    var isAsked = false
    /// Whether the look that is under way was asked for.
    var isAnswering = false
    /// Tells the delegate.
    var delivery: Task<Void, Never>?
    var nearbyItemsSize: Int?
    var cache = RowCache<Item>()
    var statistics = DiffableFetchStatistics()
  }

  let list: List
  let processingQueue: ProcessingQueue
  /// Whether every item's id is what the item key path says.
  let hasItsID: @Sendable (Item) -> Bool
  let state: Lock<State>
  let configuring = Turns<OneThing>()

  /// - Parameters:
  ///   - request: how the list is sectioned, sorted and filtered.
  ///   - source: a collection of documents, or a table of a projection.
  ///   - itemKey: the id by which snapshots name items. It has to say the same as the item's `id`.
  ///   - processingQueue: where changes are found and the delegate is called; on the main actor if not given.
  public init(
    _ request: DiffableFetchRequest<Item, Section>, from source: some RowSource<Item>,
    itemKey: any KeyPath<Item, Item.ID> & Sendable = \.id, processingQueue: ProcessingQueue = .main
  ) {
    list = FetchController(request.listRequest, from: source)
    self.processingQueue = processingQueue
    hasItsID = { $0[keyPath: itemKey] == $0.id }
    state = Lock(State(request: request))
  }

  /// The same from the parts of a request.
  public convenience init(
    _ source: some RowSource<Item>, sectionKey: any KeyPath<Item, Section> & Sendable,
    itemKey: any KeyPath<Item, Item.ID> & Sendable = \.id, sortKeys: [DiffableFetchSortKey<Item>],
    processingQueue: ProcessingQueue = .main
  ) where Section: SortKey {
    self.init(
      DiffableFetchRequest(sectionKey: sectionKey, sortKeys: sortKeys), from: source, itemKey: itemKey,
      processingQueue: processingQueue)
  }

  /// The same without sections.
  public convenience init(
    _ source: some RowSource<Item>, itemKey: any KeyPath<Item, Item.ID> & Sendable = \.id,
    sortKeys: [DiffableFetchSortKey<Item>], processingQueue: ProcessingQueue = .main
  ) where Section == Unsectioned {
    self.init(
      DiffableFetchRequest(sortKeys: sortKeys), from: source, itemKey: itemKey,
      processingQueue: processingQueue)
  }

  deinit {
    state.withLock { $0.delivery }?.cancel()
    list.cancel()
  }
}

// MARK: Properties

extension DiffableFetchController {
  /// Who is told what changed. It is not kept alive.
  public var delegate: (any DiffableFetchControllerDelegate<Item, Section>)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// How the list is sectioned, sorted and filtered. `configureFetch` changes it.
  public var fetchRequest: DiffableFetchRequest<Item, Section> { state.withLock { $0.request } }

  /// The list that the delegate was told of last; nil before the first fetch. It never changes, and is O(1) to
  /// take.
  public var currentSnapshot: ListSnapshot<Item, Section>? { state.withLock { $0.current } }

  /// Whether the list follows the store by itself, as it does if nothing else is said. Where it does not, it
  /// changes when `process`, `performFetch` or `configureFetch` is called, and at no other time. What was not
  /// told meanwhile is one difference when it is set to true again.
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

  /// What it did so far.
  public var statistics: DiffableFetchStatistics { state.withLock { $0.statistics } }

  /// Ends the list: the delegate is told nothing more, and fetches are refused. What is current stays.
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
