// One replay that stops at several points, or the runs that make it unnecessary.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// The states at several points, as far as they are reached. Belongs to one thread at a time; every call blocks as long
/// as the disk does.
final class Replay: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  private let store: EventStore
  private let points: [LogPoint]
  private let view: (table: String, definition: ViewDefinition)?
  private let folding: Folding
  /// Nil until the first state is there.
  private var fold: Fold?
  /// The runs, once they are looked for.
  private var past: RunPast?
  /// A fold that begins with the state on disk.
  private var resumed: Fold?
  /// The sequences of the points, once they have been looked up.
  private var sequences: [UInt64]?
  /// The sequences that are still to be reached, the next one last.
  private var rest: [UInt64] = []
  private var states: [UInt64: TableSet] = [:]

  init(
    _ store: EventStore, _ folding: Folding, to points: [LogPoint],
    view: (table: String, definition: ViewDefinition)?
  ) {
    self.store = store
    self.points = points
    self.view = view
    self.folding = folding
  }

  /// The bytes of the log that were read for the states so far.
  var bytesRead: UInt64 { fold?.bytesRead ?? 0 }

  /// Continues the replay. Returns the states in the order of the points, nil if the slice ended first.
  func goOn(_ slice: TimeSlice?) throws(StoreError) -> [TableSet]? {
    let sequences = try sequencesOfPoints()
    while let sequence = rest.last {
      guard let fold = try fold(at: sequence, slice) else { return nil }
      guard fold.state.sequence == sequence else { throw .closed }
      try fold.findChain()
      if let view, !fold.addView(view.definition, of: view.table, slice ?? TimeSlice()) { return nil }
      states[sequence] = fold.state
      rest.removeLast()
    }
    return sequences.map { states[$0].unsafelyUnwrapped }
  }

  /// The fold with the state at the next point; nil if the slice ended first.
  private func fold(at sequence: UInt64, _ slice: TimeSlice?) throws(StoreError) -> Fold? {
    if fold == nil {
      if past == nil { past = RunPast(store, folding) }
      guard let begun = try begun(toward: sequence, slice) else { return nil }
      fold = begun
    } else if let fold, fold.state.sequence < sequence, let past, past.covers(fold.state.sequence),
      past.covers(sequence)
    {
      if let state = past.state(fold.state, through: sequence) { fold.goOn(from: state) }
    }
    guard let fold else { return nil }
    return try fold.run(through: sequence, slice) ? fold : nil
  }

  /// The fold, which begins with the newest state that runs or the state on disk have, and that is not later than the
  /// first point. Nil if the slice ended first.
  private func begun(toward first: UInt64, _ slice: TimeSlice?) throws(StoreError) -> Fold? {
    guard let past, let last = past.last(through: first) else {
      return Fold.resuming(store.log, folding, through: first)
    }
    // Past the runs, a state that was saved may be newer.
    if last < first, resumed == nil { resumed = Fold.resuming(store.log, folding, through: first) }
    if let resumed, resumed.state.sequence >= last { return resumed }
    switch past.tables(at: last, slice) {
    case .done(let tables, let head): return Fold(store.log, folding, from: tables, headAtBegin: head)
    case .paused: return nil
    case .damaged: return Fold.resuming(store.log, folding, through: first)
    }
  }

  private func sequencesOfPoints() throws(StoreError) -> [UInt64] {
    if let sequences { return sequences }
    var sequences: [UInt64] = []
    for point in points { sequences.append(try store.sequenceBlocking(of: point)) }
    self.sequences = sequences
    rest = Set(sequences).sorted(by: >)
    return sequences
  }
}
