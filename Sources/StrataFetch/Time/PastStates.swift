// States of the past. Some are kept, so that the next one is near a state that exists.

internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// States of one projection at any sequence, each with a view over one table. Used by one thread at a time; every call
/// blocks for as long as the disk does.
///
/// A state is a value that shares its pages with its neighbours, so keeping one costs only the pages that change after
/// it. On the way to a sequence, the states 64, 128, 256 … events before it are kept. Going back by d events from there
/// replays at most max(d, 64) of them, plus those of states that were dropped; going forward replays the events in
/// between, or fewer if a state on the way was kept. At most `keptCountMax` states are kept, and at most `keptSizeMax`
/// bytes of them, but always at least one. Past these limits, the state is dropped whose neighbours are nearest to each
/// other, relative to its distance from the current position. So the kept states are dense there and get sparser by a
/// constant factor, like the levels of a skip list.
final class PastStates {
  /// The maximum number of kept states.
  static let keptCountMax = 48
  /// The default maximum size of all pages of the kept states together, in bytes. Pages that several states share count
  /// once.
  static let keptSizeMaxDefault = 64 << 20
  /// The distance, in events, from the current position to the nearest kept state.
  static let strideMin: UInt64 = 64

  private let log: Log
  private let folding: Folding
  private let view: (table: String, definition: ViewDefinition)
  private var fold: Fold?
  private let keptSizeMax: Int
  /// The pages of the kept states.
  private var tally = PageTally()
  /// Ascending by sequence.
  private(set) var kept: [TableSet] = []
  /// The head when the first fold began: the states of later folds come from it.
  private var headAtBegin: UInt64 = 0
  /// The number of events in the stream of erasures when states were last dropped because of an erasure.
  private var erasureCount: UInt64 = 0
  /// The number of events folded so far, for tests.
  private(set) var foldedCount: UInt64 = 0

  init(
    _ log: Log, _ folding: Folding, view: (table: String, definition: ViewDefinition),
    keptSizeMax: Int = keptSizeMaxDefault
  ) {
    self.keptSizeMax = keptSizeMax
    self.log = log
    self.folding = folding
    self.view = view
  }

  /// The state after a sequence that the log has.
  func state(at sequence: UInt64) throws(StoreError) -> TableSet {
    try forgetWhatWasErased()
    let nearest = kept.last { $0.sequence <= sequence }
    if let nearest, nearest.sequence == sequence { return nearest }
    let fold = fold(from: nearest, to: sequence)
    // If this fails, the next call begins with a kept state.
    self.fold = nil
    for stop in Self.stops(from: fold.state.sequence, to: sequence) {
      let begin = fold.state.sequence
      try fold.run(through: stop)
      guard fold.state.sequence == stop else { throw .closed }
      foldedCount += stop - begin
      try fold.findChain()
      fold.addView(view.definition, of: view.table)
      keep(fold.state, near: sequence)
    }
    self.fold = fold
    return fold.state
  }

  /// The current fold if it can be continued, or a new one that begins with a kept state or at the beginning.
  private func fold(from nearest: TableSet?, to sequence: UInt64) -> Fold {
    let begin = nearest?.sequence ?? 0
    if let fold, fold.state.sequence <= sequence, fold.state.sequence >= begin { return fold }
    let fold = nearest.map { Fold(log, folding, from: $0, headAtBegin: headAtBegin) } ?? Fold(log, folding)
    // So that every list that is shown has a token.
    fold.tracksChain = true
    headAtBegin = fold.headAtBegin
    return fold
  }

  /// The sequences at which to keep a state on the way, and the end.
  static func stops(from start: UInt64, to end: UInt64) -> [UInt64] {
    guard start < end else { return start == end ? [end] : [] }
    var stops = [end]
    var distance = strideMin
    while distance < end - start {
      stops.append(end - distance)
      distance *= 2
    }
    return stops.reversed()
  }

  /// Drops all kept states after an erasure, so that erased content is not shown again.
  private func forgetWhatWasErased() throws(StoreError) {
    let count = try log.index.revision(of: Array(ErasureEvent.stream.text.utf8))
    guard count != erasureCount else { return }
    erasureCount = count
    fold = nil
    kept = []
    tally = PageTally()
  }

  /// The size of all pages of the kept states together, in bytes.
  var keptSize: Int { tally.bytes }

  private func keep(_ state: TableSet, near focus: UInt64) {
    let place = kept.firstIndex { $0.sequence >= state.sequence } ?? kept.count
    if place < kept.count, kept[place].sequence == state.sequence { return }
    kept.insert(state, at: place)
    for tree in state.trees { tally.add(tree) }
    while kept.count > 1, kept.count > Self.keptCountMax || tally.bytes > keptSizeMax {
      let thinned = kept.remove(at: expendable(near: focus, except: state.sequence))
      for tree in thinned.trees { tally.remove(tree) }
    }
  }

  /// The index of the kept state that is least useful. Needs at least two states.
  private func expendable(near focus: UInt64, except newest: UInt64) -> Int {
    // The gap that dropping a state would leave, relative to its distance from the current position.
    func loss(_ index: Int) -> Double {
      let sequence = kept[index].sequence
      let before = index > 0 ? kept[index - 1].sequence : 0
      let after = index + 1 < kept.count ? kept[index + 1].sequence : sequence
      let distance = sequence > focus ? sequence - focus : focus - sequence
      return Double(after - before) / Double(distance + Self.strideMin)
    }
    return kept.indices.filter { kept[$0].sequence != newest }.min { loss($0) < loss($1) } ?? 0
  }
}
