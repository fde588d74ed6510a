// The one way to the states of the past: the source that costs least, and a replay of the events after it.

internal import StrataBase
package import StrataEvents
package import StrataLog
package import StrataTables

/// Makes states of one projection. Belongs to one thread at a time; every call blocks as long as the disk does.
///
/// A state is reached from what costs least, see `PastWays`: from a state that is known, which is the one reached last, a
/// saved one or one that the caller keeps, from the runs of a history, or from the begin of the log. The events after
/// that are folded. All of that is decided here and nowhere else, so these hold for every state of the past:
///
/// - Nothing is taken from before an erasure. The log is asked for the newest note of one after everything was looked up
///   that may be used, and each source says how far the log was before its events were folded.
/// - Runs that cannot be read are no error: they are left out, and the choice is made again.
///
/// These look for what they need without a state, and each of them looks for erasures itself:
///
/// - the versions of one row, and the row at a point: `EventStore+RowHistory.swift`, `EventStore+DocumentPast.swift`
/// - the ids that changed between two points: `RowSource+Changed.swift`
/// - the state with which the fold of a history begins, which costs otherwise: `HistoryBegin.swift`
package final class PastReader: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  /// A state, and the facts that are needed to go on from it.
  struct State {
    var tables: TableSet
    /// The head of the log before its events were folded.
    var head: UInt64
    /// Whether it, or the state that events were folded into for it, came from a history.
    var isFromHistory = false

    var sequence: UInt64 { tables.sequence }
  }

  private let store: EventStore
  private let folding: Folding
  private let view: (table: String, definition: ViewDefinition)?
  private let costs: PastCosts
  private let tracksChain: Bool
  private let counter: PastCounter
  private let memory: PastMemory
  /// Counts bytes that are kept elsewhere, or were read from runs for a state that is still to be completed.
  let share: PastShare
  /// The bytes of the states that the caller keeps; nil for a caller that keeps none.
  var keptBytes: Int?
  /// Where pages of the states go that are too many for memory.
  private(set) var file: PastFile
  /// When it is next looked at how many there are; nil before the first event is folded.
  private var pace: PastPace?
  /// The runs, once they are looked for.
  private var runs: RunPast?
  /// The state that is being made from the runs.
  private var making: Making?
  /// The state on disk, until the fold has begun with the one that costs least.
  private var saved: State?
  private var hasLookedForSaved = false
  /// Whether it was looked for what another process appended or erased since.
  private var hasLooked = false
  /// The newest note of an erasure that was found.
  private(set) var lastErasure: UInt64 = 0
  /// Nil until the first state is there.
  private var fold: Fold?
  private var isOfHistory = false
  /// The sequence that the fold is on its way to, or at.
  private var target: UInt64?

  /// - Parameters:
  ///   - view: a list that is looked at in the states. A kept list is not built, where a history has its keys.
  ///   - tracksChain: whether each state gets its chain.
  ///   - slot: the right to make states, for one of many reads that may come at once.
  package init(
    _ store: EventStore, _ folding: Folding, view: (table: String, definition: ViewDefinition)? = nil,
    costs: PastCosts? = nil, tracksChain: Bool = false, counting counter: PastCounter = PastCounter(),
    in slot: PastSlots.Slot? = nil
  ) {
    (self.store, self.folding, self.view) = (store, folding, view)
    (self.costs, self.tracksChain, self.counter) = (costs ?? .ofRead, tracksChain, counter)
    memory = store.pastMemory
    share = memory.share(in: slot)
    file = PastFile(store, folding)
  }

  package var counts: PastCounts { counter.counts }
  /// The bytes of the log that were read for the states since the fold last began.
  var bytesRead: UInt64 { fold?.bytesRead ?? 0 }
  /// Whether the state of the fold, or the one that it began with, came from a history.
  var isFromHistory: Bool { isOfHistory && fold?.restartCount == 0 }

  /// The state of the fold, for a caller that keeps it.
  func state(of fold: Fold) -> State {
    State(tables: fold.state, head: fold.headAtBegin, isFromHistory: isFromHistory)
  }

  /// The fold with the state at a sequence, or at the end of the log if that is before it.
  package func fold(at sequence: UInt64) throws(StoreError) -> Fold {
    while true { if let fold = try fold(at: sequence, nil) { return fold } }
  }

  /// The same; nil if the slice ended first. The next call with the same sequence then goes on.
  func fold(at sequence: UInt64, _ slice: TimeSlice?) throws(StoreError) -> Fold? {
    if target != sequence {
      guard try begin(toward: sequence, slice) != nil else { return nil }
      target = sequence
    }
    guard let fold, try run(fold, through: sequence, slice) else { return nil }
    counter.add(PastCounts(states: 1, fromHistory: isFromHistory ? 1 : 0))
    return fold
  }
}

