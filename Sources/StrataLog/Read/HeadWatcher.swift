// Follows another process's writer: polls HEAD, and moves the visible mark.

internal import StrataBase

/// Checks a store that another process may write to: on request, and on a thread that starts when a caller first waits
/// at the end and runs until the store is closed.
///
/// The thread checks when the file system notifies it of a write to the store's folder, if it can, and also now and
/// then, because not every write leads to a notification everywhere. It checks LOCK once a second, to notice a writer
/// that ended or a new one. Under load it checks once a millisecond and sees many appends at once.
package final class HeadWatcher: Sendable {
  private struct State {
    var reader: HeadReader
    /// True while a check is in progress. A check blocks on the file system, so it runs without the lock.
    var isLooking = false
    var isRunning = false
    var isSuspended = false
    var isStopped = false
    var watch: (any FolderWatch)?
  }

  private static let probeInterval: Duration = .seconds(1)

  private let source: LogSource
  private let options: StoreOptions
  private let state: Gate<State>

  init(_ reader: HeadReader, source: LogSource, _ options: StoreOptions) {
    self.source = source
    self.options = options
    state = Gate(State(reader: reader))
  }

  /// Starts the thread if it is not running, even if it ended with an error that may have passed.
  package func start() throws(StoreError) {
    let starts = state.withLock { state in
      guard !state.isRunning, !state.isStopped else { return false }
      state.isRunning = true
      return true
    }
    guard starts else { return }
    source.tail.reopen()
    do throws(StoreError) {
      // The thread retains this object and not the log, whose deinit stops it.
      try options.machine.start("strata-follow") { self.run() }
    } catch {
      // Others may have left it to this caller.
      ended(by: error)
      throw error
    }
  }

  /// Checks once, now, and publishes what is new: for a caller that knows of an append that this reader has not seen
  /// yet. Blocks. Does nothing while suspended.
  package func refresh() throws(StoreError) {
    do throws(StoreError) { _ = try look(probes: true, waits: false) } catch {
      if error.isDiverged { source.tail.finish(error) }
      throw error
    }
  }

  /// Waits for a check in progress to end and starts none until `resume`: no file is accessed in between.
  func suspend() {
    state.withLock { $0.isSuspended = true }
    state.signalAll()
    state.wait { !$0.isLooking }
  }

  /// Continues, once a check has succeeded.
  func resume() throws(StoreError) {
    _ = try look(probes: true, waits: false, evenSuspended: true)
    state.withLock { $0.isSuspended = false }
    state.signalAll()
  }

  func stop() {
    let watch = state.withLock { state in
      state.isStopped = true
      return state.watch
    }
    watch?.close()
    state.signalAll()
  }

  private func run() {
    // The watch begins before the first check, so that no write between the two is missed.
    let watch = source.catalog.fileSystem.watch(source.catalog.layout.root)
    state.withLock { state in
      assert(state.isRunning, "isRunning is true while the thread runs")
      state.watch = watch
    }
    var pace = LookPace(hasNotices: watch != nil)
    var wasTold = false
    var lastProbe = MonotonicTime.now()
    while true {
      let lastLook = MonotonicTime.now()
      let probes = lastProbe.elapsed >= Self.probeInterval
      if probes { lastProbe = lastLook }
      do throws(StoreError) {
        guard let isNew = try look(probes: probes, waits: true) else { return }
        pace.looked(isNew: isNew, wasTold: wasTold)
      } catch {
        if error.isPassing { end(for: error, watch) } else { source.tail.finish(error) }
        return
      }
      switch watch?.wait(timeout: pace.timeout) {
      case .changed:
        wasTold = true
        let rest = LookPace.pauseMin - lastLook.elapsed
        if rest > .zero {
          rests(for: rest)
          // The next check covers the notifications that arrived during the pause.
          _ = watch?.wait(timeout: .zero)
        }
      case .none?: wasTold = false
      case .failed:
        pace.hasNotices = false
        rests(for: pace.timeout)
        wasTold = false
      case nil:
        rests(for: pace.timeout)
      case .closed: return
      }
    }
  }

  /// Ends the thread so that it can be started again.
  private func end(for error: StoreError, _ watch: (any FolderWatch)?) {
    let isMine = state.withLock { state in
      defer { state.watch = nil }
      return !state.isStopped
    }
    if isMine { watch?.close() }
    ended(by: error)
  }

  /// Ends the waits of all who follow the log. In one step, since a caller that starts the thread again clears the end.
  private func ended(by error: StoreError) {
    state.withLock { state in
      assert(state.isRunning, "an ending follower was running")
      source.tail.finish(error)
      state.isRunning = false
    }
  }

  private func rests(for pause: Duration) { _ = state.wait(timeout: pause) { $0.isStopped } }

  /// Checks HEAD, and LOCK too if `probes` is true. True if the mark moved; nil once this was stopped, or if it is
  /// suspended and the caller neither waits for the end of the suspension nor ends it.
  private func look(probes: Bool, waits: Bool, evenSuspended: Bool = false) throws(StoreError) -> Bool? {
    let turn = state.wait { state -> HeadReader?? in
      let isHeldUp = state.isSuspended && !evenSuspended
      if state.isStopped || (isHeldUp && !waits) { return .some(nil) }
      guard !state.isLooking, !isHeldUp else { return nil }
      state.isLooking = true
      return state.reader
    }
    guard var reader = turn else { return nil }
    defer {
      state.withLock { state in
        assert(state.isLooking, "only one thread checks at a time")
        state.reader = reader
        state.isLooking = false
      }
      state.signalAll()
    }
    let before = source.tail.mark
    let mark = try reader.mark(after: before, probes: probes, patience: options.patience)
    assert(source.tail.mark == before, "only a check moves a reader's end")
    if mark != before { source.tail.publish(mark) }
    return mark != before
  }
}

