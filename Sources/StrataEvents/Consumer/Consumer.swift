// A consumer of the change feed with a name, whose position is in the store.

internal import StrataBase
internal import StrataLog

/// A consumer by name: it handles every append of its selection in order, and goes on where it was after a restart.
///
/// ```swift
/// func mail(_ store: EventStore) async throws {
///   try await store.consumer("mailer").run { append, batch in
///     for event in append.events {
///       try batch.append(NewEvent("queued", in: "mail/outbox", ["about": .string(event.stream.id)]))
///     }
///   }
/// }
/// ```
///
/// **Exactly once.** What the handler adds to the batch is appended together with the position, as one append: a
/// consumer that is killed at any moment has appended the effects of every append once. **At least once.** A handler
/// that adds nothing, because it does something outside the store, is called again after a kill for the appends since
/// the last saved position; see ``ConsumerOptions/saveCount``.
///
/// The position is in the stream `$consumer/NAME`, which feeds leave out. One run of a consumer at a time makes sense: if
/// there are two, the one that saves second ends with the reason `consumedElsewhere`.
public struct Consumer: Sendable {
  public let name: String
  let store: EventStore
  let options: ConsumerOptions

  private var stream: StreamName { ConsumerState.stream(of: name) }

  /// Handles every append from the consumer's position on, and waits for new ones. Ends when the task is cancelled, the
  /// store is closed, or everything was handled that there was at the beginning, if that is asked for; then the position
  /// is saved. A consumer that begins at the head saves at once where that is.
  ///
  /// The handler runs in the caller's isolation, with one append at a time. If it throws, it is called again with the
  /// same append and an empty batch, as often as the options say, and then the policy applies. See
  /// ``ConsumerOptions/batchCount`` for effects of several appends in one. An expectation in the
  /// batch that is not met counts as an error of the handler, and so does an event that the store does not take. A disk
  /// that is full does not: what the handler has done is saved again after a pause, as often as the options say.
  ///
  /// - Parameters:
  ///   - end: `.caughtUp` for work that is done from time to time, instead of all the time.
  ///   - handle: handles an append, and adds its effects in the store to the batch.
  /// - Throws: the handler's error under ``ConsumerFailurePolicy/halt``; `StoreError.unavailable` with the reason
  ///   `consumedElsewhere` if another run has saved a position; `undecodable` if the saved one cannot be read; what feeds
  ///   and appends throw. An error of a save leaves the position as it was: what was handled since may be handled again.
  public nonisolated(nonsending) func run(
    until end: FeedEnd = .never,
    _ handle: (RecordedAppend, inout WriteBatch) async throws -> Void
  ) async throws {
    var (state, version) = try await load()
    state.selection = options.selection.byName
    let ledger = ConsumerLedger(store, stream, options, state, version: version)
    let saver = Task { [options] in
      while !Task.isCancelled {
        try await Task.sleep(for: max(options.saveInterval, .milliseconds(1)))
        // An error here comes again at the next save, where it is thrown.
        try? await ledger.saveHandled()
      }
    }
    defer { saver.cancel() }
    do {
      let start = try await start(state, ledger)
      let feed = FeedPosition(store.feed(of: options.selection, from: start, until: end))
      while let appends = try await feed.nextBatch(gathering: options.batchCount) {
        try await pass(appends, ledger, handle)
      }
    } catch {
      // The task may be cancelled, and what was handled is saved all the same.
      _ = await Task { try await ledger.saveHandled() }.result
      if error is CancellationError && Task.isCancelled { return }
      if (error as? StoreError) == .closed && store.unavailability != nil { return }
      throw error
    }
    let saved = await Task { try await ledger.saveHandled() }.result
    if case .failure(let error) = saved, (error as? StoreError) != .closed { throw error }
  }

  /// Where a run begins. The head is another one at each run, so the first run saves the one that it began at.
  private func start(_ state: ConsumerState, _ ledger: ConsumerLedger) async throws -> LogPoint {
    guard state.at == nil else { return try Self.point(of: state, in: stream) }
    guard options.start == .head else { return options.start }
    let head = store.head
    // A store that is open for reading takes no position.
    if !store.log.isReadOnly { try await savingAgain { try await ledger.begin(at: head) } }
    return .position(head)
  }

  /// How far the consumer is. O(1) for its state, and O(events after its position) for the lag, which counts the events
  /// of its selection.
  public func status() async throws -> ConsumerStatus {
    let (state, savedAt) = try await newestState() ?? (ConsumerState(), nil)
    let start = try state.at == nil ? options.start : Self.point(of: state, in: stream)
    var lag: UInt64 = 0
    for try await append in store.feed(of: options.selection, from: start, until: .caughtUp) {
      lag += UInt64(append.events.count)
    }
    return ConsumerStatus(
      name, state, savedAt: savedAt, lag: lag, isLagExact: true,
      selectsNothing: options.selection.isEmpty)
  }

