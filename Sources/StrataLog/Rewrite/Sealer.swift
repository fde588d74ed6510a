// Rewrites closed segments: in the background one after another, or at once for somebody who asks.

internal import StrataBase

/// The one place in a store from which segments are rewritten, so that there is one rewrite at a time.
final class Sealer: Sendable {
  private struct State {
    /// Segments that the background thread is to seal.
    var pending: [SegmentName] = []
    var hasThread = false
    var isBusy = false
    var isStopped = false
    var lock: StoreLock
    /// Segments of which a rewrite failed, perhaps when the new file had the name already.
    var doubtful: Set<SegmentName> = []
    /// What is wrong with segments that could not be sealed for that reason.
    var damage: [SegmentName: StoreFinding] = [:]
  }

  private let source: LogSource
  private let options: StoreOptions
  private let state: Gate<State>

  init(source: LogSource, options: StoreOptions, lock: StoreLock) {
    self.source = source
    self.options = options
    state = Gate(State(lock: lock))
  }

  // MARK: In the background

  /// Seals segments when it is their turn. What cannot be sealed stays as it is, which is no loss: it is tried again
  /// when the store is next opened. That a segment is damaged is known from then on, and said.
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
        options.damageFound?(finding)
      }
    }
  }

  /// What was found wrong in the background, in the order of the log.
  var damage: [StoreFinding] { state.withLock { $0.damage.sorted { $0.key < $1.key }.map(\.value) } }

  /// The next segment to seal, or nil where there is none: the thread then ends.
  private func next() -> SegmentName? {
    let segment = state.withLock { state -> SegmentName? in
      assert(state.hasThread, "a thread that seals is counted until it ends")
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

  /// Begins nothing any more, and lets what is being rewritten end early.
  func stop() {
    state.withLock { $0.isStopped = true }
    state.signalAll()
  }

  /// Throws where this store is another writer's by now.
  func checkLock() throws(StoreError) { try state.withLock { $0.lock }.check() }

  /// Goes on under the lock that was taken again after a suspension. After `stop` and `finish`.
  func reopen(_ lock: StoreLock) {
    state.withLock { state in
      assert(!state.hasThread && !state.isBusy, "nothing is rewritten while the store is suspended")
      state.lock = lock
      state.pending = []
      state.isStopped = false
    }
  }

  /// Waits until nothing is being rewritten. After `stop`.
  func finish() { state.wait { !$0.hasThread && !$0.isBusy } }

  // MARK: One segment

  /// Rewrites a closed segment on this thread, behind whoever is at it.
  ///
  /// - Parameters:
  ///   - erases: which events lose their content; where it is nil, a segment that was rewritten before is left as it
  ///     is.
  ///   - isMarking: unless its header has no mark of what is erased in it, as those of earlier versions have none.
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
    if isStopped { throw .closed }
    defer {
      state.withLock { state in
        assert(state.isBusy, "one segment at a time is rewritten")
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
    // Another writer's segments are not for this one to replace.
    let (lock, isDoubtful) = state.withLock { ($0.lock, $0.doubtful.contains(segment)) }
    try lock.check()
    let rewriter = SegmentRewriter(
      fileSystem: catalog.fileSystem, layout: catalog.layout, lock: lock,
      blockSizeTarget: options.blockSizeTarget,
      erases: erases, isDoubtful: isDoubtful, isStopped: { [state] in state.withLock { $0.isStopped } })
    do throws(StoreError) {
      let outcome = try rewriter.rewrite(segment, storeID: catalog.storeID, next: next)
      if case .rewritten = outcome {
        catalog.replaced(segment)
        state.withLock {
          $0.doubtful.remove(segment)
          $0.damage[segment] = nil
        }
      }
      return outcome
    } catch {
      // The new file may have the name, though perhaps not on the disk, and the old one's content may be gone from it.
      catalog.replaced(segment)
      state.withLock { _ = $0.doubtful.insert(segment) }
      throw error
    }
  }
}
