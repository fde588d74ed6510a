// States of the past. Some are kept, so that the next one is near a state that exists.

internal import StrataBase
package import StrataEvents
package import StrataLog

/// States of one projection at any sequence, each with a view over one table. Used by one thread at a time; every call
/// blocks for as long as the disk does.
///
/// A state is a value that shares its pages with its neighbours, so keeping one costs only the pages that change from one
/// to the other. There are four ways to a state, of which the one is taken that costs least, by the numbers of events and
/// of rows:
///
/// - Where a history has both it and a kept state, before or after it, by the rows in which the two differ. A step of d
///   events costs O(d log n), in either direction and at any length of the log.
/// - Whole, from what a history has. O(rows).
/// - Unread, where the history has the keys of the list: what is looked at is read, and what differs from another such
///   state is known without either of them. Nothing that is far costs more than what is near.
/// - By a replay from a kept state before it, or from the begin of the log. That is also the way past the end of the
///   history, and where there is none or it is damaged.
///
/// On the way of a replay to a sequence, the states 64, 128, 256 … events before it are kept. Going back by d events from
/// there replays at most max(d, 64) of them, plus those of states that were dropped; going forward replays the events in
/// between, or fewer if a state on the way was kept. At most `keptCountMax` states are kept, and at most `keptSizeMax`
/// bytes of them, but always at least one. If states of the past take too much memory in the store together, see
/// `PastMemory`, their pages go to a file, and fewer are kept where that is not enough. Past these limits, the state is dropped whose neighbours are nearest to each
/// other, relative to its distance from the current position. So the kept states are dense there and get sparser by a
/// constant factor, like the levels of a skip list.
package final class PastStates {
  /// A state that is kept.
  package struct Kept {
    package fileprivate(set) var state: TableSet
    /// Whether it, or the state that events were folded into for it, came from a history.
    fileprivate(set) var isFromHistory: Bool

    package var sequence: UInt64 { state.sequence }
  }

  /// The maximum number of kept states.
  package static let keptCountMax = 48
  /// The default maximum size of all pages of the kept states together, in bytes. Pages that several states share count
  /// once.
  package static let keptSizeMaxDefault = 64 << 20
  /// The distance, in events, from the current position to the nearest state that a replay keeps.
  package static let strideMin: UInt64 = 64

  private let store: EventStore
  private let folding: Folding
  private let view: (table: String, definition: ViewDefinition)
  private var fold: (fold: Fold, isFromHistory: Bool)?
  private let keptSizeMax: Int
  private let costs: PastCosts
  /// The pages of the kept states.
  private var tally = PageTally() { didSet { share.byteCount = tally.bytes } }
  private let memory: PastMemory
  private let share: PastShare
  /// Where pages go that are too many for memory.
  private var file: PastFile
  /// Ascending by sequence.
  package private(set) var kept: [Kept] = []
  /// The least head of the log before the events of a kept state were folded.
  private var headAtBegin = UInt64.max
  /// The number of events in the stream of erasures when states were last dropped because of an erasure.
  private var erasureCount: UInt64 = 0
  /// What was done for the states so far. A state that was kept is counted as the one that it was when it was made.
  package var counts: PastCounts { counter.counts }
  private let counter: PastCounter

  package init(
    _ store: EventStore, _ folding: Folding, view: (table: String, definition: ViewDefinition),
    keptSizeMax: Int = keptSizeMaxDefault, costs: PastCosts = PastCosts(),
    counting counter: PastCounter = PastCounter()
  ) {
    self.counter = counter
    self.keptSizeMax = keptSizeMax
    self.costs = costs
    self.store = store
    self.folding = folding
    self.view = view
    memory = store.pastMemory
    share = memory.share()
    file = PastFile(store, folding)
  }

  deinit { dropAll() }

  /// The state after a sequence that the log has.
  package func state(at sequence: UInt64) throws(StoreError) -> TableSet {
    let past = try currentPast(toward: sequence)
    let found: Kept
    if let known = kept.first(where: { $0.sequence == sequence }) {
      found = known
    } else {
      found = try made(at: sequence, past)
    }
    counter.add(PastCounts(states: 1, fromHistory: found.isFromHistory ? 1 : 0))
    return found.state
  }

  private func made(at sequence: UInt64, _ past: RunPast) throws(StoreError) -> Kept {
    if let begin = try stateFromRuns(toward: sequence, past) {
      keep(begin, near: sequence)
      if begin.sequence == sequence { return begin }
    }
    return try replayed(to: sequence)
  }

  // MARK: Erasures

  /// What the runs answer now. After an erasure, all kept states are dropped, so that erased content is not shown again,
  /// nor mixed with runs that lack it.
  private func currentPast(toward sequence: UInt64) throws(StoreError) -> RunPast {
    while true {
      try forgetWhatWasErased()
      let past = RunPast(store, folding, view: view, counter)
      past.extend(through: sequence)
      // Between the two an erasure may have ended: then the runs are those from before it, or the states are.
      if try currentErasureCount() == erasureCount { return past }
    }
  }

  private func currentErasureCount() throws(StoreError) -> UInt64 {
    try store.log.index.revision(of: Array(ErasureEvent.stream.text.utf8))
  }

  private func forgetWhatWasErased() throws(StoreError) {
    let count = try currentErasureCount()
    guard count != erasureCount else { return }
    erasureCount = count
    fold = nil
    dropAll()
    headAtBegin = .max
    file = PastFile(store, folding)
  }
}

