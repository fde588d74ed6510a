// Saves the position of one run of a consumer.

internal import StrataBase
internal import StrataLog

/// The position of a run: what is in the store, and what was handled since. Each save expects the version that this run
/// saved before, so a second run of the same consumer cannot save too.
actor ConsumerLedger {
  /// What a handler has added to its batch.
  struct Effects: Sendable {
    var events: [NewEvent] = []
    var expectations: [StreamName: ExpectedVersion] = [:]
    /// What is recorded about the appends that they are effects of, if there are several.
    var causes: [UInt64]?
  }

  private let store: EventStore
  private let stream: StreamName
  private let options: ConsumerOptions
  /// The state as it is to be saved next, but for what was handled.
  private(set) var state: ConsumerState
  /// The version of the consumer's stream that this run knows.
  private var version: UInt64
  /// The last append that was handled and is not part of a saved state yet.
  private var handled: RecordedAppend?
  private(set) var unsavedCount = 0
  /// One save at a time, so that each one expects the version that the one before it made.
  private let turns = Turns<OneThing>()

  init(
    _ store: EventStore, _ stream: StreamName, _ options: ConsumerOptions, _ state: ConsumerState,
    version: UInt64
  ) {
    self.store = store
    self.stream = stream
    self.options = options
    self.state = state
    self.version = version
  }

  /// The run begins at the head, and a later one where this one began.
  func begin(at head: LogPosition) async throws { try await save(nil) { $0.pass(head) } }

  /// An append was handled. Its effects are appended together with the position, in one append; without effects, the
  /// position is saved once enough appends were handled.
  func pass(_ append: RecordedAppend, with effects: Effects) async throws {
    // With effects it counts as handled only when they are in the log.
    guard effects.events.isEmpty else { return try await save(append, with: effects) }
    handled = append
    unsavedCount += 1
    if unsavedCount >= max(1, options.saveCount) { try await save(append) }
  }

  /// An append is set aside.
  func setAside(_ append: RecordedAppend, _ error: any Error) async throws {
    let failure = ConsumerFailure(append, error)
    try await save(append) { $0.setAside(failure) }
  }

  /// The run stops before an append.
  func halt(at append: RecordedAppend, _ error: any Error) async throws {
    let failure = ConsumerFailure(append, error)
    try await save(nil) { $0.lastError = failure }
  }

  /// Saves what was handled, if anything was.
  func saveHandled() async throws {
    guard handled != nil else { return }
    try await save(nil, onlyHandled: true)
  }

  /// - Parameters:
  ///   - passed: the append whose end is the position to save; nil for the last one that was handled.
  ///   - onlyHandled: whether there is nothing to save if another save was faster.
  ///   - change: what else changes in the state, if it is saved: a save that fails leaves nothing for the next one.
  private func save(
    _ passed: RecordedAppend?, with effects: Effects = Effects(), onlyHandled: Bool = false,
    _ change: @Sendable (inout ConsumerState) -> Void = { _ in }
  ) async throws {
    await turns.take()
    defer { turns.give() }
    if onlyHandled, handled == nil { return }
    let last = passed ?? handled
    var next = state
    change(&next)
    if let last { next.pass(try last.position) }
    next.causes = effects.causes
    next.shortenTexts()
    var events = effects.events
    for event in events { try store.checkOwn(event) }
    events.append(try next.event(in: stream, payloadSizeMax: store.log.options.payloadSizeMax))
    var expectations = effects.expectations
    expectations[stream] = .exactly(version)
    let draft = try store.draft(events, id: nil, time: nil, expecting: expectations, isOwn: false)
    do { _ = try await store.append(draft) } catch StoreError.conflict(stream.text, _, _) {
      throw StoreError.consumedElsewhere(stream.id, stream: stream.text)
    }
    version += 1
    // While this was saved, the run may have gone on.
    state = next
    guard let last else { return }
    if let handled, handled.sequences.upperBound <= last.sequences.upperBound {
      self.handled = nil
      unsavedCount = 0
    }
  }
}
