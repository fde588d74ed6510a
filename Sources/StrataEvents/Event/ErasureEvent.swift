// The events by which the log records erasures.

package import StrataLog

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
