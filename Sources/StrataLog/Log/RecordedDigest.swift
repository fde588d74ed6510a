// Is an append the one that the log has under the same id?

/// What the log says of an append, as far as a repetition is compared with it.
struct RecordedDigest {
  private(set) var last: UInt64
  private(set) var time: Int64
  /// Hashes of names and content of each event, in order.
  private var events: [(names: UInt64, content: UInt64)] = []

  /// Reads the append that begins at a sequence.
  init(_ source: LogSource, first: UInt64) throws(LogError) {
    var cursor = LogCursor(source, after: first - 1, step: 1 << 16)
    guard let block = try cursor.next() else {
      throw .invalid(what: "the index names sequence \(first), which the log does not have")
    }
    last = first - 1
    time = FormatLimits.noTime
    var last = first - 1
    var time = FormatLimits.noTime
    var events: [(UInt64, UInt64)] = []
    var begin: UInt64 = 0
    do throws(ContentProblem) {
      try block.forEachAppend { append, begins throws(ContentProblem) in
        if begins == first {
          begin = begins
          last = begins + UInt64(append.eventCount) - 1
          time = append.commitTime
        }
      }
      try block.forEachEvent { event, _, sequence throws(ContentProblem) in
        if sequence >= first, sequence <= last {
          events.append((XXH64.of(event.names), event.contentHash))
        }
      }
    } catch {
      throw error.logError(
        in: StoreLayout.segmentName(block.header.segment), at: block.header.ownOffset, first: first,
        last: last)
    }
    guard begin == first else {
      throw .invalid(what: "no append begins at sequence \(first)")
    }
    self.last = last
    self.time = time
    self.events = events
  }

  /// True when a draft says the same: the same events for the same streams, in the same order. A salt makes
  /// every content its own, so erasable appends are compared by their names.
  func matches(_ draft: AppendDraft) -> Bool {
    draft.marks.count == events.count
      && zip(draft.marks, events).allSatisfy { mark, event in
        mark.namesHash == event.names && (draft.isErasable || mark.contentHash == event.content)
      }
  }
}

extension AppendDraft {
  /// The same comparison with an append of the same group.
  func hasSameContent(as other: AppendDraft) -> Bool {
    marks.count == other.marks.count
      && zip(marks, other.marks).allSatisfy { mine, theirs in
        mine.namesHash == theirs.namesHash && (isErasable || mine.contentHash == theirs.contentHash)
      }
  }
}