// MARK: The source

extension PastReader {
  /// A state that is being made from the runs.
  private struct Making {
    var sequence: UInt64
    /// Whether its rows are read when they are looked at.
    var isUnread = false
    /// The state that it is made from; nil where it is made of the runs alone.
    var other: State?
  }

  /// The fold, with the state from which the one at a sequence costs least. Nil if the slice ended first.
  ///
  /// - Parameter kept: states that the caller has.
  func begin(
    toward sequence: UInt64, among kept: [State] = [], _ slice: TimeSlice? = nil
  ) throws(StoreError) -> Fold? {
    target = nil
    let runs = runPast()
    if making == nil { runs.look(through: sequence) }
    // Each time that a state is not made, the runs are known to offer less: no keys of the list, or nothing.
    while true {
      guard let making else {
        if let fold = try choose(toward: sequence, kept, runs) { return fold }
        continue
      }
      let made =
        making.isUnread
        ? runs.tablesUnread(at: making.sequence)
        : runs.tables(at: making.sequence, from: making.other?.tables, slice)
      switch made {
      case .done(let tables, let head):
        return use(
          State(tables: tables, head: min(head, making.other?.head ?? .max), isFromHistory: true))
      case .paused:
        spillUnfinished(runs, at: making.sequence)
        return nil
      case .damaged, .lacksKeys: self.making = nil
      }
    }
  }

  /// Chooses what the state is reached from. Returns the fold that begins with it, or nil if it is to be made first, or if
  /// the choice is to be made again.
  private func choose(toward sequence: UInt64, _ kept: [State], _ runs: RunPast) throws(StoreError) -> Fold? {
    let known = try known(toward: sequence, kept, runs)
    let ways = try ways(to: sequence, known.map(\.state), runs)
    let source = ways.cheapest
    let begin = ways.begin(of: source)
    assert(source == .beginning || begin <= sequence, "events are folded forward, from before the state")
    if begin < sequence, try looks() { return nil }
    switch source {
    case .beginning: return use(Fold(store.log, folding), isOfHistory: false)
    case .known(let index):
      if known[index].isReached, let fold { return fold }
      return use(known[index].state)
    case .unread: making = Making(sequence: begin, isUnread: true)
    case .whole: making = Making(sequence: begin)
    case .change(let index): making = Making(sequence: begin, other: known[index].state)
    }
    return nil
  }

  private func runPast() -> RunPast {
    if let runs { return runs }
    let made = RunPast(store, folding, view: view, counter)
    runs = made
    return made
  }

  /// The states that are known besides the runs, and of each whether it is the one that the fold has reached. One that
  /// was saved may be as new as their end, or newer; its pages are read when they are needed.
  private func known(
    toward sequence: UInt64, _ kept: [State], _ runs: RunPast
  ) throws(StoreError) -> [(state: State, isReached: Bool)] {
    var known: [(state: State, isReached: Bool)] = []
    if let fold { known.append((state(of: fold), true)) }
    known += kept.map { ($0, false) }
    if !hasLookedForSaved, sequence >= runs.end {
      _ = try looks()
      saved = Checkpoints(store.log, folding.kept, store.projectors.pageCache)?.restore(through: sequence)
        .map { State(tables: $0.tables, head: $0.head) }
      hasLookedForSaved = true
    }
    if let saved { known.append((saved, false)) }
    return known
  }

  private func ways(
    to sequence: UInt64, _ known: [State], _ runs: RunPast
  ) throws(StoreError) -> PastWays {
    var ways = PastWays(sequence: sequence, beginning: store.log.mark.logBegin - 1, costs: costs)
    ways.known = known.map { PastWays.Known(sequence: $0.sequence, head: $0.head) }
    ways.runs = runs.ways
    let heads = ways.known.map(\.head) + (ways.runs.map { [$0.head] } ?? [])
    if let least = heads.min() { try noteErasures(since: least) }
    ways.lastErasure = lastErasure
    return ways
  }

