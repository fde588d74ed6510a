// A fold that goes from one point of the past to the next, through runs where there are any.

internal import StrataBase
package import StrataEvents
package import StrataLog

/// Where states of the past came from.
package struct PastCounts: Sendable, Equatable {
  /// The states that were made.
  package var states = 0
  /// Those of them that began with what a history has.
  package var fromHistory = 0
  /// The events that were folded for them: those that come after the history or the saved state, or all.
  package var foldedEvents: UInt64 = 0
  /// How often the log was folded because a page of a state from a history was lost.
  package var healed = 0

  package init(states: Int = 0, fromHistory: Int = 0, foldedEvents: UInt64 = 0, healed: Int = 0) {
    (self.states, self.fromHistory) = (states, fromHistory)
    (self.foldedEvents, self.healed) = (foldedEvents, healed)
  }

  mutating func add(_ more: PastCounts) {
    states += more.states
    fromHistory += more.fromHistory
    foldedEvents += more.foldedEvents
    healed += more.healed
  }
}

/// Counts what is done for states of the past: while they are made, and later, when a page of one is looked at that its
/// history has lost.
package final class PastCounter: Sendable {
  private let sum = Lock(PastCounts())

  package init() {}

  package var counts: PastCounts { sum.withLock { $0 } }

  func add(_ more: PastCounts) { sum.withLock { $0.add(more) } }
}

