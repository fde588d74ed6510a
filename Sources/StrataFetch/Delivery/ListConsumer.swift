// One consumer of a list: an iteration, a delegate, an observation, or an adapter.

internal import StrataBase
package import StrataEvents
package import StrataLists

/// What a gated consumer may receive at a look.
package enum ConsumerGate: Sendable {
  case open
  /// Receives published lists, but not the end or the failure of following.
  case listsAlone
  case closed
}

/// A position in a controller's list, and how it advances. It is a value that its consumer keeps: a copy made before an
/// update is the position without that update. The exception is a consumer that advances append by append, because its
/// fold is shared with the copy.
///
/// It does not keep the controller alive. After the controller is released, there is nothing more to deliver.
package struct ListConsumer<Item: Identifiable & Sendable, Section: Hashable & Sendable>: NewsSource
where Item.ID: DocumentID {
  package typealias Update = ListUpdate<Item, Section>

  /// A failure that was delivered, and the announcement number before it was found.
  private struct ToldFailure: Sendable {
    /// Nil if the failure came from the look itself and not from the controller.
    var id: FailureID?
    var mark: AnnouncementNumber
  }

  private weak var controller: FetchController<Item, Section>?
  private let announcement: Announcement
  private var options: UpdateOptions<Item>
  /// Nil until the first update.
  private var position: UpdatePosition<Item, Section>?
  /// The consumer looks for nothing until this failure is over.
  private var told: ToldFailure?
  /// Called before each look; after it opens, call the controller's `lookAgain`.
  ///
  /// A consumer with a gate receives every published list, including one that does not differ from the previous one. It
  /// continues when the store is closed, and the log is followed for it only by `keepFollowing`.
  package var gate: (@Sendable () -> ConsumerGate)?
  /// Advances at each look to what was delivered before it, and to a list that the look finds nothing to report of.
  var delivered: DeliveredMark?

  init(_ controller: FetchController<Item, Section>, _ options: UpdateOptions<Item>) {
    self.controller = controller
    announcement = controller.announcement
    self.options = options
  }

  /// A consumer that begins at the newest list; nil if there is none.
  init?(atNewestOf controller: FetchController<Item, Section>) {
    let (published, heard) = controller.state.withLock { ($0.published, $0.lastFailure) }
    guard let published else { return nil }
    self.init(controller, UpdateOptions())
    position = UpdatePosition(.init(published), observing: nil)
    position?.heard = heard
  }

  /// The list that was delivered last; nil before the first update.
  package var snapshot: ListSnapshot<Item, Section>? { position?.shown.snapshot }

  /// Waits for the next thing to deliver. Runs on no actor, so the difference is not computed on the caller's actor.
  package mutating func nextNews() async -> News<Update> { await next() }

  func mark() -> AnnouncementNumber { announcement.number }

  mutating func look(from mark: inout AnnouncementNumber) async -> News<Update>? {
    guard let controller else { return .end }
    let gate = self.gate?()
    if gate == .closed {
      // Failures of following that occur while the gate is closed are skipped.
      position?.heard = controller.state.withLock { $0.lastFailure }
      return nil
    }
    if let told {
      // After a failure of the controller, a fetch may have succeeded before the failure was delivered here.
      let isHealed = told.id.map { id in id <= controller.state.withLock { $0.healed } } ?? false
      guard isHealed || mark > told.mark else { return nil }
      self.told = nil
    }
    guard let start = position else { return await begin(controller, mark) }
    delivered?.advance(to: start.looked.number)
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
    delivered?.advance(to: position.looked.number)
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
      if error.refusesToken { options.start = .newest }
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
    // After a failure, the consumer waits for a fetch by other code, and does not retry by itself.
    let follows = gate == nil && told == nil
    await announcement.wait(beyond: mark, follows: follows) { [weak controller = controller] in
      if follows { controller?.follow() }
    }
  }
}

extension FetchController {
  /// A consumer that begins at the newest list; nil if there is none.
  package func consumerAtNewest() -> ListConsumer<Item, Section>? { ListConsumer(atNewestOf: self) }

  /// Makes all consumers look again.
  package func lookAgain() { change { _ in .wake } }
}