  /// Deletes the consumer's position, and what it set aside. A later run begins where the options say.
  public func delete() async throws {
    guard let last = try await store.events(in: stream, before: nil, limit: 1).first,
      last.type != ConsumerState.deleted
    else { return }
    _ = try await store.append(
      store.draft(
        [NewEvent(ConsumerState.deleted, in: stream, .null)], id: nil, time: nil, expecting: [:], isOwn: false
      ))
  }
}

// MARK: Running

extension Consumer {
  /// Handles one append, again after errors, or sets it aside, or throws.
  nonisolated(nonsending) func pass(
    _ append: RecordedAppend, _ ledger: ConsumerLedger,
    _ handle: (RecordedAppend, inout WriteBatch) async throws -> Void
  ) async throws {
    var retries = Retries(options)
    while true {
      do {
        var batch = WriteBatch(store: store)
        do { try await handle(append, &batch) } catch {
          throw isEnd(error) ? error : Refusal(error: error) as any Error
        }
        let effects = ConsumerLedger.Effects(events: batch.events, expectations: batch.expectations)
        return try await pass(append, effects, ledger)
      } catch let refusal as Refusal {
        if try await retries.next() { continue }
        guard options.onFailure == .setAside else {
          try? await ledger.halt(at: append, refusal.error)
          store.noteHalt(of: name, at: append, refusal.error)
          throw refusal.error
        }
        return try await savingAgain { try await ledger.setAside(append, refusal.error) }
      }
    }
  }

  /// An error that is the handler's, or that of the batch it has filled.
  struct Refusal: Error {
    var error: any Error
  }

  /// Appends what a handler has added, with the position, or notes that it has added nothing.
  nonisolated(nonsending) func pass(
    _ append: RecordedAppend, _ effects: ConsumerLedger.Effects, _ ledger: ConsumerLedger
  ) async throws {
    do throws(any Error) { try await savingAgain { try await ledger.pass(append, with: effects) } } catch {
      switch error as? StoreError {
      case .conflict, .idReused, .invalid: throw effects.events.isEmpty ? error : Refusal(error: error)
      default: throw error
      }
    }
  }

  /// Saves, and tries again while the disk is full, as often as the options say of a handler.
  nonisolated(nonsending) func savingAgain(_ save: () async throws -> Void) async throws {
    var retries = Retries(options)
    while true {
      do throws(any Error) { return try await save() } catch {
        guard case .full = error as? StoreError, try await retries.next() else { throw error }
      }
    }
  }

  /// Whether an error of a handler says that the run ends: that its task was cancelled, or that its store was closed,
  /// suspended or can no longer write. The same errors of another task or store are the handler's.
  func isEnd(_ error: any Error) -> Bool {
    if error is CancellationError { return Task.isCancelled }
    if case .unavailable = error as? StoreError { return store.unavailability != nil }
    return false
  }

  /// Counts tries, and waits between two of them.
  private struct Retries {
    private var left: Int
    private var delay: Duration

    init(_ options: ConsumerOptions) { (left, delay) = (options.retryCount, options.retryDelay) }

    /// Waits for the next try; false if there is none.
    mutating func next() async throws(CancellationError) -> Bool {
      guard left > 0 else { return false }
      left -= 1
      do { try await Task.sleep(for: delay) } catch { throw CancellationError() }
      delay = max(delay, min(delay * 2, ConsumerOptions.retryDelayMax))
      return true
    }
  }

  private static func point(of state: ConsumerState, in stream: StreamName) throws(StoreError) -> LogPoint {
    guard let position = state.position else {
      throw .undecodable(
        what: "\(stream) names no position: \(state.at ?? "")",
        next: "delete the consumer, and begin it anew where it should go on")
    }
    return .position(position)
  }

  /// The consumer's state and the version of its stream.
  private func load() async throws(StoreError) -> (state: ConsumerState, version: UInt64) {
    guard let event = try await store.events(in: stream, before: nil, limit: 1).first else {
      return (ConsumerState(), 0)
    }
    return (try ConsumerState(event) ?? ConsumerState(), event.revision)
  }

  private func newestState() async throws(StoreError) -> (ConsumerState, Timestamp?)? {
    guard let event = try await store.events(in: stream, before: nil, limit: 1).first,
      let state = try ConsumerState(event)
    else { return nil }
    return (state, event.time)
  }
}
