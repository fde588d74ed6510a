// The comparison of two stores, event by event, up to the first difference.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// The first difference of two stores: what differs, and at which event of each. A store that has no event there has
/// ended.
struct StoreDifference: Equatable {
  var what: String
  var first: UInt64?
  var second: UInt64?
}

/// Compares the events of two stores in their order.
///
/// What is compared always is what an application wrote: stream, type, payload and metadata, byte for byte, what is
/// erased, where appends begin, their ids and their own times. Exactly, also what each store has given to it: sequences,
/// versions in the stream, commit times, flags and salts, and Strata's own events.
struct StoreComparison {
  let isExact: Bool

  /// Compares up to the first difference; nil if there is none. O(events), with a block of each in memory.
  func run(_ first: CompareSide, _ second: CompareSide) throws(CommandFailure) -> StoreDifference? {
    while true {
      let items = (try first.next(), try second.next())
      switch items {
      case (nil, nil): return nil
      case (let one?, let other?):
        if let what = difference(one, other) {
          return StoreDifference(what: what, first: one.sequence, second: other.sequence)
        }
        first.count(one)
        second.count(other)
      case (let one?, nil): return StoreDifference(what: "end", first: one.sequence, second: nil)
      case (nil, let other?): return StoreDifference(what: "end", first: nil, second: other.sequence)
      }
    }
  }

  private func difference(_ one: CompareSide.Item, _ other: CompareSide.Item) -> String? {
    if one.beginsAppend != other.beginsAppend { return "append" }
    if !one.event.stream.hasBytes(of: other.event.stream) { return "stream" }
    if !one.event.type.hasBytes(of: other.event.type) { return "type" }
    if one.beginsAppend {
      if !one.append.id.hasBytes(of: other.append.id) { return "id" }
      if one.append.ownTime != other.append.ownTime { return "time" }
    }
    if one.event.kind != other.event.kind { return "state" }
    if one.event.kind == EventKind.event {
      if one.event.codec != other.event.codec { return "codec" }
      if !one.event.payload.hasBytes(of: other.event.payload) { return "payload" }
      if !one.event.metadata.hasBytes(of: other.event.metadata) { return "metadata" }
    }
    return isExact ? exactDifference(one, other) : nil
  }

  private func exactDifference(_ one: CompareSide.Item, _ other: CompareSide.Item) -> String? {
    if one.sequence != other.sequence { return "sequence" }
    if one.event.revision != other.event.revision { return "version" }
    if one.append.commitTime != other.append.commitTime { return "commit time" }
    if !one.append.head.hasBytes(of: other.append.head) { return "flags" }
    // The chain covers this, and the content of what is erased.
    return one.event.contentHash == other.event.contentHash ? nil : "salt"
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func hasBytes(of other: UnsafeRawBufferPointer) -> Bool {
    count == other.count && elementsEqual(other)
  }
}
