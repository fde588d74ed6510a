// The events that record erasures in the log.

package import StrataLog

/// The events of an erasure: the order, notes that it was carried out in part, and a note that it is done.
///
/// They are never erased, so that copies elsewhere can follow them, and so that a fold can tell that its state holds
/// content which the log no longer has.
package enum ErasureEvent {
  package static let stream: StreamName = "$erasures"
  /// The payload is an `Erasure`.
  package static let order = "$erase"
  /// The payload holds the order's sequence, the number of events erased by this part, and the sequences that are left.
  package static let part = "$erasing"
  /// The payload holds the order's sequence, and the number of events erased by all parts.
  package static let done = "$erased"

  private static let streamBytes = Array(stream.text.utf8)
  private static let orderBytes = Array(order.utf8)
  private static let doneBytes = Array(done.utf8)
  private static let partBytes = Array(part.utf8)

  /// True for a note that content was erased: everything that an order names, or a part of it.
  @inline(__always)
  package static func isNote(_ event: borrowing EventView) -> Bool {
    let (stream, type) = (event.stream, event.type)
    return stream.count == streamBytes.count && stream.elementsEqual(streamBytes)
      && (type.elementsEqual(doneBytes) || type.elementsEqual(partBytes))
  }

  /// True for an order to erase.
  package static func isOrder(_ event: borrowing EventView) -> Bool {
    let type = event.type
    return isOwn(event) && type.elementsEqual(orderBytes)
  }

  /// True for the events of the stream of erasures, which are never erased.
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

    /// The sequences that are left; nil if one of the entries is not a range. Then all of the order is to be tried.
    var ranges: [ClosedRange<UInt64>]? {
      var ranges: [ClosedRange<UInt64>] = []
      for entry in left {
        guard entry.count == 2, entry[0] <= entry[1] else { return nil }
        ranges.append(entry[0]...entry[1])
      }
      return ranges
    }
  }

  struct Done: Codable {
    var order: UInt64
    var events: UInt64
  }
}
