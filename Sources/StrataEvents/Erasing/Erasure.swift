// What is to be erased, and why, as the log records it.

package import StrataLog

/// An order to take the content out of events. The log keeps it, so it names no more than it must.
public struct Erasure: Sendable, Hashable {
  /// All events of these streams that are older than the order.
  public var streams: [StreamName]
  /// The events with these sequences.
  public var sequences: [ClosedRange<UInt64>]
  /// The reason, which stays in the log.
  public var reason: String

  public init(
    streams: [StreamName] = [], sequences: [ClosedRange<UInt64>] = [], because reason: String
  ) {
    self.streams = streams
    self.sequences = sequences
    self.reason = reason
  }
}

/// What an erasure came to.
public struct ErasureReceipt: Sendable, Hashable {
  /// The sequence of the order in the log.
  public var sequence: UInt64
  /// Events whose content is gone, and was not before.
  public var eventCount: UInt64
}

/// The events of an erasure: the order, notes that it was carried out in part, and the one that it was carried out.
/// They stay readable, so that a copy elsewhere can follow, and so that a fold knows from where on it holds what the log
/// does not.
package enum ErasureEvent {
  package static let stream: StreamName = "$erasures"
  /// The payload is an `Erasure`.
  package static let order = "$erase"
  /// The payload names the order, counts the events of this part, and says which sequences are left.
  package static let part = "$erasing"
  /// The payload names the order, and counts the events of all parts.
  package static let done = "$erased"

  private static let streamBytes = Array(stream.text.utf8)
  private static let doneBytes = Array(done.utf8)
  private static let partBytes = Array(part.utf8)

  /// True for a note that content was erased: all that an order means, or a part of it.
  @inline(__always)
  package static func isNote(_ event: borrowing EventView) -> Bool {
    let (stream, type) = (event.stream, event.type)
    return stream.count == streamBytes.count && stream.elementsEqual(streamBytes)
      && (type.elementsEqual(doneBytes) || type.elementsEqual(partBytes))
  }

  /// True for the events of erasures, which no erasure touches.
  package static func isOwn(_ event: borrowing EventView) -> Bool {
    event.stream.elementsEqual(streamBytes)
  }

  struct Order: Codable {
    var streams: [String]
    var sequences: [[UInt64]]
    var reason: String
  }

  struct Part: Codable {
    var order: UInt64
    var events: UInt64
    var left: [[UInt64]]

    init(order: UInt64, events: UInt64, left: [ClosedRange<UInt64>]) {
      self.order = order
      self.events = events
      self.left = left.map { [$0.lowerBound, $0.upperBound] }
    }

    /// Of what is no range, nothing is said: the next note then says it again.
    var ranges: [ClosedRange<UInt64>] {
      left.compactMap { $0.count == 2 && $0[0] <= $0[1] ? $0[0]...$0[1] : nil }
    }
  }

  struct Done: Codable {
    var order: UInt64
    var events: UInt64
  }
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

  /// The order that an event holds.
  init(_ event: RecordedEvent) throws(StoreError) {
    let order = try Self.decoded(ErasureEvent.Order.self, event)
    streams = order.streams.map { StreamName($0) }
    sequences = []
    for pair in order.sequences {
      guard pair.count == 2, pair[0] <= pair[1] else {
        throw .invalid(what: "event \(event.sequence) orders an erasure of no range")
      }
      sequences.append(pair[0]...pair[1])
    }
    reason = order.reason
  }

  static func decoded<Value: Decodable>(
    _ type: Value.Type, _ event: RecordedEvent
  ) throws(StoreError) -> Value {
    do { return try CBORDecoder().decode(type, from: event.payload.bytes) } catch {
      throw .invalid(what: "event \(event.sequence) of type \(event.type) cannot be read: \(error)")
    }
  }
}
