// A position in a decoded block, between two events, from which a walk goes on.

internal import StrataBase

/// Walks over the appends and events of one block, and can stop after any event: what it has passed is not decoded
/// again when it goes on. A value: a copy goes on from the same event.
///
/// What it returns is valid as long as the block, which it holds.
package struct BlockCursor {
  package let block: DecodedBlock
  /// The next event, or the one after the block.
  package private(set) var nextSequence: UInt64
  /// The last event of the current append; before the first append, the event before the block.
  package private(set) var appendEnd: UInt64
  /// The number of events that it has decoded, or passed by their lengths.
  package private(set) var passedCount: UInt64 = 0
  private var append: AppendView?
  private var appendCount: UInt32 = 0
  /// What is left of the current append.
  private var events: ByteCursor
  /// The appends after the current one.
  private var rest: ByteCursor

  /// Begins before the first event.
  package init(_ block: DecodedBlock) {
    self.block = block
    rest = block.content
    events = ByteCursor(rest.end, count: 0)
    nextSequence = block.header.firstSequence
    appendEnd = nextSequence &- 1
  }

  package var isAtEnd: Bool { nextSequence == block.header.nextSequence }

  /// The append that the next event is in; nil at the end of the block.
  package mutating func openAppend() throws(ContentProblem) -> AppendView? {
    if let append, nextSequence &- 1 != appendEnd { return append }
    return try nextAppend()
  }

  /// The append after the current one, of which no further event is looked at; nil at the end of the block.
  package mutating func nextAppend() throws(ContentProblem) -> AppendView? {
    nextSequence = appendEnd &+ 1
    let header = block.header
    guard rest.remaining > 0 else {
      guard isAtEnd else { throw .damaged("the block holds fewer events than its header counts") }
      return nil
    }
    let next: AppendView
    do throws(DecodingProblem) { next = try rest.nextAppend() } catch { throw ContentProblem(error) }
    guard nextSequence &- header.firstSequence + UInt64(next.eventCount) <= UInt64(header.eventCount) else {
      throw .damaged("the block holds more events than its header counts")
    }
    guard appendCount < header.appendCount else {
      throw .damaged("the block holds more appends than its header counts")
    }
    appendCount += 1
    appendEnd = nextSequence &+ UInt64(next.eventCount) &- 1
    (append, events) = (next, next.events)
    return next
  }

  /// The next event of the current append, which must have one.
  package mutating func nextEvent() throws(ContentProblem) -> EventView {
    assert(append != nil && nextSequence &- 1 != appendEnd, "an append has no event left")
    let event: EventView
    do throws(DecodingProblem) { event = try events.nextEvent() } catch { throw ContentProblem(error) }
    nextSequence &+= 1
    passedCount += 1
    return event
  }

  /// Checks that nothing follows the last event of the current append, nor of the block if it is its last.
  package mutating func endAppend() throws(ContentProblem) {
    assert(nextSequence &- 1 == appendEnd, "an append ends before its last event")
    guard events.remaining == 0 else { throw .damaged("an append holds more than its events") }
    if isAtEnd { _ = try nextAppend() }
  }

  /// Passes all events up to a sequence. Of an append that reaches beyond it, the events before are passed by their
  /// lengths; of the others, only the heads are looked at.
  package mutating func skip(through sequence: UInt64) throws(ContentProblem) {
    while !isAtEnd, nextSequence <= sequence, try openAppend() != nil {
      if appendEnd <= sequence {
        nextSequence = appendEnd &+ 1
        continue
      }
      while nextSequence <= sequence {
        guard events.lengthPrefixed() != nil else { throw .damaged("an event is longer than its append") }
        nextSequence += 1
        passedCount += 1
      }
    }
  }
}
