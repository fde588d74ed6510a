// Rewrites closed segments: in the background one after another, or immediately on request.

internal import StrataBase

/// Runs all rewrites of a store's segments, so that only one is in progress at a time.
final class Sealer: Sendable {
  private struct State {
    /// The segments that the background thread has yet to seal.
    var pending: [SegmentName] = []
    var hasThread = false
    var isBusy = false
    var isStopped = false
    var lock: StoreLock
    /// Segments whose rewrite failed, perhaps after the new file already had the name.
    var doubtful: Set<SegmentName> = []
    /// The findings in segments that could not be sealed because of them.
    var damage: [SegmentName: StoreFinding] = [:]
  }

  private let source: LogSource
  private let options: StoreOptions
  private let observation: StoreObservation
  private let state: Gate<State>

  init(source: LogSource, options: StoreOptions, lock: StoreLock, observation: StoreObservation) {
    self.source = source
    self.options = options
    self.observation = observation
    state = Gate(State(lock: lock))
  }

  // MARK: In the background

  /// Queues segments for sealing. A segment that cannot be sealed stays as it is, which loses nothing: the next open of
  /// the store tries again. If the reason is damage, the finding is kept and reported.
  func add(_ segments: [SegmentName]) {
    let begins = state.withLock { state in
      guard !state.isStopped else { return false }
      state.pending += segments
      guard !state.pending.isEmpty, !state.hasThread else { return false }
      state.hasThread = true
      return true
    }
    guard begins else { return }
    let thread = try? options.machine.start("strata-seal") { [self] in sealPending() }
    if thread == nil { endThread() }
  }

  private func sealPending() {
    DedicatedThread.giveWayToOthers()
    while let segment = next() {
      do throws(StoreError) { _ = try rewrite(segment, erasing: nil) } catch {
        guard case .damaged(let finding) = error else { continue }
        state.withLock { $0.damage[segment] = finding }
        observation.note(.damage(finding))
        options.damageFound?(finding)
      }
    }
  }

  /// The findings of the background thread, in the order of the log.
  var damage: [StoreFinding] { state.withLock { $0.damage.sorted { $0.key < $1.key }.map(\.value) } }

  /// The next segment to seal, or nil if there is none: the thread then ends.
  private func next() -> SegmentName? {
    let segment = state.withLock { state -> SegmentName? in
      assert(state.hasThread, "hasThread is true until the sealing thread ends")
      guard !state.isStopped, !state.pending.isEmpty else {
        state.hasThread = false
        return nil
      }
      return state.pending.removeFirst()
    }
    if segment == nil { state.signalAll() }
    return segment
  }

  private func endThread() {
    state.withLock { $0.hasThread = false }
    state.signalAll()
  }

  /// Starts no more rewrites, and lets the current one end early.
  func stop() {
    state.withLock { $0.isStopped = true }
    state.signalAll()
  }

  /// Throws if another writer has taken over the store.
  func checkLock() throws(StoreError) { try state.withLock { $0.lock }.check() }

  /// Continues with the lock that was acquired again after a suspension. Call it after `stop` and `finish`.
  func reopen(_ lock: StoreLock) {
    state.withLock { state in
      assert(!state.hasThread && !state.isBusy, "nothing is rewritten while the store is suspended")
      state.lock = lock
      state.pending = []
      state.isStopped = false
    }
  }

  /// Waits until nothing is being rewritten. Call it after `stop`.
  func finish() { state.wait { !$0.hasThread && !$0.isBusy } }

  // MARK: One segment

  /// Rewrites a closed segment on this thread, once no other rewrite is in progress.
  ///
  /// - Parameters:
  ///   - erases: which events lose their content; if nil, a segment that was rewritten before is left as it is.
  ///   - isMarking: also rewrites such a segment if its header has no mark of what is erased in it, as with those of
  ///     earlier versions.
  func rewrite(
    _ segment: SegmentName, erasing erases: ((borrowing EventView, _ sequence: UInt64) -> Bool)?,
    isMarking: Bool = false
  ) throws(StoreError) -> SegmentRewriter.Outcome {
    let isStopped = state.wait { state -> Bool? in
      if state.isStopped { return true }
      guard !state.isBusy else { return nil }
      state.isBusy = true
      return false
    }
    if isStopped { return .stopped }
    defer {
      state.withLock { state in
        assert(state.isBusy, "only one segment is rewritten at a time")
        state.isBusy = false
      }
      state.signalAll()
    }
    let catalog = source.catalog
    guard let after = catalog.name(after: segment) else {
      throw .invalid(what: "the active segment is not rewritten")
    }
    if erases == nil {
      let header = try catalog.segment(segment).header
      if header.isRewritten, !isMarking || header.erasureMark != nil { return .unchanged(left: nil) }
    }
    let next = try catalog.segment(after).header
    // This store must not replace another writer's segments.
    let (lock, isDoubtful) = state.withLock { ($0.lock, $0.doubtful.contains(segment)) }
    try lock.check()
    let rewriter = SegmentRewriter(
      fileSystem: catalog.fileSystem, layout: catalog.layout, lock: lock,
      blockSizeTarget: options.blockSizeTarget,
      erases: erases, isDoubtful: isDoubtful, isStopped: { [state] in state.withLock { $0.isStopped } })
    do throws(StoreError) {
      let outcome = try rewriter.rewrite(segment, storeID: catalog.storeID, next: next)
      if case .rewritten = outcome {
        observation.counters.addSeal()
        catalog.replaced(segment)
        state.withLock {
          $0.doubtful.remove(segment)
          $0.damage[segment] = nil
        }
      }
      return outcome
    } catch {
      // The new file may have the name, though perhaps not on disk, and its content may lack what was erased.
      catalog.replaced(segment)
      state.withLock { _ = $0.doubtful.insert(segment) }
      throw error
    }
  }
}