/// Makes states of one projection, in the order of the log. Belongs to one thread at a time; every call blocks as long as
/// the disk does.
package final class PastFold: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  private let store: EventStore
  private let folding: Folding
  private let view: (table: String, definition: ViewDefinition)?
  /// Nil until the first state is there.
  private var fold: Fold?
  /// The runs, once they are looked for.
  private var past: RunPast?
  /// A fold that begins with the state on disk.
  private var resumed: Fold?
  private var isFromHistory = false
  /// The sequence that the fold is on its way to, or at.
  private var target: UInt64?
  /// Whether it was looked for what another process appended or erased since.
  private var hasLooked = false
  private let counter: PastCounter
  private let memory: PastMemory
  /// Counts what was read from runs for a state that is still to be completed.
  private let share: PastShare
  /// Where pages of the states go that are too many for memory.
  let file: PastFile
  /// When it is next looked at how many there are; nil before the first event is folded.
  private var pace: PastPace?

  /// - Parameter view: a list that is looked at in the states. A kept list is not built, where a history has its keys.
  package init(
    _ store: EventStore, _ folding: Folding, view: (table: String, definition: ViewDefinition)? = nil,
    counting counter: PastCounter = PastCounter()
  ) {
    self.store = store
    self.folding = folding
    self.view = view
    self.counter = counter
    memory = store.pastMemory
    share = memory.share()
    file = PastFile(store, folding)
  }

  package var counts: PastCounts { counter.counts }

  /// The bytes of the log that were read for the states so far.
  var bytesRead: UInt64 { fold?.bytesRead ?? 0 }

  /// The fold with the state at a sequence, or at the end of the log if that is before it.
  ///
  /// - Parameter sequence: not before the one of the last call.
  package func fold(at sequence: UInt64) throws(StoreError) -> Fold {
    while true { if let fold = try fold(at: sequence, nil) { return fold } }
  }

  /// The same; nil if the slice ended first. The next call with the same sequence then goes on.
  func fold(at sequence: UInt64, _ slice: TimeSlice?) throws(StoreError) -> Fold? {
    if fold == nil {
      guard let begun = try begun(toward: sequence, slice) else { return nil }
      fold = begun
    } else if let fold, target != sequence {
      guard advance(fold, toward: sequence, slice) else { return nil }
    }
    guard let fold else { return nil }
    share.byteCount = 0
    // Once events are folded for it, an erasure may have made the fold begin from the start: runs are of no use then.
    target = sequence
    let restarts = fold.restartCount
    if fold.state.sequence < sequence { try look() }
    let isDone = try run(fold, through: sequence, slice)
    if fold.restartCount > restarts { isFromHistory = false }
    guard isDone else { return nil }
    counter.add(PastCounts(states: 1, fromHistory: isFromHistory ? 1 : 0))
    return fold
  }

  /// Folds up to a sequence, and moves pages to a file on the way. False if the slice ended first.
  private func run(_ fold: Fold, through last: UInt64, _ slice: TimeSlice?) throws(StoreError) -> Bool {
    var pace = self.pace ?? PastPace(at: fold.state.sequence, step: memory.step)
    defer { self.pace = pace }
    while true {
      let step = min(last, max(pace.next, fold.state.sequence))
      let isThere = try fold.run(through: step, slice, bytes: memory.step, counting: counter)
      if isThere, fold.state.sequence < step || step == last { return true }
      let bytes = memory.count(&fold.state, of: share)
      let isSpilled = bytes >= memory.step && spill(fold)
      pace.look(at: fold.state.sequence, bytes: bytes, left: isSpilled ? 0 : bytes, step: memory.step)
      if let slice, slice.isOver { return false }
    }
  }

  /// Notes what a state takes that is complete, with its list, and that nobody else has yet. What is too much for memory
  /// goes to a file.
  func settle(_ fold: Fold) {
    if memory.count(&fold.state, of: share, isSettled: true) > 0 { _ = spill(fold, isSettled: true) }
  }

  /// Moves what only this state has to a file, if states of the past take too much memory together. Returns whether a file
  /// could be made.
  private func spill(_ fold: Fold, isSettled: Bool = false) -> Bool {
    guard memory.isOver, file.spill(fold) else { return false }
    memory.count(&fold.state, of: share, isSettled: isSettled)
    return true
  }

  /// The same for a state that is being read from runs, between two slices.
  private func spillUnfinished(_ past: RunPast, at sequence: UInt64) {
    share.byteCount = past.unfinishedBytes
    guard share.byteCount >= memory.step, memory.isOver else { return }
    file.spill { (file) throws(StoreError) in try past.spillUnfinished(to: file, at: sequence) }
    share.byteCount = past.unfinishedBytes
  }

  /// Takes a state forward by what the runs have. False if the slice ended first.
  private func advance(_ fold: Fold, toward sequence: UInt64, _ slice: TimeSlice?) -> Bool {
    guard let past, past.hasRuns else { return true }
    past.extend(through: sequence)
    guard let last = past.last(through: sequence), last > fold.state.sequence else { return true }
    // Before the first event there is no row. What else the runs do not have is older than they are: then the state at
    // the next point is made whole, or is near enough for a replay.
    let isBefore = fold.state.sequence >= store.log.mark.logBegin && !past.covers(fold.state.sequence)
    if isBefore, past.cost(ofWhole: last) >= Double(last - fold.state.sequence) { return true }
    // States of which nothing was read yet are compared by what the runs say of them: see `PastRows`.
    let near = past.isNear(fold.state, last) ? fold.state : nil
    switch past.tablesUnread(at: last) ?? past.tables(at: last, from: near, slice) {
    case .done(let tables, let head): fold.goOn(from: tables, headAtBegin: head)
    case .paused:
      spillUnfinished(past, at: last)
      return false
    case .damaged: return true
    }
    isFromHistory = true
    return true
  }

  /// The fold, which begins with the newest state that runs or the state on disk have, and that is not later than the
  /// first point. Nil if the slice ended first.
  private func begun(toward first: UInt64, _ slice: TimeSlice?) throws(StoreError) -> Fold? {
    let past = self.past ?? RunPast(store, folding, view: view, counter)
    self.past = past
    past.extend(through: first)
    guard let last = past.last(through: first) else { return try resuming(through: first) }
    // From the end of the runs on, a state that was saved may be as new; its pages are read when they are needed.
    if past.ends(at: last), resumed == nil { resumed = try resuming(through: first) }
    if let resumed, resumed.state.sequence >= last { return resumed }
    switch past.tablesUnread(at: last) ?? past.tables(at: last, slice) {
    case .done(let tables, let head):
      isFromHistory = true
      return Fold(store.log, folding, from: tables, headAtBegin: head)
    case .paused:
      spillUnfinished(past, at: last)
      return nil
    case .damaged: return try resuming(through: first)
    }
  }

  private func resuming(through last: UInt64) throws(StoreError) -> Fold {
    try look()
    return Fold.resuming(store.log, folding, through: last, store.projectors.pageCache)
  }

  /// To be called before the log is read, or a state that was saved: an event that another process erased by now must not
  /// be found in what this one still knows of the log.
  private func look() throws(StoreError) {
    guard !hasLooked else { return }
    try store.log.refresh()
    hasLooked = true
  }
}

extension Fold {
  /// Folds events up to a sequence, and counts them: all of them where an erasure makes the fold begin from the start.
  func run(
    through last: UInt64, _ slice: TimeSlice?, bytes: Int, counting counter: PastCounter
  ) throws(StoreError) -> Bool {
    let (begin, restarts) = (state.sequence, restartCount)
    defer {
      let first = restartCount > restarts ? log.mark.logBegin - 1 : begin
      counter.add(PastCounts(foldedEvents: max(first, state.sequence) - first))
    }
    return try run(through: last, slice, bytes: bytes)
  }
}
