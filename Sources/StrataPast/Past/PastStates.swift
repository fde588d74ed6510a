// States of the past. Some are kept, so that the next one is near a state that exists.

internal import StrataBase
package import StrataEvents
package import StrataLog
package import StrataTables

/// States of one projection at any sequence, each with a view over one table. Used by one thread at a time; every call
/// blocks for as long as the disk does.
///
/// A state is a value that shares its pages with its neighbours, so keeping one costs only the pages that change from one
/// to the other. A `PastReader` makes each from what costs least, the kept states among it.
///
/// On the way of a replay to a sequence, the states 64, 128, 256 … events before it are kept. Going back by d events from
/// there replays at most max(d, 64) of them, plus those of states that were dropped; going forward replays the events in
/// between, or fewer if a state on the way was kept. At most `keptCountMax` states are kept, and at most `keptSizeMax`
/// bytes of them, but always at least one. If states of the past take too much memory in the store together, see
/// `PastMemory`, their pages go to a file, and fewer are kept where that is not enough. Past these limits, the state is
/// dropped whose neighbours are nearest to each other, relative to its distance from the current position. So the kept
/// states are dense there and get sparser by a constant factor, like the levels of a skip list.
package final class PastStates {
  /// The maximum number of kept states.
  package static let keptCountMax = 48
  /// The default maximum size of all pages of the kept states together, in bytes. Pages that several states share count
  /// once.
  package static let keptSizeMaxDefault = 64 << 20
  /// The distance, in events, from the current position to the nearest state that a replay keeps.
  package static let strideMin: UInt64 = 64

  private let reader: PastReader
  private let view: (table: String, definition: ViewDefinition)
  private let keptSizeMax: Int
  /// The pages of the kept states.
  private var tally = PageTally() {
    didSet { (reader.share.byteCount, reader.keptBytes) = (tally.bytes, tally.bytes) }
  }
  private let memory: PastMemory
  /// Ascending by sequence.
  private var states: [PastReader.State] = []
  /// The kept states.
  package var kept: [TableSet] { states.map(\.tables) }
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
    self.view = view
    memory = store.pastMemory
    // So that every list that is shown has a token.
    reader = PastReader(store, folding, view: view, costs: costs, tracksChain: true, counting: counter)
    reader.keptBytes = 0
  }

  deinit { while !states.isEmpty { drop(at: states.count - 1) } }

  /// The state after a sequence that the log has. After an erasure, no kept state is shown again that has erased content.
  package func state(at sequence: UInt64) throws(StoreError) -> TableSet {
    try reader.noteErasures(since: states.map(\.head).min() ?? .max)
    while let index = states.firstIndex(where: { $0.head < reader.lastErasure }) { drop(at: index) }
    let found: PastReader.State
    if let known = states.first(where: { $0.sequence == sequence }) {
      found = known
    } else {
      found = try made(at: sequence)
    }
    counter.add(PastCounts(states: 1, fromHistory: found.isFromHistory ? 1 : 0))
    return found.tables
  }

  private func made(at sequence: UInt64) throws(StoreError) -> PastReader.State {
    while true {
      guard let fold = try reader.begin(toward: sequence, among: states) else { continue }
      let begin = fold.state.sequence
      var stops = Self.stops(from: begin, to: sequence)
      // What was read from a file is near the next point, too.
      if begin < sequence, fold.state.appendCount > 0 { stops.insert(begin, at: 0) }
      for stop in stops {
        _ = try reader.run(fold, through: stop)
        guard fold.state.sequence == stop else { throw .closed }
        try fold.findChain()
        fold.addView(view.definition, of: view.table)
        limitMemory(with: &fold.state, near: sequence)
        keep(reader.state(of: fold), near: sequence)
      }
      return reader.state(of: fold)
    }
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
      reader.share.byteCount = tally.bytes + state.ownLeafBytes()
      return memory.isOver
    }
    guard isOver() else { return }
    reader.file.spill(&state)
    while isOver(), !states.isEmpty {
      drop(at: expendable(near: focus, except: nil))
      if states.isEmpty { reader.file.spill(&state) }
    }
  }

  /// Drops a kept state. What only it has is counted for as long as a snapshot holds it.
  private func drop(at index: Int) {
    for (number, tree) in states.remove(at: index).tables.trees.enumerated() {
      let before = tally.bytes
      tally.remove(tree)
      memory.count(tree, bytes: before - tally.bytes, of: reader.share, number)
    }
    assert(!states.isEmpty || tally.bytes == 0, "the pages of no state are counted as kept")
  }

  private func keep(_ state: PastReader.State, near focus: UInt64) {
    let index = states.firstIndex { $0.sequence >= state.sequence } ?? states.count
    if index < states.count, states[index].sequence == state.sequence { return }
    assert(index == 0 || states[index - 1].sequence < state.sequence, "the kept states ascend")
    states.insert(state, at: index)
    for tree in state.tables.trees { tally.add(tree) }
    while states.count > 1, states.count > Self.keptCountMax || tally.bytes > keptSizeMax || memory.isOver {
      drop(at: expendable(near: focus, except: state.sequence))
    }
  }

  /// The index of the kept state that is least useful.
  ///
  /// - Parameter newest: the sequence of one that stays, next to others.
  private func expendable(near focus: UInt64, except newest: UInt64?) -> Int {
    assert(!states.isEmpty, "no state is kept that could be dropped")
    // The gap that dropping a state would leave, relative to its distance from the current position.
    func loss(_ index: Int) -> Double {
      let sequence = states[index].sequence
      let before = index > 0 ? states[index - 1].sequence : 0
      let after = index + 1 < states.count ? states[index + 1].sequence : sequence
      return Double(after - before) / Double(max(sequence, focus) - min(sequence, focus) + Self.strideMin)
    }
    return states.indices.filter { states[$0].sequence != newest }.min { loss($0) < loss($1) } ?? 0
  }
}
