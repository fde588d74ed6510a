// What observes a store: an object of the program, or of an adapter to logs, metrics and traces.

/// Receives what a store does. Give one to `StoreOptions.observer`.
///
/// Both methods are called on a thread of the store's own, one call after another, in the order in which things happened,
/// and while the store holds no lock. So they may call the store, close it, and take their time: up to 1,024 activities and
/// steps wait, and what finds no room is dropped and counted. The next call then says `missed`, and
/// `StoreStatistics.droppedCount` counts all of them. Steps leave a quarter of the room for activities.
///
/// Calls may still come for a moment after the store is closed.
public protocol StoreObserver: Sendable {
  /// Something happened that is rare: see `StoreActivity`.
  func store(did activity: StoreActivity)

  /// The store has done a piece of work: see `StoreStep`. Does nothing unless it is implemented.
  func store(took step: StoreStep)
}

/// An observer that also wants the calls of the program, each with what surrounds it: a trace.
public protocol StoreCallObserver: StoreObserver {
  /// Called in the task, or on the thread, that appends, fetches or reads the past, before it begins, and while it holds no
  /// lock of the store. What it returns is in the step that follows, `StoreStep.context`; with nil there is none.
  func contextOfCall() -> (any Sendable)?
}

extension StoreObserver {
  public func store(took step: StoreStep) {}
}

/// A piece of work that a store has done, with its time: a group of appends, a slice of a fold, a read of the past. None is
/// made for a single event.
public struct StoreStep: Sendable {
  public var work: Work
  /// When it began, in nanoseconds since 1970-01-01T00:00:00Z.
  public var begin: Int64
  public var duration: Duration
  /// What `StoreCallObserver.contextOfCall` returned, for a call of the program; nil for all else.
  public var context: (any Sendable)?

  /// Later versions may have more cases, so a `switch` over them needs a `default`.
  public enum Work: Sendable, Equatable {
    /// A call that appended, from its beginning to its acknowledgement or refusal. Only for a `StoreCallObserver` that
    /// gives it a context.
    case append(eventCount: Int)
    /// Appends were written with one write and one sync, or with the next sync where the store only buffers.
    ///
    /// - Parameters:
    ///   - appendCount: the appends that were written.
    ///   - eventCount: their events.
    ///   - byteCount: the bytes of the blocks in the log.
    ///   - sync: the time of the sync, which is part of the duration; zero if there was none.
    case commit(appendCount: UInt64, eventCount: UInt64, byteCount: UInt64, sync: Duration)
    /// A slice of the fold of a projection.
    case fold(projection: String, eventCount: UInt64)
    /// A list was fetched at the head, with the fold that it waited for.
    case fetch
    /// Lists at points of the past were made or read.
    case past
  }

  package init(_ work: Work, begin: Int64, duration: Duration, context: (any Sendable)? = nil) {
    self.work = work
    self.begin = begin
    self.duration = duration
    self.context = context
  }
}
