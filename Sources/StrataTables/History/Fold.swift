// A fold of the log: pulls blocks, applies their events, stops anywhere.

package import StrataEvents
package import StrataLog

/// A state, and a place in the log that it can go on from. Belongs to one thread at a time; every call blocks
/// for as long as the disk does.
package final class Fold {
  private let log: Log
  private let folding: Folding
  private var cursor: LogCursor
  private let scratch = FoldScratch()
  /// A block of which only the first events are folded in.
  private var pending: DecodedBlock?
  package var state: TableSet

  /// Begins before the first event that the log has.
  package init(_ log: Log, _ folding: Folding) {
    self.log = log
    self.folding = folding
    let begin = log.mark.logBegin - 1
    cursor = log.cursor(after: begin)
    state = TableSet(sequence: begin)
  }

  /// Folds events up to a sequence, or up to the end where the log is shorter. An event inside an append is
  /// fine: the state then holds a part of it.
  ///
  /// - Parameter isCancelled: asked once for each block.
  package func run(
    through last: UInt64, isCancelled: () -> Bool = { false }
  ) throws(StoreError) {
    while state.sequence < last, !isCancelled() {
      if let block = pending {
        pending = nil
        try apply(block, through: last)
        continue
      }
      guard let block = try StoreError.wrapping({ () throws(LogError) in try cursor.next() }) else { return }
      try apply(block, through: last)
    }
  }

  /// Folds whole appends, and lends the state at the end of each.
  package func runByAppend(
    through last: UInt64, _ body: (TableSet) throws -> Void
  ) throws {
    while state.sequence < last {
      let block: DecodedBlock
      if let kept = pending {
        pending = nil
        block = kept
      } else {
        guard let next = try StoreError.wrapping({ () throws(LogError) in try cursor.next() }) else { return }
        block = next
      }
      var ends: [UInt64] = []
      try wrapping(block) { () throws(ContentProblem) in
        try block.forEachAppend { append, first throws(ContentProblem) in
          ends.append(first + UInt64(append.eventCount) - 1)
        }
      }
      for end in ends where end > state.sequence && end <= last {
        try apply(block, through: end)
        try body(state)
      }
    }
  }

  private func apply(_ block: DecodedBlock, through last: UInt64) throws(StoreError) {
    let done = state.sequence
    try wrapping(block) { () throws(ContentProblem) in
      try block.forEachEvent { event, append, sequence throws(ContentProblem) in
        guard sequence > done, sequence <= last else { return }
        let stamp = Stamp(sequence: sequence, time: append.commitTime)
        folding.apply(event, at: stamp, to: &state, scratch)
        state.sequence = sequence
        state.time = append.commitTime
      }
    }
    if block.header.nextSequence - 1 > last { pending = block }
  }

  private func wrapping(
    _ block: DecodedBlock, _ body: () throws(ContentProblem) -> Void
  ) throws(StoreError) {
    do throws(ContentProblem) { try body() } catch {
      let header = block.header
      throw StoreError(
        error.logError(
          in: StoreLayout.segmentName(header.segment), at: header.ownOffset, first: header.firstSequence,
          last: header.nextSequence - 1))
    }
  }
}
