// The delegate of a diffable fetch controller, and where it is called.

internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists

/// Which delegate is called, and where.
struct Recipient<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  enum Place {
    /// On the main actor; the delegate is the controller's `mainDelegate`.
    case main
    /// On the controller's processing queue, or on the delegate itself if it is an actor.
    case processingQueue
  }

  /// How many delegates were set before. A delivery that began for another delegate is not for this one.
  var number = 0
  var place = Place.processingQueue
  weak var delegate: (any DiffableFetchControllerDelegate<Item, Section> & Sendable)?

  mutating func replace(
    by delegate: (any DiffableFetchControllerDelegate<Item, Section> & Sendable)?, at place: Place
  ) {
    self.delegate = delegate
    self.place = place
    number += 1
  }
}

extension DiffableFetchController {
  /// The delegate, which is called on the main actor if it is set here. It is held weakly.
  ///
  /// Any delegate can be set here, `Sendable` or not. If `setDelegate` was called last, this is that delegate.
  @MainActor public var delegate: (any DiffableFetchControllerDelegate<Item, Section>)? {
    get {
      let (isMain, delegate) = state.withLock { ($0.recipient.place == .main, $0.recipient.delegate) }
      return isMain ? mainDelegate : delegate
    }
    set {
      mainDelegate = newValue
      state.withLock { $0.recipient.replace(by: nil, at: .main) }
    }
  }

  /// Sets a delegate that is called on the `processingQueue`, or on itself if it is an actor. It is held weakly.
  ///
  /// It can be called from any isolation. A class that conforms on the main actor alone, as it does where everything is
  /// isolated by default, is rejected by the compiler: set `delegate` instead. Otherwise a method that is isolated to an
  /// actor runs there.
  public func setDelegate(_ delegate: some DiffableFetchControllerDelegate<Item, Section> & Sendable) {
    state.withLock { $0.recipient.replace(by: delegate, at: .processingQueue) }
  }

  /// Removes the delegate. If this is called where the delegate is called, no call follows its return.
  public func removeDelegate() { state.withLock { $0.recipient.replace(by: nil, at: .processingQueue) } }

  /// Where the next change is delivered, and for which delegate.
  var destination: (executor: UpdateExecutor, number: Int) {
    let recipient = state.withLock { $0.recipient }
    switch recipient.place {
    case .main: return (.main, recipient.number)
    case .processingQueue:
      let actor = recipient.delegate as? any Actor
      return (actor.map { .actor($0) } ?? processingQueue, recipient.number)
    }
  }
}
