// An order to erase events, and its result.

internal import StrataDocuments
package import StrataLog

/// An order to erase the content of events. The log keeps the order, so it should name no more than it must.
public struct Erasure: Sendable, Hashable {
  /// The streams to erase: all of their events that are older than the order.
  package var streams: [StreamName]
  /// The sequences of the events to erase.
  package var sequences: [ClosedRange<UInt64>]
  /// The reason, which stays in the log.
  package var reason: String

  public init(
    streams: [StreamName] = [], sequences: [ClosedRange<UInt64>] = [], because reason: String
  ) {
    self.streams = streams
    self.sequences = sequences
    self.reason = reason
  }
}

/// The result of an erasure.
public struct ErasureReceipt: Sendable, Hashable {
  /// The sequence of the order in the log.
  public var sequence: UInt64
  /// The number of events whose content this order erased, without those that had been erased before it.
  public var eventCount: UInt64
}

extension Erasure {
  func event() throws(StoreError) -> NewEvent {
    let order = ErasureEvent.Order(
      streams: streams.map(\.text), sequences: sequences.map { [$0.lowerBound, $0.upperBound] },
      reason: reason)
    return try Self.event(ErasureEvent.order, order)
  }

  static func event(_ type: String, _ value: some Encodable) throws(StoreError) -> NewEvent {
    do {
      return NewEvent(
        type, in: ErasureEvent.stream,
        payload: EventPayload(codec: .cbor, bytes: try CBOREncoder().encode(value)))
    } catch { throw .invalid(what: "the erasure cannot be encoded: \(error)") }
  }

  /// Decodes the order from its event.
  package init(_ event: RecordedEvent) throws(StoreError) {
    let order = try Self.decoded(ErasureEvent.Order.self, event)
    streams = order.streams.map { StreamName($0) }
    sequences = []
    for pair in order.sequences {
      guard pair.count == 2, pair[0] <= pair[1] else {
        throw .undecodable(what: "event \(event.sequence) orders an erasure of something that is not a range")
      }
      sequences.append(pair[0]...pair[1])
    }
    reason = order.reason
  }

  /// Whether the order names an event of an application that is older than the order. O(streams + ranges).
  package func names(_ event: RecordedEvent) -> Bool {
    streams.contains(event.stream) || sequences.contains { $0.contains(event.sequence) }
  }

  static func decoded<Value: Decodable>(
    _ type: Value.Type, _ event: RecordedEvent
  ) throws(StoreError) -> Value {
    do { return try CBORDecoder().decode(type, from: event.payload.bytes) } catch {
      throw .undecodable(what: "event \(event.sequence) of type \(event.type) cannot be read: \(error)")
    }
  }
}
