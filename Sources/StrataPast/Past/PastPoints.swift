// One replay that stops at several points, or the runs that make it unnecessary.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// The states at several points, as far as they are reached. Belongs to one thread at a time; every call blocks as long
/// as the disk does.
final class PastPoints: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  private let store: EventStore
  private let points: [LogPoint]
  private let view: (table: String, definition: ViewDefinition)?
  private let past: PastReader
  private let findsChains: Bool
  /// The sequences of the points, once they have been looked up.
  private var sequences: [UInt64]?
  /// The sequences that are still to be reached, the next one last.
  private var rest: [UInt64] = []
  private var states: [UInt64: TableSet] = [:]
  /// The fold at the next sequence, while its view is being built.
  private var reached: Fold?

  init(
    _ store: EventStore, _ folding: Folding, to points: [LogPoint],
    view: (table: String, definition: ViewDefinition)?, counting counter: PastCounter = PastCounter(),
    findsChains: Bool = true, in slot: PastSlots.Slot? = nil
  ) {
    self.store = store
    self.points = points
    self.view = view
    self.findsChains = findsChains
    past = PastReader(store, folding, view: view, counting: counter, in: slot)
  }

  /// The bytes of the log that were read for the states so far.
  var bytesRead: UInt64 { past.bytesRead }

  /// Continues the replay. Returns the states in the order of the points, nil if the slice ended first.
  func resume(_ slice: TimeSlice?) throws(StoreError) -> [TableSet]? {
    let sequences = try sequencesOfPoints()
    while let sequence = rest.last {
      if reached == nil { reached = try past.fold(at: sequence, slice) }
      guard let fold = reached else { return nil }
      guard fold.state.sequence == sequence else { throw .closed }
      if findsChains { try fold.findChain() }
      if let view, !fold.addView(view.definition, of: view.table, slice ?? TimeSlice()) { return nil }
      past.settle(fold)
      assert(states[sequence] == nil, "each state is reached once")
      states[sequence] = fold.state
      reached = nil
      rest.removeLast()
    }
    return sequences.map { states[$0].unsafelyUnwrapped }
  }

  private func sequencesOfPoints() throws(StoreError) -> [UInt64] {
    if let sequences { return sequences }
    var sequences: [UInt64] = []
    // What runs answer is not asked of the log: they say themselves when something was erased.
    for point in points { sequences.append(try store.sequenceBlocking(of: point, looks: findsChains)) }
    self.sequences = sequences
    rest = Set(sequences).sorted(by: >)
    return sequences
  }
}