// MARK: Runs

extension PastStates {
  /// The state at a sequence, or at the end of the runs if that is before it, from runs and a kept state. Nil if there is
  /// none, or a replay from a kept state costs less.
  private func stateFromRuns(toward sequence: UInt64, _ past: RunPast) throws(StoreError) -> Kept? {
    guard let target = past.last(through: sequence) else { return nil }
    let nearest = kept.filter { past.covers($0.sequence) }.min {
      Self.distance($0.sequence, target) < Self.distance($1.sequence, target)
    }
    let step = nearest.map { past.cost(of: target, from: $0.state, costs) } ?? .infinity
    let whole = past.cost(ofWhole: target, costs)
    let replay = sequence - min(replayBegin(before: sequence), sequence)
    let isUnreadCheaper =
      nearest?.sequence != target && Double(replay) >= costs.unread + Double(sequence - target)
    let unread = isUnreadCheaper ? past.tablesUnread(at: target) : nil
    guard unread != nil || min(step, whole) + Double(sequence - target) <= Double(replay) else { return nil }
    if let nearest, nearest.sequence == target { return nearest }
    guard
      case .done(var state, let head) = unread
        ?? past.tables(at: target, from: step <= whole ? nearest?.state : nil, nil)
    else { return nil }
    headAtBegin = min(headAtBegin, head)
    // Of two states that are made from one, each may have sections that the other lacks.
    state.beginLines()
    state.withTable(view.table) { $0.addView(view.definition, on: store.log.options.machine.parallel) }
    state.chain = try store.log.chain(after: target)
    limitMemory(with: &state, near: sequence)
    return Kept(state: state, isFromHistory: true)
  }

  private static func distance(_ a: UInt64, _ b: UInt64) -> UInt64 { a > b ? a - b : b - a }
}

// MARK: Replay

extension PastStates {
  private func replayed(to sequence: UInt64) throws(StoreError) -> Kept {
    let (fold, wasFromHistory) = fold(to: sequence)
    var isFromHistory: Bool { wasFromHistory && fold.restartCount == 0 }
    // If this fails, the next call begins with a kept state.
    self.fold = nil
    for stop in Self.stops(from: fold.state.sequence, to: sequence) {
      try run(fold, through: stop)
      guard fold.state.sequence == stop else { throw .closed }
      try fold.findChain()
      fold.addView(view.definition, of: view.table)
      limitMemory(with: &fold.state, near: sequence)
      keep(Kept(state: fold.state, isFromHistory: isFromHistory), near: sequence)
    }
    self.fold = (fold, isFromHistory)
    return Kept(state: fold.state, isFromHistory: isFromHistory)
  }

