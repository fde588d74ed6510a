// Saves the position of one run of a consumer.

internal import StrataBase
internal import StrataLog

/// The position of a run: what is in the store, and what was handled since. Each save expects the version that this run
/// saved before, so a second run of the same consumer cannot save too.
actor ConsumerLedger {
  private let store: EventStore
  private let stream: StreamName
  private let options: ConsumerOptions
  /// The state as it is to be saved next.
  private(set) var state: ConsumerState
  /// The version of the consumer's stream that this run knows.
  private var version: UInt64
  /// The last append that was handled and is not part of a saved state yet.
  private var handled: RecordedAppend?
  private var unsavedCount = 0
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

  /// An append was handled. Its effects are appended together with the position, in one append; without effects, the
  /// position is saved once enough appends were handled.
  func pass(_ append: RecordedAppend, with effects: WriteBatch) async throws {
    // With effects it counts as handled only when they are in the log.
    guard effects.events.isEmpty else { return try await save(append, with: effects) }
    handled = append
    unsavedCount += 1
    if unsavedCount >= max(1, options.saveCount) { try await save(append) }
  }

  /// An append is set aside.
  func setAside(_ append: RecordedAppend, _ error: any Error) async throws {
    state.setAside(ConsumerFailure(append, error))
    try await save(append)
  }

  /// The run stops before an append.
  func halt(at append: RecordedAppend, _ error: any Error) async throws {
    state.lastError = ConsumerFailure(append, error)
    try await save(nil)
  }

  /// Saves what was handled, if anything was.
  func saveHandled() async throws {
    guard handled != nil else { return }
    try await save(nil, onlyHandled: true)
  }

  /// - Parameters:
  ///   - passed: the append whose end is the position to save; nil for the last one that was handled.
  ///   - onlyHandled: whether there is nothing to save if another save was faster.
  private func save(
    _ passed: RecordedAppend?, with effects: WriteBatch? = nil, onlyHandled: Bool = false
  ) async throws {
    await turns.take()
    defer { turns.give() }
    if onlyHandled, handled == nil { return }
    let last = passed ?? handled
    var next = state
    if let last { next.pass(try last.position) }
    var events = effects?.events ?? []
    for event in events { try store.checkOwn(event) }
    events.append(try next.event(in: stream))
    var expectations = effects?.expectations ?? [:]
    expectations[stream] = .exactly(version)
    let draft = try store.draft(events, id: nil, time: nil, expecting: expectations, isOwn: false)
    do { _ = try await store.append(draft) } catch StoreError.conflict(stream.text, _, _) {
      throw StoreError.consumedElsewhere(stream.id, stream: stream.text)
    }
    version += 1
    guard let last else { return }
    // While this was saved, the run may have gone on, and may have set something aside.
    state.pass(try last.position)
    if let handled, handled.sequences.upperBound <= last.sequences.upperBound {
      self.handled = nil
      unsavedCount = 0
    }
  }
}
