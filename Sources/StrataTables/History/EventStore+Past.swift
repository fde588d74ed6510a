// Past states, rebuilt by replay from the start.

package import StrataEvents
internal import StrataLog

extension EventStore {
  /// The states at several points, by one replay in the order of the log. O(events up to the last one).
  ///
  /// States share the pages that did not change between them.
  ///
  /// - Parameter view: a view that the states hold over one of their tables: built at the first one, and kept
  ///   from there on.
  package func states(
    at points: [LogPoint], _ folding: Folding, view: (table: String, definition: ViewDefinition)? = nil
  ) async throws(StoreError) -> [TableSet] {
    let result = await Past.threads.result { [self] () throws(StoreError) in
      try statesBlocking(at: points, folding, view: view)
    }
    return try result.get()
  }

  /// The same for a thread that may block.
  package func statesBlocking(
    at points: [LogPoint], _ folding: Folding, view: (table: String, definition: ViewDefinition)? = nil
  ) throws(StoreError) -> [TableSet] {
    var sequences: [UInt64] = []
    for point in points { sequences.append(try sequenceBlocking(of: point)) }
    let fold = Fold(log, folding)
    var states: [UInt64: TableSet] = [:]
    for sequence in Set(sequences).sorted() {
      try fold.run(through: sequence)
      guard fold.state.sequence == sequence else { throw .closed }
      try fold.findChain()
      if let view { fold.state.withTable(view.table) { $0.addView(view.definition) } }
      states[sequence] = fold.state
    }
    return sequences.map { states[$0].unsafelyUnwrapped }
  }
}

private enum Past {
  /// Threads for replays alone, so that a long one keeps nobody from the disk.
  static let threads = IOThreads(name: "strata-past", threadCountMax: 2)
}
