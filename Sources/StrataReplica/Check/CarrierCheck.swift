// Compares a store with the objects of its carrier, event by event.

internal import StrataBase
package import StrataLog

/// Reads every object that a carrier has of a store, checks it as a follower does, and compares it with the log.
package struct CarrierCheck {
  /// What was compared.
  package struct Report: Sendable, Equatable {
    package var objects: UInt64 = 0
    package var segments: UInt64 = 0
    /// The last sequence that both have.
    package var through: UInt64 = 0
    /// How many events only the carrier has, and only the store.
    package var ahead: UInt64 = 0
    package var lag: UInt64 = 0
    /// How many events a store that was made from the carrier has of its own since then. They are not compared.
    package var own: UInt64 = 0
    /// The first events that are erased here and not there, or there and not here: at most `rangesMax` runs of them.
    package var erasedHere: [ClosedRange<UInt64>] = []
    package var erasedThere: [ClosedRange<UInt64>] = []

    package init() {}

    package var isSame: Bool { erasedHere.isEmpty && erasedThere.isEmpty }
  }

  package static let rangesMax = 100

  private let log: Log
  private let objects: CarrierLog
  /// The last sequence that the store may have in common with its copies.
  private let head: UInt64

  /// A store that was made from a carrier is compared up to where it was made.
  package init(_ log: Log, _ carrier: any Carrier) {
    self.log = log
    let fork = log.replica.flatMap { $0.role == .fork ? $0 : nil }
    objects = CarrierLog(carrier, of: fork?.origin ?? log.storeID)
    head = min(log.mark.sequence, fork?.originSequence ?? .max)
  }

  /// Compares. O(bytes of both). Blocks.
  ///
  /// - Throws: `damaged` with the place of an object that is not what was put there; `diverged` with the sequence at which
  ///   the two logs differ; `carrierUnavailable`.
  package func run(progress: (UInt64, UInt64) -> Void = { _, _ in }) throws(StoreError) -> Report {
    var report = Report()
    let last = try objects.lastNumber()
    guard last > 0 else { throw .nothingThere(objects.carrier.name) }
    if let found = try? CarrierLog(objects.carrier, of: nil).foundStoreID(), found != objects.storeID {
      throw .replica(
        .diverged, place: objects.carrier.name, what: "the copy there is of another store, \(found)",
        next: "name the place of this store; neither was changed")
    }
    var end = WireEnd.beginning
    let manifest = try objects.manifest()
    for segment in manifest.map({ objects.segments?.all($0) ?? [] }) ?? [] {
      try segment.walk { block throws(StoreError) in
        try compare(block, segment.place, head, &report)
        end = WireEnd(block.header)
        progress(end.sequence, max(end.sequence, head))
      }
      report.segments += 1
    }
    var number = manifest?.firstObject ?? 1
    while number <= last {
      guard let object = try objects.object(number, after: end.sequence) else {
        guard number < (try objects.firstNumber()) else { throw objects.missing(number, after: end.sequence) }
        throw .replica(
          .carrierUnavailable, place: objects.carrier.name,
          what: "objects were removed while they were compared, since segments hold what they held",
          next: "compare again")
      }
      try checkGoesOn(object, after: end)
      if object.header.kind == WireKind.events {
        let place = objects.place(number)
        try compare(try object.block(in: place), place, head, &report)
      }
      if object.end.sequence >= end.sequence { end = object.end }
      report.objects += 1
      progress(end.sequence, max(end.sequence, head))
      number += 1
    }
    report.through = min(end.sequence, head)
    report.ahead = end.sequence - report.through
    report.lag = head - report.through
    report.own = log.mark.sequence - head
    return report
  }

  private func checkGoesOn(_ object: WireObject, after end: WireEnd) throws(StoreError) {
    let header = object.header
    guard header.firstSequence <= end.sequence + 1,
      header.firstSequence != end.sequence + 1
        || (header.chainBefore == end.chain && header.appendsBefore == end.appends)
    else {
      throw .damaged(
        StoreFinding(
          .stale, file: objects.place(header.number), offset: 0, first: end.sequence + 1,
          last: max(end.sequence + 1, header.lastSequence),
          what: "the object does not continue the one before it, which ends at sequence \(end.sequence)"))
    }
  }

  private func compare(
    _ block: DecodedBlock, _ place: String, _ head: UInt64, _ report: inout Report
  ) throws(StoreError) {
    let header = block.header
    guard header.firstSequence <= head else { return }
    let last = min(header.nextSequence - 1, head)
    let theirs: UInt64
    var erased: Set<UInt64> = []
    do throws(ContentProblem) {
      theirs = try block.chain(after: last)
      try block.forEachEvent { event, _, sequence in
        if event.kind == EventKind.erased { erased.insert(sequence) }
      }
    } catch {
      throw error.storeError(in: place, at: 0, first: header.firstSequence, last: header.nextSequence - 1)
    }
    guard try log.chain(after: last) == theirs else {
      throw .replica(
        .diverged, place: place, what: "the object has other events than the store up to sequence \(last)",
        next: "find out which of the two is meant; neither was changed")
    }
    try forEachEvent(in: header.firstSequence...last) { event, sequence in
      let isErasedHere = event.kind == EventKind.erased
      guard isErasedHere != erased.contains(sequence) else { return }
      if isErasedHere { report.erasedHere.add(sequence) } else { report.erasedThere.add(sequence) }
    }
  }

  private func forEachEvent(
    in range: ClosedRange<UInt64>, _ body: (borrowing EventView, UInt64) -> Void
  ) throws(StoreError) {
    var cursor = log.cursor(after: range.lowerBound - 1)
    while cursor.nextSequence <= range.upperBound, let block = try cursor.next() {
      do throws(ContentProblem) {
        try block.forEachEvent { event, _, sequence in if range.contains(sequence) { body(event, sequence) } }
      } catch {
        throw error.storeError(of: block.header)
      }
    }
  }
}

extension [ClosedRange<UInt64>] {
  /// Adds a sequence after all that are there, as far as there is room. What a segment and an object hold comes twice.
  fileprivate mutating func add(_ sequence: UInt64) {
    guard !contains(where: { $0.contains(sequence) }) else { return }
    if let last, last.upperBound &+ 1 == sequence {
      self[count - 1] = last.lowerBound...sequence
    } else if count < CarrierCheck.rangesMax {
      append(sequence...sequence)
    }
  }
}
