// One consumer of a list: an iteration, a delegate, an observation, or a façade.

internal import StrataBase
package import StrataEvents
package import StrataLists

/// Whether a consumer that is asked before each look wants one.
package enum ConsumerGate: Sendable {
  case open
  /// For what is published, and not for how following the log ended.
  case listsAlone
  case closed
}

/// A position in a controller's list, and how it goes on. A value that its consumer keeps: a copy that was made before
/// an update is the position without it, but for one that goes append by append, whose fold is shared.
///
/// It does not keep the controller alive: once that is gone there is nothing more to come.
package struct ListConsumer<Item: Identifiable & Sendable, Section: Hashable & Sendable>: NewsSource
where Item.ID: DocumentID {
  package typealias Update = ListUpdate<Item, Section>

  /// A failure that was told, and what was announced before it was found.
  private struct ToldFailure: Sendable {
    /// Nil where it was the look's own, and not one of the controller's.
    var id: FailureID?
    var mark: AnnouncementNumber
  }

  private weak var controller: FetchController<Item, Section>?
  private let announcement: Announcement
  private var options: UpdateOptions<Item>
  /// Nil before the first update.
  private var position: UpdatePosition<Item, Section>?
  /// Nothing is looked for until this is over.
  private var told: ToldFailure?
  /// Asked before each look; who opens it calls the controller's `lookAgain`.
  ///
  /// A consumer with a gate is given every list that is published, also one that does not differ from the one before;
  /// it goes on when the store was closed, and has the log followed by `keepFollowing` alone.
  package var gate: (@Sendable () -> ConsumerGate)?

  init(_ controller: FetchController<Item, Section>, _ options: UpdateOptions<Item>) {
    self.controller = controller
    announcement = controller.announcement
    self.options = options
  }

  /// One that begins at the newest list; nil where there is none.
  init?(atNewestOf controller: FetchController<Item, Section>) {
    let (published, heard) = controller.state.withLock { ($0.published, $0.lastFailure) }
    guard let published else { return nil }
    self.init(controller, UpdateOptions())
    position = UpdatePosition(.init(published), observing: nil)
    position?.heard = heard
  }

  /// The list that it was given last; nil before the first update.
  package var snapshot: FetchSnapshot<Item, Section>? { position?.shown.snapshot }

  /// Waits for what is to be told next. Runs on no actor: the difference is found off the caller's.
  package mutating func nextNews() async -> News<Update> { await next() }

  func mark() -> AnnouncementNumber { announcement.number }

  mutating func look(from mark: inout AnnouncementNumber) async -> News<Update>? {
    guard let controller else { return .end }
    let gate = self.gate?()
    if gate == .closed {
      // How following ends meanwhile is none of its business.
      position?.heard = controller.state.withLock { $0.lastFailure }
      return nil
    }
    if let told {
      // Behind a failure of the controller somebody may have fetched the list before it was told.
      let isHealed = told.id.map { id in id <= controller.state.withLock { $0.healed } } ?? false
      guard isHealed || mark > told.mark else { return nil }
      self.told = nil
    }
    guard let start = position else { return await begin(controller, mark) }
    var position = start
    let ending = controller.state.withLock { $0.ending(after: start.heard) }
    if case .cancelled = ending { return .end }
    do {
      if let update = try await controller.update(from: &position, tellsAll: gate != nil) {
        self.position = position
        return .update(update)
      }
    } catch {
      guard let error = ListError(error) else { return .end }
      if case .failed(_, let id) = ending { self.position?.heard = id }
      return failure(error, nil, mark)
    }
    self.position = position
    switch ending {
    case .none: return nil
    case .cancelled: return .end
    case .ended: return gate == nil ? .end : nil
    case .failed(let error, let id):
      self.position?.heard = id
      return gate == .listsAlone ? nil : failure(error, id, mark)
    }
  }

  private mutating func begin(
    _ controller: FetchController<Item, Section>, _ mark: AnnouncementNumber
  ) async -> News<Update>? {
    if controller.isCancelled { return .end }
    do {
      let (update, position) = try await controller.firstUpdate(options)
      self.position = position
      return .update(update)
    } catch {
      guard let error = ListError(error), !error.isEnd else { return .end }
      if error.refusesToken { options.token = nil }
      return failure(error, nil, mark)
    }
  }

  private mutating func failure(
    _ error: ListError, _ id: FailureID?, _ mark: AnnouncementNumber
  ) -> News<Update> {
    told = ToldFailure(id: id, mark: mark)
    return .failure(error)
  }

  func wait(beyond mark: AnnouncementNumber) async {
    // Who was told of a failure waits for somebody to fetch, and has nothing tried again.
    let follows = gate == nil && told == nil
    await announcement.wait(beyond: mark, follows: follows) { [weak controller = controller] in
      if follows { controller?.follow() }
    }
  }
}

extension FetchController {
  /// A consumer that begins at the newest list; nil where there is none.
  package func consumerAtNewest() -> ListConsumer<Item, Section>? { ListConsumer(atNewestOf: self) }

  /// Has all consumers look again.
  package func lookAgain() { change { _ in .wake } }
}
