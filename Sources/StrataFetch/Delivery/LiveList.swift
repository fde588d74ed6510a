// A list for a screen: on the main actor, observable, replaced as a whole.

public import Observation
public import StrataEvents
public import StrataLists
public import StrataTables

/// A live list that views observe.
///
/// It fetches when it is created, and follows the store until it is released or cancelled. `sections` changes as a
/// whole, once per update.
@MainActor @Observable
public final class LiveList<Item: Identifiable & Sendable, Section: Hashable & Sendable>
where Item.ID: DocumentID {
  public enum Phase: Sendable, Equatable {
    case loading
    case ready
    /// The list could not be fetched, or cannot continue. What was shown stays.
    case failed(ListError)
    /// The store was closed, or the controller or this list was cancelled. What was shown stays.
    case ended
  }

  public private(set) var phase: Phase = .loading
  /// How far the list has come while it is loading; nil before that is known, and afterwards.
  public private(set) var progress: FetchProgress?
  /// The list that is shown; nil while it is loading.
  public private(set) var snapshot: ListSnapshot<Item, Section>?
  /// The update that led to `snapshot`.
  public private(set) var lastUpdate: ListUpdate<Item, Section>?
  /// The controller whose updates are shown.
  @ObservationIgnored public nonisolated let controller: FetchController<Item, Section>
  @ObservationIgnored private var following: Task<Void, Never>?
  /// How often following began: a task that was cancelled may still deliver an update.
  @ObservationIgnored private var followCount = 0
  /// The task that keeps `progress` up to date while the list is loading.
  @ObservationIgnored private var loading: Task<Void, Never>?
  /// Which of the controller's lists is shown, or shown as another one that does not differ from it.
  @ObservationIgnored private nonisolated let delivered = DeliveredMark()
  /// The request that was in force when following began.
  @ObservationIgnored private var followed: ListRequest<Item, Section>?

  /// - Parameter source: a collection of documents, or a table of a projection.
  public convenience init(
    _ request: ListRequest<Item, Section>, from source: some RowSource<Item>
  ) {
    self.init(FetchController(request, from: source))
  }

  public init(_ controller: FetchController<Item, Section>) {
    self.controller = controller
    follow()
  }

  deinit {
    following?.cancel()
    loading?.cancel()
  }

  /// Stops following. What was shown stays.
  public func cancel() {
    following?.cancel()
    end()
  }

  /// Replaces the request; the list changes by one difference. A list that has failed or was cancelled starts again, so
  /// this is also how to retry: `try await list.apply(list.controller.request)`.
  public func apply(_ request: ListRequest<Item, Section>) async throws {
    try await controller.apply(request)
    if following == nil { follow() }
  }

  /// Changes the request in force, as `apply(_:)` does; the list changes by one difference.
  public func apply(
    changing change: @Sendable (inout ListRequest<Item, Section>) -> Void
  ) async throws {
    try await controller.apply(changing: change)
    if following == nil { follow() }
  }

  /// Returns once the list shows the state after an append, also if the append changes nothing in the list: a test, or
  /// a screen that goes on after an edit, waits for it. If the store is open for reading, this waits until the store has
  /// seen that part of the writer's log.
  ///
  /// - Throws: what `FetchController.fetch(through:)` throws. If the list does not follow its controller, and does not
  ///   show that state already: the error with which it has failed, or `CancellationError` if it has ended.
  ///   `CancellationError` also if the task is cancelled. A list that has failed or ended is not started again: that is
  ///   what `apply(_:)` does.
  public func show(through receipt: AppendReceipt) async throws {
    try await controller.fetch(through: receipt)
    try await showPublished()
  }

  /// Waits until what the controller has published is shown.
  private func showPublished() async throws {
    guard let number = controller.publishedNumber else { throw CancellationError() }
    while true {
      // Read before the look: whatever is announced from here on ends the wait.
      let seen = delivered.announcement.number
      if delivered.number >= number { return }
      if Task.isCancelled { throw CancellationError() }
      if following == nil {
        if case .failed(let error) = phase { throw error }
        throw CancellationError()
      }
      await delivered.announcement.wait(beyond: seen)
    }
  }

  private func follow() {
    followed = controller.request
    followCount += 1
    var updates = controller.updates
    updates.delivered = delivered
    following = Task { [weak self, updates, count = followCount] in
      do throws(ListError) {
        for try await update in updates {
          guard let self, isFollowing(count) else { return }
          show(update)
        }
        if let self, isFollowing(count) { end() }
      } catch {
        if let self, isFollowing(count) { fail(error) }
      }
    }
    guard snapshot == nil else { return }
    phase = .loading
    load()
  }

  private func isFollowing(_ count: Int) -> Bool { following != nil && count == followCount }

  private func load() {
    loading?.cancel()
    loading = Task { [weak self] in
      while (try? await Task.sleep(for: .milliseconds(100))) != nil {
        // It may have been cancelled after it slept.
        guard let self, !Task.isCancelled else { return }
        let progress = controller.progress
        if self.progress != progress { self.progress = progress }
      }
    }
  }

  private func endLoading() {
    loading?.cancel()
    loading = nil
    progress = nil
  }

  private func show(_ update: ListUpdate<Item, Section>) {
    snapshot = update.after
    lastUpdate = update
    phase = .ready
    if loading != nil { endLoading() }
  }

  private func end() {
    phase = .ended
    following = nil
    delivered.announcement.announce()
    endLoading()
  }

  private func fail(_ error: ListError) {
    // The request that failed is no longer in force.
    if followed != controller.request { return follow() }
    phase = .failed(error)
    following = nil
    delivered.announcement.announce()
    endLoading()
  }

  /// The sections in order, each with its rows.
  public var sections: ListSections<Item, Section> { ListSections(snapshot: snapshot) }
}