  /// Folds up to a sequence, and moves pages to a file on the way.
  private func run(_ fold: Fold, through last: UInt64) throws(StoreError) {
    var pace = PastPace(at: fold.state.sequence, step: memory.step)
    while true {
      let step = min(last, max(pace.next, fold.state.sequence))
      let isThere = try fold.run(through: step, nil, bytes: memory.step, counting: counter)
      if isThere, fold.state.sequence < step || step == last { return }
      let bytes = fold.state.ownLeafBytes()
      share.byteCount = tally.bytes + bytes
      let isSpilled = bytes >= memory.step && memory.isOver && file.spill(fold)
      pace.look(at: fold.state.sequence, bytes: bytes, left: isSpilled ? 0 : bytes, step: memory.step)
    }
  }

  /// The sequence from which a replay begins.
  private func replayBegin(before sequence: UInt64) -> UInt64 {
    let nearest = kept.last { $0.sequence <= sequence }?.sequence ?? store.log.mark.logBegin - 1
    guard let fold = fold?.fold, fold.state.sequence <= sequence else { return nearest }
    return max(fold.state.sequence, nearest)
  }

  /// The current fold if it can be continued, or a new one that begins with a kept state or at the beginning.
  private func fold(to sequence: UInt64) -> (fold: Fold, isFromHistory: Bool) {
    let nearest = kept.last { $0.sequence <= sequence }
    if let known = fold, known.fold.state.sequence <= sequence,
      known.fold.state.sequence >= nearest?.sequence ?? 0
    {
      return known
    }
    let fold =
      nearest.map { Fold(store.log, folding, from: $0.state, headAtBegin: headAtBegin) }
      ?? Fold(store.log, folding)
    // So that every list that is shown has a token.
    fold.tracksChain = true
    headAtBegin = min(headAtBegin, fold.headAtBegin)
    return (fold, nearest?.isFromHistory ?? false)
  }

  /// The sequences at which to keep a state on the way, and the end.
  package static func stops(from start: UInt64, to end: UInt64) -> [UInt64] {
    guard start < end else { return start == end ? [end] : [] }
    var stops = [end]
    var distance = strideMin
    while distance < end - start {
      stops.append(end - distance)
      distance *= 2
    }
    return stops.reversed()
  }
}

// MARK: Keeping

extension PastStates {
  /// The size of all pages of the kept states together, in bytes.
  package var keptSize: Int { tally.bytes }

  /// Moves what only a new state has to a file if states of the past take too much memory, and drops kept ones while that
  /// is not enough: what they share with it can be moved only then.
  private func limitMemory(with state: inout TableSet, near focus: UInt64) {
    func isOver() -> Bool {
      share.byteCount = tally.bytes + state.ownLeafBytes()
      return memory.isOver
    }
    guard isOver() else { return }
    file.spill(&state)
    while isOver(), !kept.isEmpty {
      drop(at: expendable(near: focus, except: nil))
      if kept.isEmpty { file.spill(&state) }
    }
  }

  /// Drops a kept state. What only it has is counted for as long as a snapshot holds it.
  private func drop(at index: Int) {
    for (number, tree) in kept.remove(at: index).state.trees.enumerated() {
      let before = tally.bytes
      tally.remove(tree)
      memory.count(tree, bytes: before - tally.bytes, of: share, number)
    }
  }

  private func dropAll() { while !kept.isEmpty { drop(at: kept.count - 1) } }

  private func keep(_ state: Kept, near focus: UInt64) {
    let place = kept.firstIndex { $0.sequence >= state.sequence } ?? kept.count
    if place < kept.count, kept[place].sequence == state.sequence { return }
    kept.insert(state, at: place)
    for tree in state.state.trees { tally.add(tree) }
    while kept.count > 1, kept.count > Self.keptCountMax || tally.bytes > keptSizeMax || memory.isOver {
      drop(at: expendable(near: focus, except: state.sequence))
    }
  }

  /// The index of the kept state that is least useful.
  ///
  /// - Parameter newest: the sequence of one that stays, next to others.
  private func expendable(near focus: UInt64, except newest: UInt64?) -> Int {
    // The gap that dropping a state would leave, relative to its distance from the current position.
    func loss(_ index: Int) -> Double {
      let sequence = kept[index].sequence
      let before = index > 0 ? kept[index - 1].sequence : 0
      let after = index + 1 < kept.count ? kept[index + 1].sequence : sequence
      return Double(after - before) / Double(Self.distance(sequence, focus) + Self.strideMin)
    }
    return kept.indices.filter { kept[$0].sequence != newest }.min { loss($0) < loss($1) } ?? 0
  }
}
