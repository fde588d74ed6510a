// The objects of a carrier as a log: found by number, and checked.

package import StrataLog

/// Reads the objects of one store in a carrier. Its calls block.
package struct CarrierLog: Sendable {
  package let carrier: any Carrier
  /// The store whose objects are expected; nil until one was read.
  package var storeID: StoreID?

  package init(_ carrier: any Carrier, of storeID: StoreID?) {
    self.carrier = carrier
    self.storeID = storeID
  }

  /// What messages call an object.
  package func place(_ number: UInt64) -> String { carrier.place(of: CarrierLog.path(of: number)) }

  /// The name of an object where names are paths: twenty digits, so that names are in the order of the numbers.
  package static func path(of number: UInt64) -> String {
    "log/\(SegmentName(number).digits)"
  }

  /// The object under a number; nil if there is none yet.
  ///
  /// - Parameter after: the last sequence that is known before it, for messages.
  package func object(_ number: UInt64, after: UInt64 = 0) throws(StoreError) -> WireObject? {
    guard let found = try asStoreError({ () throws(CarrierError) in try carrier.object(number) }) else {
      return nil
    }
    return try WireObject(decoding: found, of: storeID, in: place(number), after: after)
  }

  /// The number of the last object, 0 if there is none. O(numbers).
  ///
  /// - Throws: `damaged` if an object before it is missing.
  package func lastNumber() throws(StoreError) -> UInt64 {
    let extent = try asStoreError { () throws(CarrierError) in try carrier.extent() }
    if let missing = extent.missing { throw self.missing(missing) }
    return extent.last
  }

  /// The end of the last object. Throws `notFound` if there is none.
  package func end() throws(StoreError) -> WireEnd {
    let number = try lastNumber()
    guard number > 0 else { throw .nothingThere(carrier.name) }
    guard let object = try object(number) else { throw missing(number) }
    return object.end
  }

  /// The number of the object that holds a sequence, or that a log which ends before the sequence needs next. O(log
  /// numbers) objects are read.
  ///
  /// - Parameter last: the number of the last object, from `lastNumber`.
  package func number(holding sequence: UInt64, upTo last: UInt64) throws(StoreError) -> UInt64 {
    var (low, high): (UInt64, UInt64) = (1, last + 1)
    while low < high {
      let middle = low + (high - low) / 2
      guard let object = try object(middle) else { throw missing(middle) }
      if object.header.lastSequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low
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
  static func nothingThere(_ carrier: String) -> StoreError {
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
