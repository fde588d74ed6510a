// A draft of an append that another log has.

internal import StrataBase

extension AppendDraft {
  /// Copies a recorded append with its id and both of its times. It gets the sequence and the revisions that it had, or is
  /// refused.
  ///
  /// - Parameters:
  ///   - append: an append of a payload that was checked, valid during the call.
  ///   - first: the sequence of its first event.
  package convenience init(copying append: borrowing AppendView, first: UInt64) throws(ContentProblem) {
    self.init(bytesHint: append.events.remaining)
    id = Array(append.id)
    let time = append.commitTime
    given = append.given ?? time
    committed = time
    expectedFirst = first
    expectsRevisions = true
    isErasable = append.flags & AppendFlag.erasable != 0
    var events = append.events
    for _ in 0..<append.eventCount {
      let event: EventView
      do throws(DecodingProblem) { event = try events.nextEvent() } catch { throw ContentProblem(error) }
      switch event.kind {
      case EventKind.event:
        add(
          stream: event.stream, type: event.type, codec: event.codec, salt: event.salt,
          metadata: event.metadata, payload: event.payload)
      case EventKind.erased:
        addErased(
          stream: event.stream, type: event.type, contentHash: event.writtenContentHash,
          contentLength: UInt64(event.contentLength))
      default:
        addOpaque(
          kind: event.kind, stream: event.stream, type: event.type, contentHash: event.writtenContentHash,
          rest: event.payload)
      }
      setRevision(event.revision, of: marks[marks.count - 1])
    }
  }
}
