// Erasing in a carrier: objects that hold content which the log has erased are replaced.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// Replaces the objects of orders that the log has carried out. Used by the writer's thread.
///
/// Sequences, chains and borders of an object stay, so that followers read the replaced ones as they read the others.
struct CarrierErasing {
  private let log: Log
  private let objects: CarrierLog
  /// How many orders and notes the log had when all of its orders were last carried out here.
  private(set) var seen: UInt64 = 0
  /// The last order that was carried out here since this began.
  private(set) var through: UInt64 = 0

  init(_ log: Log, _ objects: CarrierLog) {
    self.log = log
    self.objects = objects
  }

  /// Replaces what must be replaced. O(1) if no order came since the last call.
  ///
  /// The first call looks at all orders: an object may have come back from a copy of the carrier.
  ///
  /// - Parameters:
  ///   - end: the last sequence in the carrier. Orders after it wait.
  ///   - last: the number of the last object there.
  ///   - isOwn: whether nobody has put anything after what this member has put.
  mutating func run(
    through end: UInt64, upTo last: UInt64, isOwn: () throws(StoreError) -> Bool
  ) throws(StoreError) {
    let count = try log.erasureCount()
    guard count > seen else { return }
    let carriedOut = try EventStore(log: log).carriedOutOrders(after: through)
    for order in carriedOut.orders {
      guard order.sequence <= end else { return }
      for range in order.targets { guard try replace(range, upTo: last, isOwn: isOwn) else { return } }
      through = order.sequence
    }
    if !carriedOut.hasOpen { seen = count }
  }

  /// Returns false if another member has put something there, so that nothing more is replaced.
  private func replace(
    _ range: ClosedRange<UInt64>, upTo last: UInt64, isOwn: () throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    var number = try objects.number(holding: range.lowerBound, upTo: last)
    while number <= last {
      guard let object = try objects.object(number) else {
        // Objects that segments replace are removed meanwhile, by another thread.
        let first = try objects.firstNumber()
        guard number < first else { throw objects.missing(number) }
        number = first
        continue
      }
      guard object.header.firstSequence <= range.upperBound else { break }
      if object.header.kind == WireKind.events, let erased = try erased(object, in: range) {
        // What a member that was overtaken has read may hold content that the new writer has erased since.
        guard try isOwn() else { return false }
        try objects.asStoreError { () throws(CarrierError) in
          try objects.carrier.replaceObject(erased.carried)
        }
      }
      number += 1
    }
    return true
  }

  /// An object without the content of the events of a range; nil if it has none. What was erased in it before stays so.
  private func erased(_ object: WireObject, in range: ClosedRange<UInt64>) throws(StoreError) -> WireObject? {
    let place = objects.place(object.header.number)
    let block = try object.block(in: place)
    var hasContent = false
    let payload: RawBuffer
    do throws(ContentProblem) {
      payload = try block.payload { event, sequence in
        guard range.contains(sequence), !ErasureEvent.isOwn(event) else { return false }
        hasContent = true
        return true
      }
    } catch {
      throw error.storeError(
        in: place, at: 0, first: object.header.firstSequence, last: object.header.lastSequence)
    }
    guard hasContent else { return nil }
    var erased = WireObject(object.header, payload: payload.bytes)
    erased.version = object.version
    // What takes the place of an object must be one.
    _ = try erased.block(in: place)
    return erased
  }
}

extension Log {
  /// How many orders to erase, and notes of them, the log has.
  func erasureCount() throws(StoreError) -> UInt64 {
    try index.revision(of: Array(ErasureEvent.stream.text.utf8))
  }
}
