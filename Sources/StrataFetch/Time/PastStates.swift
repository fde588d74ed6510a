// States of the past, some of them kept, so that the next one is near to one that is there.

internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// States of one projection at any sequence, each with a view over one table. Belongs to one thread at a time;
/// every call blocks for as long as the disk does.
///
/// A state is a value that shares its pages with its neighbours, so to keep one costs what changes behind it.
/// On the way to a sequence the states 64, 128, 256 … events before it are kept. To go back by d events from
/// there replays at most d of them, or 64 (plus what was thinned out); to go forward replays what lies between,
/// or less where a state is kept on the way. At most `keptCountMax` states are kept, and at most `keptSizeMax` bytes of
/// them, but always one: past that, one goes whose neighbours are nearest to each other, measured by how far they are
/// from where somebody looks. So what is kept is dense there and gets sparser by a constant factor, like the levels of
/// a skip list.
final class PastStates {
  /// How many states are kept at most.
  static let keptCountMax = 48
  /// How many bytes of pages the kept states hold together at most, where nothing else is said. A page that several
  /// share counts once.
  static let keptSizeMaxDefault = 64 << 20
  /// How far the nearest kept state is from where somebody looks, in events.
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
  /// What the first of the folds had as its head when it began: states of the others come from it.
  private var headAtBegin: UInt64 = 0
  /// How many events the stream of erasures held when the first fold began.
  private var erasureCount: UInt64 = 0
  /// How many events were folded in so far, for tests that count them.
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
    // Where this fails, the next call begins with a kept state.
    self.fold = nil
    for stop in Self.stops(from: fold.state.sequence, to: sequence) {
      let begin = fold.state.sequence
      try fold.run(through: stop)
      guard fold.state.sequence == stop else { throw .closed }
      foldedCount += stop - begin
      try fold.findChain()
      fold.state.withTable(view.table) { $0.addView(view.definition) }
      keep(fold.state, near: sequence)
    }
    self.fold = fold
    return fold.state
  }

  /// The fold that is there, or a new one that begins with a kept state, or at the beginning.
  private func fold(from nearest: TableSet?, to sequence: UInt64) -> Fold {
    let begin = nearest?.sequence ?? 0
    if let fold, fold.state.sequence <= sequence, fold.state.sequence >= begin { return fold }
    let fold = nearest.map { Fold(log, folding, from: $0, headAtBegin: headAtBegin) } ?? Fold(log, folding)
    // So that every list that is shown has a token.
    fold.tracksChain = true
    headAtBegin = fold.headAtBegin
    return fold
  }

  /// Where to keep a state on the way, and the end.
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

  /// Content that was erased is not shown again out of a kept state.
  private func forgetWhatWasErased() throws(StoreError) {
    let count = try log.index.revision(of: Array(ErasureEvent.stream.text.utf8))
    guard count != erasureCount else { return }
    erasureCount = count
    fold = nil
    kept = []
    tally = PageTally()
  }

  /// How many bytes of pages the kept states hold together.
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

  /// Which kept state is missed least. There are two at least.
  private func expendable(near focus: UInt64, except newest: UInt64) -> Int {
    // The gap that a state's going would leave, against how far it is from where somebody looks.
    func loss(_ index: Int) -> Double {
      let sequence = kept[index].sequence
      let before = index > 0 ? kept[index - 1].sequence : 0
      let behind = index + 1 < kept.count ? kept[index + 1].sequence : sequence
      let distance = sequence > focus ? sequence - focus : focus - sequence
      return Double(behind - before) / Double(distance + Self.strideMin)
    }
    return kept.indices.filter { kept[$0].sequence != newest }.min { loss($0) < loss($1) } ?? 0
  }
}
