// The objects and segments of a carrier as a log: found by number, and checked.

package import StrataLog

/// Reads the objects of one store in a carrier. Its calls block.
package struct CarrierLog: Sendable {
  package let carrier: any Carrier
  /// The store whose objects are expected; nil if any is.
  package let storeID: StoreID?
  /// The whole segments beside the objects; nil if the carrier keeps none.
  package let segments: CarrierSegments?

  package init(_ carrier: any Carrier, of storeID: StoreID?) {
    self.carrier = carrier
    self.storeID = storeID
    segments = (carrier as? any CarrierFiles).map { CarrierSegments($0, of: storeID) }
  }

  /// What messages call an object.
  package func place(_ number: UInt64) -> String { carrier.place(of: CarrierLog.path(of: number)) }

  static let folder = "log"

  /// The name of an object where names are paths: twenty digits, so that names are in the order of the numbers.
  package static func path(of number: UInt64) -> String {
    "\(folder)/\(SegmentName(number).digits)"
  }

  /// The object under a number; nil if there is none yet, or if it was removed.
  ///
  /// What is there may have been put after the number was free again, by a writer that slept for so long: it counts only
  /// if no manifest says by now that objects begin after it.
  ///
  /// - Parameter after: the last sequence that is known before it, for messages.
  package func object(_ number: UInt64, after: UInt64 = 0) throws(StoreError) -> WireObject? {
    guard let found = try asStoreError({ () throws(CarrierError) in try carrier.object(number) }) else {
      return nil
    }
    guard number >= (try firstNumber()) else { return nil }
    return try WireObject(decoding: found, of: storeID, in: place(number), after: after)
  }

  /// The number of the last object, 0 if there is none. O(numbers).
  ///
  /// - Throws: `damaged` if an object before it is missing that no segment takes the place of.
  package func lastNumber() throws(StoreError) -> UInt64 {
    let extent = try asStoreError { () throws(CarrierError) in try carrier.extent() }
    guard extent.last == 0 || !extent.missing.isEmpty else { return extent.last }
    // Read after the numbers: what was removed before has a manifest that says so.
    if lost(of: extent, from: try firstNumber()) != nil { segments?.forget() }
    if let lost = lost(of: extent, from: try firstNumber()) { throw missing(lost) }
    return extent.last
  }

  /// The number of an object that has to be there, and is not; nil if there is none.
  private func lost(of extent: CarrierExtent, from first: UInt64) -> UInt64? {
    if let lost = extent.missing.first(where: { $0.upperBound >= first }) {
      return max(lost.lowerBound, first)
    }
    return extent.last >= first || (first == 1 && extent.last == 0) ? nil : first
  }

  /// The number of the first object that is kept: 1 where there are no segments.
  package func firstNumber() throws(StoreError) -> UInt64 { try manifest()?.firstObject ?? 1 }

  /// The store whose objects they are, from what is there; nil if nothing is.
  package func foundStoreID() throws(StoreError) -> StoreID? {
    if let manifest = try manifest() { return manifest.storeID }
    return try object(1)?.header.storeID
  }

  /// The last object; nil if there is none. O(numbers).
  package func lastObject() throws(StoreError) -> WireObject? {
    while true {
      let number = try lastNumber()
      guard number > 0 else { return nil }
      if let object = try object(number) { return object }
      // It may have been removed since the numbers were listed, after others were put.
      guard number < (try firstNumber()) else { throw missing(number) }
    }
  }

  /// The end of the last object. Throws `notFound` if there is none.
  package func end() throws(StoreError) -> WireEnd {
    guard let last = try lastObject() else { throw .nothingThere(carrier.name) }
    return last.end
  }

  /// The number of the object that holds a sequence, or that a log which ends before the sequence needs next; of the first
  /// one if segments hold the sequence. O(log numbers) objects are read.
  ///
  /// - Parameter last: the number of the last object, from `lastNumber`.
  package func number(holding sequence: UInt64, upTo last: UInt64) throws(StoreError) -> UInt64 {
    var (low, high) = (try firstNumber(), last + 1)
    while low < high {
      let middle = low + (high - low) / 2
      guard let object = try object(middle) else {
        // It may be removed by now.
        let first = try firstNumber()
        guard middle < first else { throw missing(middle) }
        low = first
        continue
      }
      if object.header.lastSequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The segment that holds a sequence, if the sequence is before that of the first object; nil if objects hold it.
  package func segment(holding sequence: UInt64) throws(StoreError) -> CarriedSegment? {
    guard let segments, let manifest = try segments.latest(), sequence <= manifest.last,
      let entry = manifest.entries.first(where: { sequence <= $0.last })
    else { return nil }
    // Objects are smaller, and nearer to the end.
    if let first = try object(manifest.firstObject), first.header.firstSequence <= sequence { return nil }
    return CarriedSegment(offer: segments.offer(entry), storeID: manifest.storeID)
  }

  /// Visits the blocks of all segments and objects, in their order; what two of them hold is visited twice.
  package func forEachBlock(
    _ visit: (DecodedBlock, _ place: String) throws(StoreError) -> Void
  ) throws(StoreError) {
    var end: UInt64 = 0
    while try !visitObjects(after: &end, visit) {
      while let segment = try segment(holding: end + 1) {
        try segment.walk { block throws(StoreError) in try visit(block, segment.place) }
        end = segment.last
      }
    }
  }

  /// Visits the blocks of objects after a sequence. False if segments hold some of what is next, by now.
  private func visitObjects(
    after end: inout UInt64, _ visit: (DecodedBlock, _ place: String) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    guard try segment(holding: end + 1) == nil else { return false }
    let last = try lastNumber()
    var number = try number(holding: end + 1, upTo: last)
    while number <= last {
      guard let object = try object(number, after: end) else {
        guard number < (try firstNumber()) else { throw missing(number, after: end) }
        return false
      }
      if object.header.firstSequence > end + 1, try segment(holding: end + 1) != nil { return false }
      if object.header.kind == WireKind.events {
        try visit(try object.block(in: place(number)), place(number))
      }
      end = max(end, object.header.lastSequence)
      number += 1
    }
    return true
  }

  /// The finding for an object that was there, or must have been.
  package func missing(_ number: UInt64, after: UInt64 = 0) -> StoreError {
    .damaged(
      StoreFinding(
        .missing, file: place(number), offset: 0, first: after &+ 1, last: after &+ 1,
        what: "the object is missing, and later ones are there"))
  }

  /// Runs a call of the carrier. What it throws names the carrier.
  package func asStoreError<Result>(_ body: () throws(CarrierError) -> Result) throws(StoreError) -> Result {
    do throws(CarrierError) { return try body() } catch { throw .carrier(error, carrier.name) }
  }
}

extension StoreError {
  package static func nothingThere(_ carrier: String) -> StoreError {
    .replica(
      .notFound, place: carrier, what: "no store has been shipped there yet",
      next: "check the place, or ship a store to it first")
  }

  /// What a carrier did not do.
  static func carrier(_ error: CarrierError, _ name: String) -> StoreError {
    .replica(
      error.reason == .unfit ? .carrierUnfit : .carrierUnavailable, place: name, what: error.what,
      next: error.next)
  }
}

extension WireObject {
  /// The object as a carrier takes it.
  var carried: CarrierObject { CarrierObject(number: header.number, bytes: bytes, version: version) }
}
