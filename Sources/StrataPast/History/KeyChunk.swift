// The chunks in which it is written what the keys of a run did: those of groups, and those of tallies.

internal import StrataBase
internal import StrataTables

/// A record of what was there before an event, and of what changed from then on. A reader needs one of them: the last
/// one that begins with its event or before it.
struct KeyChunk {
  /// The event with which it begins, as its distance from the run's begin; 0 for the first one.
  var first: UInt64
  var address: RecordAddress

  /// Where a chunk ends that begins with some change: with an event.
  ///
  /// - Parameters:
  ///   - count: the number of all changes, which are in the order of their events.
  ///   - changeCountMin: the fewest changes of a chunk that another one follows.
  ///   - event: of a change.
  static func end(
    from start: Int, of count: Int, changeCountMin: Int, event: (Int) -> UInt64
  ) -> Int {
    guard count - start > max(1, changeCountMin) else { return count }
    var end = start + max(1, changeCountMin)
    while end < count, event(end) == event(end - 1) { end += 1 }
    return end
  }

  func append(to bytes: inout RawBuffer) {
    bytes.append(varint: first)
    address.append(to: &bytes)
  }

  /// Reads a chunk's address.
  ///
  /// - Parameters:
  ///   - last: the chunk before it.
  ///   - span: the number of events of the run.
  init(_ cursor: inout ByteCursor, after last: KeyChunk?, span: UInt64) throws(PageDamage) {
    guard let first = cursor.varint(), first <= span, last.map({ $0.first < first }) ?? (first == 0),
      let address = RecordAddress(&cursor)
    else { throw PageDamage("the chunks of some keys do not ascend, or have no address") }
    self.init(first: first, address: address)
  }

  package init(first: UInt64, address: RecordAddress) { (self.first, self.address) = (first, address) }
}
