// Follows another process's writer: looks at HEAD, and moves the visible mark.

internal import StrataBase

/// Looks for a store that another process may write to: when it is asked, and on a thread that begins when somebody
/// first waits at the end and goes on until the store is closed.
///
/// The thread looks when the file system tells of a write to the store's folder, where it tells of any, and now and
/// then without being told, because not every write is told everywhere. It looks at LOCK once a second, to notice a
/// writer that went away or a new one. Under load it looks once a millisecond and sees many appends at once.
package final class HeadWatcher: Sendable {
  private struct State {
    var reader: HeadReader
    /// True while somebody looks. Looking blocks on the file system, so it is done without the lock.
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

  /// Starts the thread if it does not run, also where it ended with an error that may have passed.
  package func start() throws(StoreError) {
    let starts = state.withLock { state in
      guard !state.isRunning, !state.isStopped else { return false }
      state.isRunning = true
      return true
    }
    guard starts else { return }
    source.tail.reopen()
    do throws(StoreError) {
      // The thread holds this and not the log, whose end stops it.
      try options.machine.start("strata-follow") { self.run() }
    } catch {
      state.withLock { $0.isRunning = false }
      throw error
    }
  }

  /// Looks once, now, and publishes what is new: for who heard elsewhere of what this has not seen yet. Blocks. While
  /// this is suspended it looks at nothing.
  package func refresh() throws(StoreError) {
    do throws(StoreError) { _ = try look(probes: true, waits: false) } catch {
      if error.isDiverged { source.tail.finish(error) }
      throw error
    }
  }

  /// Ends a look that is under way and begins none until `resume`: no file is touched in between.
  func suspend() {
    state.withLock { $0.isSuspended = true }
    state.signalAll()
    state.wait { !$0.isLooking }
  }

  /// Goes on, once a look has shown that the store can be looked at.
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
    // Watched before the first look, so that nothing is written between the two unseen and untold.
    let watch = source.catalog.fileSystem.watch(source.catalog.layout.root)
    state.withLock { state in
      assert(state.isRunning, "the thread runs for as long as it is said to")
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
          // What was told in the meantime is seen by the look that follows.
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
    // In one step, since who starts it again takes the end of the log back.
    state.withLock { state in
      assert(state.isRunning, "a follower that ends was running")
      source.tail.finish(error)
      state.isRunning = false
    }
  }

  private func rests(for pause: Duration) { _ = state.wait(timeout: pause) { $0.isStopped } }

  /// Looks at HEAD, or at LOCK too. True where the mark moved; nil once this was stopped, and where it is suspended
  /// and the caller neither waits for the end of that nor ends it.
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
        assert(state.isLooking, "one thread looks at a time")
        state.reader = reader
        state.isLooking = false
      }
      state.signalAll()
    }
    let before = source.tail.mark
    let mark = try reader.mark(after: before, probes: probes, patience: options.patience)
    assert(source.tail.mark == before, "only who looks moves a reader's end")
    if mark != before { source.tail.publish(mark) }
    return mark != before
  }
}

/// How long to wait between two looks at HEAD.
package struct LookPace {
  /// The shortest time between two looks.
  package static let pauseMin: Duration = .milliseconds(1)
  /// The longest where nothing is told.
  package static let pauseMax: Duration = .milliseconds(20)
  /// The longest where what is new was told.
  package static let toldPauseMax: Duration = .seconds(1)

  /// Whether the file system tells of anything.
  package var hasNotices: Bool
  /// What was new last had been told.
  private var isTold = false
  private var pause = pauseMin

  package init(hasNotices: Bool) { self.hasNotices = hasNotices }

  /// Notes what a look came to. One that finds something new of which nothing was told takes back the trust in
  /// notices, until one proves right.
  package mutating func looked(isNew: Bool, wasTold: Bool) {
    assert(pause >= Self.pauseMin && pause <= Self.pauseMax, "a pause is within its limits")
    guard isNew else {
      pause = min(pause * 2, Self.pauseMax)
      return
    }
    isTold = wasTold
    pause = Self.pauseMin
  }

  /// How long to wait for a notice, or for the next look without one.
  package var timeout: Duration { hasNotices && isTold ? Self.toldPauseMax : pause }
}

extension HeadReader {
  /// The visible end, which is not before `old`, and behind the same events.
  ///
  /// A writer that opens the store, or a backup into it, names its files one after the other. So what is found wrong
  /// beside one leaves the end where it was, until looks found it wrong for as long as `patience`.
  ///
  /// Throws `diverged` where the folder is that of another store by now, whatever its segments look like from here:
  /// HEAD says whose it is.
  fileprivate mutating func mark(
    after old: VisibleMark, probes: Bool, patience: Duration
  ) throws(StoreError) -> VisibleMark {
    let epochBefore = epoch
    do throws(StoreError) {
      let mark = try markOfStore(after: old, probes: probes)
      wrongSince = nil
      return mark
    } catch {
      // What a new epoch asks for was not looked at to its end.
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
    // Another writer opened the store, and what the one before had only buffered may be gone, with other events in
    // its place.
    if epoch != epochBefore {
      let chain = try chain(after: old.sequence, in: mark)
      guard chain == old.visible.chain else { throw .diverged(sequence: old.sequence) }
    }
    return mark
  }

  /// The visible end, with a look at LOCK.
  private mutating func probe(beyond old: VisibleMark) throws(StoreError) -> VisibleMark {
    let (isAlive, head) = try state()
    if let head { try check(head, after: old) }
    if isAlive, let head { return try sight(of: head, ifBeyond: old) }
    // A writer replaces HEAD before it appends, so behind the same HEAD nothing is new.
    if let head, head == settledHead { return old }
    let mark = try look().mark
    let after = try state()
    settledHead = !after.isAlive && after.head == head ? head : nil
    return mark
  }

  /// HEAD's mark, or the old one where HEAD says nothing newer. HEAD may be behind what a reader found while no
  /// writer was alive, until the next writer has opened the store: that one then promises it too.
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

  /// The chain behind a sequence, from files opened anew: what is known of the open ones was found before.
  private func chain(after sequence: UInt64, in mark: VisibleMark) throws(StoreError) -> UInt64? {
    let fresh = SegmentCatalog(
      fileSystem: catalog.fileSystem, layout: catalog.layout, storeID: catalog.storeID, names: catalog.names)
    return try LogSource(catalog: fresh, tail: VisibleTail(mark)).chain(after: sequence)
  }
}
