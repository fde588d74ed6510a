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

  init(_ log: Log, _ objects: CarrierLog) {
    self.log = log
    self.objects = objects
  }

  /// Replaces what must be replaced. O(1) if no order came since the last call.
  ///
  /// - Parameter end: the last sequence in the carrier. Orders after it wait.
  mutating func run(through end: UInt64) throws(StoreError) {
    let count = try log.erasureCount()
    guard count > seen, var mark = log.replica else { return }
    let carriedOut = try EventStore(log: log).carriedOutOrders(after: mark.erasedThrough)
    for order in carriedOut.orders {
      guard order.sequence <= end else { return }
      for range in order.targets { try replace(range) }
      mark.erasedThrough = order.sequence
      try log.setReplica(mark)
    }
    if !carriedOut.hasOpen { seen = count }
  }

  private func replace(_ range: ClosedRange<UInt64>) throws(StoreError) {
    var number = try objects.number(holding: range.lowerBound)
    while let object = try objects.object(number), object.header.firstSequence <= range.upperBound {
      if object.header.kind == WireKind.events { try replace(object) }
      number += 1
    }
  }

  private func replace(_ object: WireObject) throws(StoreError) {
    let header = object.header
    let payload = try log.appends(in: header.firstSequence...header.lastSequence)
    let erased = WireObject(header, payload: payload.bytes)
    guard erased.bytes != object.bytes else { return }
    // What takes the place of an object must be one.
    _ = try erased.block(in: objects.place(header.number))
    try objects.asStoreError { () throws(CarrierError) in
      try objects.carrier.replaceObject(erased.carried)
    }
  }
}

extension Log {
  /// How many orders to erase, and notes of them, the log has.
  func erasureCount() throws(StoreError) -> UInt64 {
    try index.revision(of: Array(ErasureEvent.stream.text.utf8))
  }

  /// The appends of whole sequences as a payload has them. O(bytes of their blocks). Throws `damaged` if an append begins
  /// before the first one, or ends after the last.
  fileprivate func appends(in sequences: ClosedRange<UInt64>) throws(StoreError) -> RawBuffer {
    var raw = RawBuffer(capacity: 64 << 10)
    var cursor = cursor(after: sequences.lowerBound - 1)
    while cursor.nextSequence <= sequences.upperBound, let block = try cursor.next() {
      do throws(ContentProblem) { try block.copyAppends(in: sequences, to: &raw) } catch {
        throw error.storeError(of: block.header)
      }
    }
    return raw
  }
}

extension DecodedBlock {
  /// Adds the appends that are inside of some sequences, each with its length.
  fileprivate func copyAppends(
    in sequences: ClosedRange<UInt64>, to raw: inout RawBuffer
  ) throws(ContentProblem) {
    defer { withExtendedLifetime(self) {} }
    var cursor = ByteCursor(self.raw.baseAddress!, count: self.raw.count)
    var first = header.firstSequence
    while cursor.remaining > 0, first <= sequences.upperBound {
      let begin = cursor.position
      let count: Int
      do throws(DecodingProblem) { count = try cursor.nextAppend().eventCount } catch {
        throw ContentProblem(error)
      }
      if first >= sequences.lowerBound {
        raw.append(UnsafeRawBufferPointer(start: begin, count: cursor.position - begin))
      }
      first += UInt64(count)
    }
  }
}
