// One document at a point of the past, from the events of its own stream, or of the two streams of an empty id.

internal import StrataBase
package import StrataEvents
package import StrataLog
package import StrataTables

extension EventStore {
  /// A state with nothing but one document as it was after a sequence. O(events of its stream), and of the log only the
  /// blocks that hold them are read. Blocks.
  package func documentStateBlocking(
    _ stream: StreamName, through last: UInt64, builds: Bool
  ) throws(StoreError) -> TableSet {
    let begin = TableSet(sequence: log.mark.logBegin - 1)
    return try documentStateBlocking(stream, from: begin, through: last, builds: builds) { _, _ in }
  }

  /// The same from an earlier state of the document on.
  ///
  /// - Parameter body: called after each event of the stream.
  func documentStateBlocking(
    _ stream: StreamName, from begin: TableSet, through last: UInt64, builds: Bool,
    _ body: (_ state: borrowing TableSet, _ stamp: Stamp) -> Void
  ) throws(StoreError) -> TableSet {
    let names = stream.ofSameRow.map { Array($0.text.utf8) }
    let scratch = FoldScratch()
    var state = begin
    var block: DecodedBlock?
    for part in try documentSequencesBlocking(stream, builds: builds) {
      for sequence in part where sequence > state.sequence && sequence <= last {
        if sequence >= block?.header.nextSequence ?? 0 {
          block = try log.block(holding: sequence)
          guard let block else {
            throw .invalid(what: "the index names sequence \(sequence), which the log does not have")
          }
          try apply(block, of: names, through: last, to: &state, scratch, body)
        }
      }
    }
    return state
  }

  /// Folds the streams' events of a block.
  private func apply(
    _ block: DecodedBlock, of streams: [[UInt8]], through last: UInt64, to state: inout TableSet,
    _ scratch: FoldScratch, _ body: (_ state: borrowing TableSet, _ stamp: Stamp) -> Void
  ) throws(StoreError) {
    do throws(ContentProblem) {
      try block.forEachEvent { event, append, sequence throws(ContentProblem) in
        guard sequence > state.sequence, sequence <= last else { return }
        let name = event.stream
        guard streams.contains(where: { name.count == $0.count && name.elementsEqual($0) }) else { return }
        let stamp = Stamp(sequence: sequence, time: append.ownTime)
        DocumentFold.apply(event, at: stamp, to: &state, only: nil, scratch)
        state.sequence = sequence
        body(state, stamp)
      }
    } catch { throw error.storeError(of: block.header) }
  }
}

extension RowTable {
  /// A row as it was at a point. One read if a run has the point. Otherwise, for documents, O(events of the document's
  /// stream); for a table of a projection, a fold of everything up to the point.
  func row(_ id: String, at point: LogPoint) async throws -> Item? {
    if point == .head { return try await row(id) }
    if store.mayReadHistory, let kept = try await keptRow(id, at: point) {
      return try row(id, kept)
    }
    guard case .documents = folding else { return try row(id, in: try await state(at: point)) }
    let stream = StreamName(category: name, id: id)
    let set = try await store.lookingUp { [store] builds throws(StoreError) in
      try store.documentStateBlocking(
        stream, through: try store.sequenceBlocking(of: point, builds: builds), builds: builds)
    }
    return try row(id, in: set)
  }

  /// The row in the runs; nil if they do not have the point.
  private func keptRow(_ id: String, at point: LogPoint) async throws -> RunRow? {
    // The runs may have to be looked up first, after a step of their historian.
    let found = try await store.machine.past.result { [store, folding, name] _ -> RunRow?? in
      .some(RunPast(store, folding).row(id, of: name, at: try store.sequenceBlocking(of: point)))
    }
    return found
  }

  private func row(_ id: String, _ kept: RunRow) throws(StoreError) -> Item? {
    var id = id
    do throws(RowProblem) {
      return try id.withUTF8Row { (bytes) throws(RowProblem) in
        try kept.withRow(bytes) { (row) throws(RowProblem) in
          guard let row else { return nil }
          return try decode(row)
        }
      }
    } catch {
      throw .undecodable(what: "\(name)/\(id): \(error.what)")
    }
  }
}
