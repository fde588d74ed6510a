// Takes the objects of a carrier into a log, as they are.

internal import StrataBase
package import StrataLog

/// Follows one carrier into one log. Every call is a step that blocks for as long as carrier and disk take; one thread at a
/// time makes them.
///
/// An object is checked before any of it is appended: its checksums, its place, the chain over all of its events, and that
/// it continues the log. Then its appends get the sequences, times and revisions that they had, or the step throws.
package final class Follower: @unchecked Sendable {
  // Sendable, so that a thread of its own can make the steps.

  private let log: Log
  private let objects: CarrierLog
  /// Nothing after it is appended: the last sequence of an append.
  private let last: UInt64
  /// Called after each append that orders an erasure is in the log, and before anything that follows it.
  private let erase: () throws(StoreError) -> Void
  private let isOrder: (borrowing EventView) -> Bool
  /// The number of the next object; nil until it was looked for.
  private var number: UInt64?
  /// Whether an order of the log may not be carried out yet: at first, and after a try that failed.
  private var owesErasing = true
  /// How often nothing was found.
  private var looks = 0
  /// The last object that was taken.
  private(set) var lastObject: WireObject?

  /// - Parameters:
  ///   - storeID: the store whose objects they are, if the log is that of a fork.
  ///   - last: where to end.
  ///   - isOrder: whether an event is an order to erase.
  ///   - erase: carries out the orders of the log.
  package init(
    _ log: Log, from carrier: any Carrier, of storeID: StoreID? = nil, through last: UInt64 = .max,
    isOrder: @escaping (borrowing EventView) -> Bool = { _ in false },
    erase: @escaping () throws(StoreError) -> Void = { () throws(StoreError) in }
  ) {
    self.log = log
    self.last = last
    self.isOrder = isOrder
    self.erase = erase
    objects = CarrierLog(carrier, of: storeID ?? log.storeID)
  }

  /// The number of the next object, for a caller that waits for it.
  package var nextNumber: UInt64 { number ?? 1 }

  /// Takes the next object. Returns false if there is none yet, or if the log has everything up to the last sequence.
  ///
  /// - Throws: `carrierUnavailable` if it may be tried again; `damaged` and `diverged` with the place of an object that
  ///   is not what was put there, or does not continue this log; errors of the log. Nothing of the object is appended
  ///   then, or only whole appends of it from its begin.
  package func step() throws(StoreError) -> Bool {
    if owesErasing { try carryOut() }
    guard log.mark.sequence < last else { return false }
    if number == nil, let segment = try objects.segment(holding: log.mark.sequence + 1) {
      try take(segment)
      return true
    }
    let number: UInt64
    if let known = self.number { number = known } else { number = try find() }
    self.number = number
    guard let object = try objects.object(number, after: log.mark.sequence) else {
      return try isRemoved(number)
    }
    // The objects between were removed since the number was looked for.
    if object.header.firstSequence > log.mark.sequence + 1,
      try objects.segment(holding: log.mark.sequence + 1) != nil
    {
      startOver()
      return true
    }
    if let before = lastObject, object.header.kind == WireKind.events,
      object.header.writer != before.header.writer
    {
      throw .damaged(
        StoreFinding(
          .stale, file: objects.place(number), offset: 0, first: object.header.firstSequence,
          last: object.header.lastSequence,
          what: "the object is of the member \(object.header.writer), which has not taken over"))
    }
    try take(object)
    lastObject = object
    self.number = number + 1
    return true
  }

  /// The object that holds the first event that the log lacks, or the one before it, which may say more.
  private func find() throws(StoreError) -> UInt64 {
    let head = log.mark.sequence
    guard head > 0 else { return try objects.firstNumber() }
    let number = try objects.number(holding: head, upTo: try objects.lastNumber())
    guard try objects.object(number) != nil else {
      throw .replica(
        .diverged, place: objects.carrier.name,
        what: "what is there ends before sequence \(head), which this copy has from there",
        next: "put back what the place has lost, or ship to a new one from the store that has most")
    }
    return number
  }

  /// How many looks that find nothing there are from one look at all numbers to the next: an object that is missing would
  /// be waited for for ever.
  private static let looksToExtent = 256

  /// Whether an object that is not there was one whose events are in a segment by now.
  private func isRemoved(_ number: UInt64) throws(StoreError) -> Bool {
    looks += 1
    if looks % Self.looksToExtent == 1 { _ = try objects.lastNumber() }
    guard number < (try objects.firstNumber()) else { return false }
    startOver()
    return true
  }

  private func startOver() {
    number = nil
    lastObject = nil
  }

  /// Takes what the log lacks of a whole segment.
  private func take(_ segment: CarriedSegment) throws(StoreError) {
    try segment.walk { block throws(StoreError) in
      guard block.header.nextSequence > log.mark.sequence + 1, log.mark.sequence < last else { return }
      try take(block, segment.place)
    }
  }

  private func take(_ object: WireObject) throws(StoreError) {
    let (header, place) = (object.header, objects.place(object.header.number))
    let mark = log.mark
    guard header.firstSequence <= mark.sequence + 1 else {
      throw .damaged(
        StoreFinding(
          .missing, file: place, offset: 0, first: mark.sequence + 1, last: header.firstSequence - 1,
          what: "the object begins at sequence \(header.firstSequence), and what is before it ends at "
            + "\(mark.sequence)"))
    }
    guard header.kind == WireKind.events else {
      let isNext = header.firstSequence == mark.sequence + 1
      guard try log.chain(after: header.lastSequence) == header.chainAfter,
        !isNext || (header.appendsBefore == mark.appends && header.lastTime == mark.time)
      else { throw diverged(place, at: header.lastSequence) }
      return
    }
    try take(try object.block(in: place), place)
  }

  /// Takes what the log lacks of a block.
  private func take(_ block: DecodedBlock, _ place: String) throws(StoreError) {
    let mark = log.mark
    try checkGoesOn(block, mark, place)
    guard block.header.nextSequence > mark.sequence + 1 else { return }
    let appends = try appends(of: block, after: mark, place)
    let run = try log.followingRun()
    do throws(StoreError) {
      for append in appends {
        guard try run.add(append.draft, label: append.first) else { break }
        if append.isOrder {
          try drain(run)
          owesErasing = true
          try carryOut()
        }
      }
    } catch {
      run.drain()
      throw error
    }
    try drain(run)
  }

  private func carryOut() throws(StoreError) {
    try erase()
    owesErasing = false
  }

  /// An append of an object, as this log takes it.
  private struct Append {
    let draft: AppendDraft
    let first: UInt64
    let isOrder: Bool
  }

  /// Compares the log with the begin of an object, or with the part that it has already.
  private func checkGoesOn(
    _ block: DecodedBlock, _ mark: VisibleMark, _ place: String
  ) throws(StoreError) {
    let header = block.header
    if header.firstSequence == mark.sequence + 1 {
      guard header.chainBefore == mark.visible.chain, header.appendsBefore == mark.appends,
        header.firstTime >= mark.time
      else { throw diverged(place, at: mark.sequence) }
      return
    }
    let common = min(mark.sequence, header.nextSequence - 1)
    let theirs: UInt64
    do throws(ContentProblem) { theirs = try block.chain(after: common) } catch {
      throw error.storeError(in: place, at: 0, first: header.firstSequence, last: header.nextSequence - 1)
    }
    guard try log.chain(after: common) == theirs else { throw diverged(place, at: common) }
  }

  /// The appends of a block that the log lacks. Their chain is that of the object, before any of them is appended: what
  /// would be written in another way here is refused.
  private func appends(
    of block: DecodedBlock, after mark: VisibleMark, _ place: String
  ) throws(StoreError) -> [Append] {
    var appends: [Append] = []
    var chain = mark.visible.chain
    do throws(ContentProblem) {
      try block.forEachAppend { append, first throws(ContentProblem) in
        guard first > mark.sequence else { return }
        let draft = try AppendDraft(copying: append, first: first)
        chain = draft.chain(
          after: chain, first: first,
          head: AppendDraft.headHash(
            commitTime: append.commitTime, given: draft.given ?? append.commitTime, id: draft.id,
            isErasable: draft.isErasable, count: draft.eventCount))
        if first + UInt64(append.eventCount) - 1 <= last {
          appends.append(Append(draft: draft, first: first, isOrder: try hasOrder(append)))
        }
      }
    } catch {
      throw error.storeError(
        in: place, at: 0, first: block.header.firstSequence, last: block.header.nextSequence - 1)
    }
    guard chain == block.header.chainAfter else { throw diverged(place, at: block.header.nextSequence - 1) }
    return appends
  }

  private func hasOrder(_ append: borrowing AppendView) throws(ContentProblem) -> Bool {
    var events = append.events
    for _ in 0..<append.eventCount {
      do throws(DecodingProblem) { if isOrder(try events.nextEvent()) { return true } } catch {
        throw ContentProblem(error)
      }
    }
    return false
  }

  private func drain(_ run: AppendRun) throws(StoreError) {
    let progress = run.drain()
    if let failure = progress.failure { throw failure.error }
    // An id that the log has already, which the writer's log cannot have twice.
    guard progress.known == 0 else { throw .diverged(sequence: log.mark.sequence) }
  }

  private func diverged(_ place: String, at sequence: UInt64) -> StoreError {
    .replica(
      .diverged, place: place,
      what: "the copy has other events than this store up to sequence \(sequence)",
      next: "follow into a new folder; this one keeps what it has")
  }
}
