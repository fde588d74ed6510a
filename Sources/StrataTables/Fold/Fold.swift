// A fold of the log: reads blocks, applies their events, and can stop after any event.

package import StrataBase
internal import StrataEvents
package import StrataLog
internal import Synchronization

/// A state, and a position in the log from which folding can continue. Belongs to one thread at a time; every call
/// blocks for as long as the disk does.
///
/// While a call folds events of a projection, rows that they changed may not be in their tables yet: see
/// `UnplacedRows`. They are put there before the call returns or lends the state.
package final class Fold {
  package let log: Log
  package let folding: Folding
  /// The projection's name if the fold halts at an event that cannot be applied.
  private let haltingName: String?
  private var blocks: BlocksAhead
  private let scratch = FoldScratch()
  private let keptRowCountMax: Int
  private let unplacedCountMax: Int
  private let kept: KeptRows
  /// Where to go on in a block of which only the first events have been folded in.
  private var pending: BlockCursor?
  /// The blocks after it that were read to read their rows too.
  private var ahead: RowsAhead
  // What is looked at for every event is not checked for exclusivity: one thread at a time uses a fold.
  /// The head of the log when the fold last began from the start. The fold never saw what was erased by then.
  @exclusivity(unchecked) package private(set) var headAtBegin: UInt64
  /// What was erased in the log before the first event was folded in; nil unless it is asked for, and before that. If
  /// more is erased by now, the state may hold content that must not be written anywhere.
  package private(set) var erasures: SegmentErasures?
  /// Whether `erasures` is asked for. Costs a look at the header of each segment.
  private let marksErasures: Bool
  /// How far the fold has come, for other threads.
  package private(set) var reached = ReachedSequence()
  /// The bytes of the blocks that were read, as they are on disk.
  package private(set) var bytesRead: UInt64 = 0
  /// The same before compression.
  package private(set) var rawBytesRead: UInt64 = 0
  /// Whether an erasure was carried out that the state does not reflect.
  @exclusivity(unchecked) private var mustBeginAnew = false
  /// The fold from the start that will then replace the state, as far as it has come. After a halt it is before the event
  /// that it cannot apply.
  package private(set) var anew: Fold?
  /// How often an erasure has made it fold the log again from the start.
  package private(set) var restartCount = 0
  /// A view that is being built of the state.
  private var building: ViewBuilding?
  /// Why folding cannot continue. Nothing after the damage is ever folded in, however often the fold is called.
  private var failure: StoreError?
  /// Whether the state's chain is known at the end of every event, and not only at the ends of blocks. Costs two hashes
  /// per event.
  @exclusivity(unchecked) package var tracksChain = false
  @exclusivity(unchecked) package var state: TableSet
  /// Measures the views of the state, so that one that takes too long leaves it; nil if they may take any time. Where it
  /// is set, no view is made again when the fold begins again.
  package var meter: ViewMeter? {
    get { scratch.meter }
    set { scratch.meter = newValue }
  }

  /// Begins before the first event of the log.
  ///
  /// - Parameters:
  ///   - keptRowCountMax: the number of decoded rows that are kept of each table of a projection.
  ///   - unplacedCountMax: the number of changed rows of a table after which they are put into it.
  ///   - marksErasures: whether the state may be written to disk, so that `erasures` is needed.
  package init(
    _ log: Log, _ folding: Folding, keptRowCountMax: Int = KeptRows.rowCountMax,
    unplacedCountMax: Int = UnplacedRows.countMax, marksErasures: Bool = false
  ) {
    self.marksErasures = marksErasures
    self.log = log
    self.folding = folding
    haltingName = folding.haltingName
    self.keptRowCountMax = keptRowCountMax
    self.unplacedCountMax = unplacedCountMax
    kept = KeptRows(rowCountMax: keptRowCountMax, unplacedCountMax: unplacedCountMax)
    let mark = log.mark
    headAtBegin = mark.sequence
    let begin = mark.logBegin - 1
    blocks = log.blocksAhead(after: begin)
    ahead = RowsAhead(isOnDisk: false, log.foldedEvents)
    state = TableSet(sequence: begin, recordsTouches: folding.recordsTouches)
  }

  /// Continues from a state that the same folding made of the same log. The given state is not changed.
  ///
  /// - Parameters:
  ///   - headAtBegin: `headAtBegin` of the fold that made the state. If it is not known, the state is assumed to still
  ///     hold all content that was erased after it.
  ///   - erasures: `erasures` of that fold, if the state may be written to disk.
  package init(
    _ log: Log, _ folding: Folding, from state: TableSet, headAtBegin: UInt64? = nil,
    erasures: SegmentErasures? = nil, keptRowCountMax: Int = KeptRows.rowCountMax,
    unplacedCountMax: Int = UnplacedRows.countMax
  ) {
    self.erasures = erasures
    marksErasures = erasures != nil
    self.log = log
    self.folding = folding
    haltingName = folding.haltingName
    self.keptRowCountMax = keptRowCountMax
    self.unplacedCountMax = unplacedCountMax
    kept = KeptRows(rowCountMax: keptRowCountMax, unplacedCountMax: unplacedCountMax)
    self.headAtBegin = headAtBegin ?? state.sequence
    blocks = log.blocksAhead(after: state.sequence)
    ahead = RowsAhead(isOnDisk: true, log.foldedEvents)
    self.state = state
    reached.set(state.sequence)
    self.state.beginLines()
  }

  /// Folds events up to a sequence, or up to the end if the log is shorter. The sequence may be inside an append: the
  /// state then holds a part of it.
  ///
  /// - Parameter bytes: how many bytes of rows are put into tables until it stops; the last event may take more.
  /// - Returns: false if the slice ended first, or that many bytes were put. At least one event is folded in before
  ///   that, and the next call continues where this one stopped.
  @discardableResult
  package func run(
    through last: UInt64, _ slice: TimeSlice? = nil, bytes: Int = .max
  ) throws(StoreError) -> Bool {
    scratch.bytesLeft = bytes
    let outer = ViewMeter.exchange(meter.map { .passUnretained($0) })
    defer {
      placeRows()
      scratch.bytesLeft = .max
      ViewMeter.exchange(outer)
    }
    try begin()
    defer { blocks.pause() }
    while true {
      if let failure { throw failure }
      // If this fails, the next call begins here: until it succeeds, the state still holds what was erased.
      if mustBeginAnew {
        guard try beginAnew(slice) else { return false }
      }
      guard state.sequence < last, let cursor = try nextCursor(through: last) else { return true }
      try apply(cursor, through: last, slice)
      reached.set(state.sequence)
      guard state.sequence < last || mustBeginAnew else { continue }
      if scratch.bytesLeft < 0 || slice?.isOver ?? false { return false }
    }
  }

  /// Puts the rows that events changed into the tables, without which the state is lent to nobody.
  private func placeRows() { kept.place(into: &state, scratch) }

  /// Where to fold on: in the block that was begun, or at the begin of the next one. Nil at the end of what is visible.
  private func nextCursor(through last: UInt64) throws(StoreError) -> BlockCursor? {
    let begun = pending
    pending = nil
    let end = min(last, log.mark.visible.sequence)
    let events = end > state.sequence ? end - state.sequence : 0
    // During long work another thread reads the blocks. A simulated disk sees the calls of one thread only.
    if begun == nil, events > 0, !log.options.writesInStep {
      blocks.begin(events: events, log.options.machine)
    }
    let parallel = log.options.writesInStep ? Parallel.none : log.options.machine.parallel
    guard let cursor = try ahead.next(begun, blocks, events: events, into: state, folding, on: parallel)
    else { return nil }
    if begun == nil {
      bytesRead += UInt64(cursor.block.header.storedLength)
      rawBytesRead += UInt64(cursor.block.header.rawLength)
    }
    return cursor
  }

  /// Forgets all blocks that were read and not folded in.
  private func readAgain() {
    blocks.pause()
    pending = nil
    ahead.removeAll()
    blocks = log.blocksAhead(after: state.sequence)
  }

  /// Begins to fold events.
  private func begin() throws(StoreError) {
    if let failure { throw failure }
    // Before any block is read: one that was read before an erasure would pass for one without the content.
    if marksErasures, erasures == nil { erasures = try log.erasures() }
  }

  /// Adds a view to a table of the state, built on threads of the store's machine. O(n log n).
  package func addView(_ definition: ViewDefinition, of table: String) {
    while !addView(definition, of: table, TimeSlice()) {}
  }

  /// The same in slices. Returns false if the slice ended first; the next call with the same view then goes on.
  package func addView(
    _ definition: ViewDefinition, of table: String, _ slice: TimeSlice
  ) -> Bool {
    guard state[table].view(definition.identity) == nil, !state.withTable(table, { $0.openView(definition) })
    else { return true }
    let building =
      building ?? ViewBuilding(definition, of: state[table], on: log.options.machine.parallel)
    self.building = building
    guard let view = building.resume(slice) else { return false }
    state.withTable(table) { $0.add(view) }
    self.building = nil
    return true
  }

  /// Continues from another state, which the same events gave.
  ///
  /// - Parameter head: the head of the log before they were folded.
  package func resume(from state: TableSet, headAtBegin head: UInt64) {
    assert(!mustBeginAnew, "a fold goes on from a state that may hold what was erased")
    headAtBegin = min(headAtBegin, head)
    kept.removeAll()
    building = nil
    self.state = state
    readAgain()
    reached.set(state.sequence)
  }

  /// Lends the state to a body that moves leaves of it to files, and returns whether it did. Nothing else of it changes.
  package func lendLeaves(_ move: (inout TableSet) throws(StoreError) -> Bool) throws(StoreError) {
    if try move(&state) { ahead.noteSpilled() }
  }

  /// How far a view is that is being built in slices.
  package var viewProgress: (done: Int, of: Int)? { building?.progress }

  /// Ensures that the state has its chain. If no event was folded, or the state ends inside a block, reads it from the
  /// log.
  package func findChain() throws(StoreError) {
    guard state.chain == nil else { return }
    state.chain = try log.chain(after: state.sequence)
  }

  /// Folds the log again up to the state's sequence, now without the erased content, and keeps the views. Returns false
  /// if the slice ended first.
  private func beginAnew(_ slice: TimeSlice?) throws(StoreError) -> Bool {
    placeRows()
    let fold =
      anew
      ?? Fold(
        log, folding, keptRowCountMax: keptRowCountMax, unplacedCountMax: unplacedCountMax,
        marksErasures: marksErasures)
    fold.tracksChain = tracksChain
    fold.reached = reached
    // If the run below fails, the next call begins from the start; after a halt it reads that one event again.
    anew = nil
    do throws(StoreError) {
      guard try fold.run(through: state.sequence, slice) else {
        anew = fold
        return false
      }
    } catch {
      if error.reason == .halted { anew = fold }
      throw error
    }
    assert(
      fold.state.sequence <= state.sequence, "a fold from the start went past the state that it replaces")
    guard fold.state.sequence == state.sequence else { throw .closed }
    for table in state.tables where meter == nil {
      for view in table.views { fold.addView(view.definition, of: table.name) }
    }
    state = fold.state
    building = nil
    kept.removeAll()
    // The new fold did not see what was erased in the meantime either, so the notes of those erasures no longer matter.
    // Later blocks are read again: a block that was read before an erasure still holds the erased content.
    headAtBegin = fold.headAtBegin
    erasures = fold.erasures
    readAgain()
    mustBeginAnew = false
    restartCount += 1
    return true
  }

  /// Folds whole appends, and lends the state at the end of each.
  ///
  /// - Returns: false if the slice ended first. That may be inside an append; the call that completes the append lends
  ///   its state.
  @discardableResult
  package func runByAppend(
    through last: UInt64, _ slice: TimeSlice? = nil, _ body: (borrowing TableSet) throws -> Void
  ) throws -> Bool {
    var refusal: (any Error)?
    defer { placeRows() }
    try begin()
    defer { blocks.pause() }
    while refusal == nil {
      if let failure { throw failure }
      if mustBeginAnew {
        guard try beginAnew(slice) else { return false }
        do { try body(state) } catch { refusal = error }
        continue
      }
      guard state.sequence < last, let cursor = try nextCursor(through: last) else { return true }
      try apply(
        cursor, through: last, slice,
        ended: {
          placeRows()
          do { try body(state) } catch { refusal = error }
          return refusal == nil
        })
      if refusal == nil, let slice, state.sequence < last || mustBeginAnew, slice.isOver { return false }
    }
    if let refusal { throw refusal }
    return true
  }

  /// How a fold event by event ended.
  package enum EventRun {
    /// All events are folded in, or the body asked for the end.
    case done
    /// The slice ended first; the next call continues.
    case paused
    /// The log says that events were erased since the fold began: what it lent may hold what was erased.
    case erased
  }

  /// Folds events up to a sequence, and lends the state after each event.
  ///
  /// - Parameter body: called after each event with its own time, whether it ends its append, and the rows that it
  ///   changed. Once it returns false, nothing more is folded.
  package func runByEvent(
    through last: UInt64, _ slice: TimeSlice? = nil,
    _ body: (
      _ stamp: Stamp, _ endsAppend: Bool, _ rows: borrowing EventRows, _ state: borrowing TableSet
    ) -> Bool
  ) throws(StoreError) -> EventRun {
    defer { placeRows() }
    try begin()
    scratch.rows.isOn = true
    defer { scratch.rows.isOn = false }
    defer { blocks.pause() }
    var goesOn = true
    while !mustBeginAnew {
      guard goesOn, state.sequence < last, let cursor = try nextCursor(through: last) else { return .done }
      try apply(
        cursor, through: last, slice,
        each: { stamp, endsAppend in
          placeRows()
          goesOn = body(stamp, endsAppend, scratch.rows, state)
          scratch.rows.removeAll()
          return goesOn
        })
      reached.set(state.sequence)
      if let slice, state.sequence < last, slice.isOver { return .paused }
    }
    return .erased
  }

  /// Folds events of a block up to a sequence, or up to that of which rows were read ahead, and notes where it stopped.
  ///
  /// - Parameters:
  ///   - each: called after each event.
  ///   - ended: called at the end of each append.
  ///   Once one of them returns false, nothing more is folded.
  private func apply(
    _ begun: BlockCursor, through last: UInt64, _ slice: TimeSlice?,
    each: (_ stamp: Stamp, _ endsAppend: Bool) -> Bool = { _, _ in true },
    ended: () -> Bool = { true }
  ) throws(StoreError) {
    assert(pending == nil, "two blocks wait to be folded in")
    let header = begun.block.header
    let last = min(last, ahead.bound(after: state.sequence))
    var cursor = begun
    building = nil
    defer {
      log.foldedEvents.add(cursor.passedCount - begun.passedCount)
      withExtendedLifetime(begun) {}
    }
    var halt: StoreError?
    do throws(ContentProblem) {
      var goesOn = true
      try cursor.skip(through: state.sequence)
      appends: while goesOn, !cursor.isAtEnd, cursor.nextSequence <= last,
        let append = try cursor.openAppend()
      {
        let end = cursor.appendEnd
        let stop = min(end, last)
        let head = tracksChain ? XXH64.of(append.head) : 0
        while goesOn, state.sequence < stop {
          let sequence = cursor.nextSequence
          let event = try cursor.nextEvent()
          assert(sequence > state.sequence, "an event is folded in twice")
          let stamp = Stamp(sequence: sequence, time: append.ownTime)
          folding.apply(event, at: stamp, to: &state, scratch, kept)
          if let haltingName, let failure = state.failures.listed.first {
            halt = .halted(haltingName, sequence: sequence, stream: event.stream, what: failure.what)
            break appends
          }
          state.sequence = sequence
          if kept.isFull { placeRows() }
          state.time = append.ownTime
          state.chain = chain(after: event, sequence, head, in: header)
          if sequence > headAtBegin, ErasureEvent.isNote(event) { mustBeginAnew = true }
          if !each(stamp, sequence == end) { goesOn = false }
          if scratch.bytesLeft < 0 { goesOn = false }
          if let slice, slice.isOver { goesOn = false }
        }
        guard state.sequence == end else { break }
        try cursor.endAppend()
        state.appendCount += 1
        if cursor.isAtEnd { state.chain = header.chainAfter }
        // After the note of an erasure the state still holds what was erased: it is not lent until it was folded again.
        if mustBeginAnew { goesOn = false } else if !ended() { goesOn = false }
      }
    } catch {
      // The position is already past the block.
      let error = error.storeError(of: header)
      failure = error
      throw error
    }
    if let halt {
      // Nothing of the event is in the state. The next call reads it again, since it may be erased by then.
      state.failures = ProjectionFailures()
      readAgain()
      throw halt
    }
    if !cursor.isAtEnd { pending = cursor }
  }

  /// The chain after an event, nil if the chain is not tracked or not known before the event.
  private func chain(
    after event: borrowing EventView, _ sequence: UInt64, _ head: UInt64, in block: BlockHeader
  ) -> UInt64? {
    guard tracksChain else { return nil }
    let before = sequence == block.firstSequence ? block.chainBefore : state.chain
    guard let before else { return nil }
    return Chain.next(
      after: before, sequence: sequence, revision: event.revision, head: head, names: XXH64.of(event.names),
      content: event.contentHash)
  }
}

/// The sequence up to which a fold has come, which other threads may read.
package final class ReachedSequence: Sendable {
  private let sequence = Atomic<UInt64>(0)

  func set(_ sequence: UInt64) { self.sequence.store(sequence, ordering: .relaxed) }

  package var value: UInt64 { sequence.load(ordering: .relaxed) }
}
