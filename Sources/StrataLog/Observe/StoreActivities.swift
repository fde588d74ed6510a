// The activities of a store as an async sequence.

/// What a store did by itself since it was opened, and goes on to do. See `EventStore.activities`.
///
/// Each iterator begins with the activities of the open, if it is made before 256 others have followed, and then receives
/// each in order. One that lags by more than 256 receives `StoreActivity.missed` in place of those that it missed. The
/// sequence holds neither the store nor a thread, and ends when the store is closed, or its task cancelled.
public struct StoreActivities: AsyncSequence, Sendable {
  private let observation: StoreObservation

  package init(_ observation: StoreObservation) { self.observation = observation }

  public func makeAsyncIterator() -> Iterator { Iterator(observation) }

  public struct Iterator: AsyncIteratorProtocol {
    private let listener: Listener
    private var position: UInt64 = 0

    fileprivate init(_ observation: StoreObservation) { listener = Listener(observation) }

    public mutating func next() async -> StoreActivity? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> StoreActivity? {
      var position = position
      defer { self.position = position }
      return await listener.observation.next(after: &position)
    }
  }
}

/// Counts an iterator for as long as it lives.
private final class Listener: Sendable {
  let observation: StoreObservation

  init(_ observation: StoreObservation) {
    self.observation = observation
    observation.addListener()
  }

  deinit { observation.removeListener() }
}
