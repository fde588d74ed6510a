// The events of decoded bytes, one after another, and positions from which a walk goes on.

internal import StrataBase

/// The position of an event in decoded bytes.
struct EventMark {
  /// The offset of the event's length; where an append begins, of the append's.
  var offset: UInt32 = 0
  /// How many events the append has from this one on; 0 where an append begins.
  var left: UInt32 = 0
  /// The own time of the append.
  var time: Int64 = 0
}

/// Passes events by their lengths. The bytes may end inside an append, and inside an event.
struct EventWalk {
  private var cursor: ByteCursor
  private var left: Int
  /// The own time of the append of the event that was read last.
  private(set) var time: Int64

  init(_ bytes: UnsafeRawBufferPointer, _ mark: EventMark) {
    assert(Int(mark.offset) <= bytes.count, "a mark is inside the bytes")
    // Nothing is ever read at the address for no bytes.
    let base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
    cursor = ByteCursor(base + Int(mark.offset), count: bytes.count - Int(mark.offset))
    left = Int(mark.left)
    time = mark.time
  }

  private mutating func enterAppend() throws(DecodingProblem) {
    let append = try cursor.openAppend()
    (left, time) = (append.eventCount, append.ownTime)
  }

  /// Passes one event. False if it is not here whole, or is not an event; the walk is unusable then.
  mutating func pass() -> Bool {
    if left == 0 {
      do throws(DecodingProblem) { try enterAppend() } catch { return false }
    }
    left -= 1
    return cursor.lengthPrefixed() != nil
  }

  /// The position of the next event in the bytes.
  func mark(in bytes: UnsafeRawBufferPointer) -> EventMark {
    EventMark(offset: UInt32(cursor.position - bytes.baseAddress!), left: UInt32(left), time: time)
  }

  /// The next event.
  mutating func event() throws(DecodingProblem) -> EventView {
    if left == 0 { try enterAppend() }
    left -= 1
    return try cursor.nextEvent()
  }
}

extension UnsafeRawBufferPointer {
  /// Calls the body with the position of each event of a block, of which these are the decoded bytes, with the position
  /// of its append if it is the first one of it, and with its index. Checks that appends and events fill each other and
  /// the block, and are as many as its header counts.
  ///
  /// - Parameter isCut: whether these are only the first bytes. The last event may then be incomplete.
  /// - Returns: the number of events that are here whole.
  func forEachMark(
    of header: BlockHeader, isCut: Bool = false, _ body: (EventMark, _ append: UInt32?, _ index: Int) -> Void
  ) throws(ContentProblem) -> Int {
    guard let base = baseAddress else {
      throw .damaged("the block holds fewer events than its header counts")
    }
    var cursor = ByteCursor(base, count: count)
    var (eventCount, appendCount) = (0, 0)
    while cursor.remaining > 0 {
      let offset = UInt32(cursor.position - base)
      let append: AppendView
      do throws(DecodingProblem) {
        append = isCut ? try cursor.openAppend() : try cursor.nextAppend()
      } catch {
        if isCut { break }
        throw ContentProblem(error)
      }
      guard append.eventCount <= Int(header.eventCount) - eventCount else {
        throw .damaged("the block holds more events than its header counts")
      }
      guard appendCount < Int(header.appendCount) else {
        throw .damaged("the block holds more appends than its header counts")
      }
      appendCount += 1
      var events = append.events
      for number in 0..<append.eventCount {
        let mark = EventMark(
          offset: UInt32(events.position - base), left: UInt32(append.eventCount - number),
          time: append.ownTime)
        guard events.lengthPrefixed() != nil else {
          if isCut { return eventCount }
          throw .damaged("an event is longer than its append")
        }
        body(mark, number == 0 ? offset : nil, eventCount)
        eventCount += 1
      }
      guard events.remaining == 0 else { throw .damaged("an append holds more than its events") }
      if isCut { _ = cursor.bytes(UInt64(events.position - cursor.position)) }
    }
    guard isCut || eventCount == Int(header.eventCount) else {
      throw .damaged("the block holds fewer events than its header counts")
    }
    return eventCount
  }
}