/// The sections of a list. O(1) to make; a section is found in O(log sections).
public struct ListSections<Item: Identifiable & Sendable, Section: Hashable & Sendable>:
  RandomAccessCollection, Sendable
where Item.ID: DocumentID {
  let snapshot: ListSnapshot<Item, Section>?

  package init(snapshot: ListSnapshot<Item, Section>?) { self.snapshot = snapshot }

  public var startIndex: Int { 0 }
  public var endIndex: Int { snapshot?.numberOfSections ?? 0 }
  public subscript(index: Int) -> ListSection<Item, Section> {
    guard let snapshot, index >= 0, index < snapshot.numberOfSections else {
      preconditionFailure("section \(index) is out of range: there are \(endIndex)")
    }
    return ListSection(snapshot: snapshot, index: index)
  }
}

/// A section of a list: a collection of its rows.
public struct ListSection<Item: Identifiable & Sendable, Section: Hashable & Sendable>:
  RandomAccessCollection, Identifiable, Sendable
where Item.ID: DocumentID {
  /// The value that the rows of the section have in common.
  public let id: Section
  /// The number of rows in the section, including those that a limit hides.
  public let totalCount: Int
  private let snapshot: ListSnapshot<Item, Section>
  private let index: Int
  public let endIndex: Int
  /// What the request has counted, summed and compared of its rows, including those that a limit hides.
  public var aggregates: ListAggregates<Item> { snapshot.aggregates(inSectionAt: index) }

  init(snapshot: ListSnapshot<Item, Section>, index: Int) {
    self.snapshot = snapshot
    self.index = index
    id = snapshot.sectionIdentifier(at: index)
    totalCount = snapshot.totalNumberOfItems(inSectionAt: index)
    endIndex = snapshot.numberOfItems(inSectionAt: index)
  }

  public var startIndex: Int { 0 }
  public subscript(item: Int) -> ListRow<Item, Section> {
    precondition(item >= 0 && item < endIndex, "row \(item) is out of range: there are \(endIndex)")
    return ListRow(snapshot, at: ListIndex(section: index, item: item))
  }
}

/// A row of a list: its id, found in O(log n), and its content.
public struct ListRow<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Identifiable, Sendable
where Item.ID: DocumentID {
  public let id: Item.ID
  private let snapshot: ListSnapshot<Item, Section>
  private let index: ListIndex

  init(_ snapshot: ListSnapshot<Item, Section>, at index: ListIndex) {
    (self.snapshot, self.index) = (snapshot, index)
    id = snapshot.itemIdentifier(at: index)
  }

  /// The content, which each call reads and decodes: a view that asks for the ids of all rows decodes none. Nil if the
  /// row cannot be decoded; `snapshot.problems` says why. O(log n), and the decoding of the row.
  public var item: Item? { snapshot.row(at: index) }
}

extension ListSnapshot {
  /// The sections in order, each with its rows.
  public var sections: ListSections<Item, Section> { ListSections(snapshot: self) }
}