  /// Looks for erasures since the log had a head. After one, nothing may be written of what was read before.
  func noteErasures(since head: UInt64) throws(StoreError) {
    guard head < store.log.mark.sequence,
      let last = try store.log.index.last(
        of: Array(ErasureEvent.stream.text.utf8), after: max(head, lastErasure))
    else { return }
    lastErasure = last
    file = PastFile(store, folding)
  }

  /// All versions of a row that the runs have; nil if there are no runs, or something was erased since they were made.
  func versions(of id: String, in table: String) throws(StoreError) -> RunVersions? {
    let runs = runPast()
    guard let head = runs.ways?.head else { return nil }
    try noteErasures(since: head)
    return head >= lastErasure ? runs.versions(id, of: table) : nil
  }

  private func use(_ state: State) -> Fold {
    use(
      Fold(store.log, folding, from: state.tables, headAtBegin: state.head), isOfHistory: state.isFromHistory)
  }

  private func use(_ fold: Fold, isOfHistory: Bool) -> Fold {
    assert(making == nil || isOfHistory, "a state that was made from runs is of a history")
    (self.fold, self.isOfHistory) = (fold, isOfHistory)
    (making, saved, pace) = (nil, nil, nil)
    share.byteCount = keptBytes ?? 0
    fold.tracksChain = tracksChain
    return fold
  }

  /// To be called before the log is read, or a state that was saved: an event that another process erased by now must not
  /// be found in what this one still knows of the log. Returns whether there may be something new.
  private func looks() throws(StoreError) -> Bool {
    guard !hasLooked else { return false }
    try store.log.refresh()
    hasLooked = true
    return true
  }
}

// MARK: The replay

extension PastReader {
  /// Folds up to a sequence, and moves pages to a file on the way. False if the slice ended first.
  func run(_ fold: Fold, through last: UInt64, _ slice: TimeSlice? = nil) throws(StoreError) -> Bool {
    assert(fold === self.fold, "a reader folds on from the state that it began with")
    var pace = self.pace ?? PastPace(at: fold.state.sequence, step: memory.step)
    defer { self.pace = pace }
    while true {
      let step = min(last, max(pace.next, fold.state.sequence))
      let (begin, restarts) = (fold.state.sequence, fold.restartCount)
      let isReached: Bool
      do throws(StoreError) {
        // An erasure makes the fold begin from the start.
        defer {
          let first = fold.restartCount > restarts ? store.log.mark.logBegin - 1 : begin
          counter.add(PastCounts(foldedEvents: max(first, fold.state.sequence) - first))
        }
        isReached = try fold.run(through: step, slice, bytes: memory.step)
      } catch {
        // The next call begins with something else.
        (self.fold, target) = (nil, nil)
        throw error
      }
      if isReached, fold.state.sequence < step || step == last { return true }
      let bytes = count(fold)
      let isSpilled = bytes >= memory.step && spill(fold)
      pace.look(at: fold.state.sequence, bytes: bytes, left: isSpilled ? 0 : bytes, step: memory.step)
      if let slice, slice.isOver { return false }
    }
  }

  /// Notes what a state takes that is complete, with its list, and that nobody else has yet. What is too much for memory
  /// goes to a file.
  func settle(_ fold: Fold) {
    if count(fold, isSettled: true) > 0 { _ = spill(fold, isSettled: true) }
  }

  /// Counts what only a state has, and returns it. What the caller keeps is counted by the caller.
  private func count(_ fold: Fold, isSettled: Bool = false) -> Int {
    guard let keptBytes else { return memory.count(&fold.state, of: share, isSettled: isSettled) }
    let bytes = fold.state.ownLeafBytes()
    share.byteCount = keptBytes + bytes
    return bytes
  }

  /// Moves what only this state has to a file, if states of the past take too much memory together. Returns whether a file
  /// could be made.
  private func spill(_ fold: Fold, isSettled: Bool = false) -> Bool {
    guard memory.isOver, file.spill(fold) else { return false }
    _ = count(fold, isSettled: isSettled)
    return true
  }

  /// The same for a state that is being read from runs, between two slices.
  private func spillUnfinished(_ runs: RunPast, at sequence: UInt64) {
    assert(making != nil, "what was read from runs is for a state that is being made")
    share.byteCount = runs.unfinishedBytes
    guard share.byteCount >= memory.step, memory.isOver else { return }
    file.spill { (file) throws(StoreError) in try runs.spillUnfinished(to: file, at: sequence) }
    share.byteCount = runs.unfinishedBytes
  }
}