/// The time between two checks of HEAD.
package struct LookPace {
  /// The shortest time between two checks.
  package static let pauseMin: Duration = .milliseconds(1)
  /// The longest time without notifications.
  package static let pauseMax: Duration = .milliseconds(20)
  /// The longest time while changes are announced by notifications.
  package static let toldPauseMax: Duration = .seconds(1)

  /// Whether the file system sends notifications.
  package var hasNotices: Bool
  /// Whether a notification announced the last change.
  private var isTold = false
  private var pause = pauseMin

  package init(hasNotices: Bool) { self.hasNotices = hasNotices }

  /// Records the result of a check. If it finds a change that no notification announced, notifications are no longer
  /// trusted until one announces a change again.
  package mutating func looked(isNew: Bool, wasTold: Bool) {
    assert(pause >= Self.pauseMin && pause <= Self.pauseMax, "a pause is within its limits")
    guard isNew else {
      pause = min(pause * 2, Self.pauseMax)
      return
    }
    isTold = wasTold
    pause = Self.pauseMin
  }

  /// How long to wait for a notification, or for the next check without one.
  package var timeout: Duration { hasNotices && isTold ? Self.toldPauseMax : pause }
}

extension HeadReader {
  /// The visible end, which is not before `old` and follows the same events.
  ///
  /// A writer that opens the store, or a backup into it, renames its files one after another. So a finding beside a
  /// writer leaves the end where it was, until checks have had findings for as long as `patience`.
  ///
  /// Throws `diverged` if the folder now holds another store, whatever its segments look like: HEAD says which store it
  /// is.
  fileprivate mutating func mark(
    after old: VisibleMark, probes: Bool, patience: Duration
  ) throws(StoreError) -> VisibleMark {
    let epochBefore = epoch
    do throws(StoreError) {
      let mark = try markOfStore(after: old, probes: probes)
      wrongSince = nil
      return mark
    } catch {
      // The checks that a new epoch requires were not completed.
      epoch = epochBefore
      settledHead = nil
      guard case .damaged = error, let (isAlive, head) = try? state() else { throw error }
      if let head { try check(head, after: old) }
      let since = wrongSince ?? .now()
      wrongSince = since
      guard isAlive, since.elapsed < patience else { throw error }
      return old
    }
  }

  private func check(_ head: HeadSlot, after old: VisibleMark) throws(StoreError) {
    guard head.storeID == catalog.storeID else { throw .diverged(sequence: old.sequence) }
  }

  private mutating func markOfStore(
    after old: VisibleMark, probes: Bool
  ) throws(StoreError) -> VisibleMark {
    let epochBefore = epoch
    let mark: VisibleMark
    if probes {
      mark = try probe(beyond: old)
    } else {
      let head = try head()
      if let head { try check(head, after: old) }
      mark = try head.map { head throws(StoreError) in try sight(of: head, ifBeyond: old) } ?? old
    }
    guard mark.sequence >= old.sequence else { throw .diverged(sequence: old.sequence) }
    // Another writer opened the store, and what the previous one had only buffered may be lost, with other events in
    // its place.
    if epoch != epochBefore {
      let chain = try chain(after: old.sequence, in: mark)
      guard chain == old.visible.chain else { throw .diverged(sequence: old.sequence) }
    }
    return mark
  }

  /// The visible end, after a check of LOCK.
  private mutating func probe(beyond old: VisibleMark) throws(StoreError) -> VisibleMark {
    let (isAlive, head) = try state()
    if let head { try check(head, after: old) }
    if isAlive, let head { return try sight(of: head, ifBeyond: old) }
    // A writer replaces HEAD before it appends, so the same HEAD means that nothing is new.
    if let head, head == settledHead { return old }
    let mark = try look().mark
    let after = try state()
    settledHead = !after.isAlive && after.head == head ? head : nil
    return mark
  }

  /// HEAD's mark, or the old one if HEAD says nothing newer. HEAD may lag behind what a reader found while no writer
  /// was alive, until the next writer has opened the store: that writer then promises it too.
  private mutating func sight(
    of head: HeadSlot, ifBeyond old: VisibleMark
  ) throws(StoreError) -> VisibleMark {
    if head.visible.sequence < old.sequence {
      guard head.epoch > epoch else { return old }
      throw .diverged(sequence: old.sequence)
    }
    if head.visible == old.visible, head.durable == old.durable, head.segment == old.segment { return old }
    return try sight(of: head)
  }

  /// The chain after a sequence, from newly opened files: what is known about the open ones is older.
  private func chain(after sequence: UInt64, in mark: VisibleMark) throws(StoreError) -> UInt64? {
    let fresh = SegmentCatalog(
      fileSystem: catalog.fileSystem, layout: catalog.layout, storeID: catalog.storeID, names: catalog.names)
    return try LogSource(catalog: fresh, tail: VisibleTail(mark)).chain(after: sequence)
  }
}
