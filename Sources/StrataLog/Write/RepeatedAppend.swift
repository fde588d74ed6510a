// Compares an append with the one that the log has under the same id.

internal import StrataBase

/// The recorded append whose id is used again, and whether the repetition has the same content.
///
/// The append as it was recorded decides, not the store's current options: the salts are those that its events have in
/// the log.
struct RepeatedAppend {
  /// The append's last sequence.
  private(set) var last: UInt64
  /// Its commit time.
  private(set) var time = FormatLimits.noTime
  /// The time that was given for it, if that is another one.
  private(set) var given: Int64?
  /// The block that holds it.
  let block: DecodedBlock
  /// True if the draft has the same events for the same streams, in the same order. For an event whose content was
  /// erased, the remaining hash is compared; if the content had a salt, which was erased with it, only the names are.
  private(set) var isSame = false

  /// Reads the append that begins at a sequence, and compares it with a draft. O(bytes of both).
  init(of draft: AppendDraft, _ source: LogSource, first: UInt64) throws(StoreError) {
    var cursor = LogCursor(source, after: first - 1, step: 1 << 16)
    guard let block = try cursor.next() else {
      throw .invalid(what: "the index names sequence \(first), which the log does not have")
    }
    var last = first - 1
    var time = FormatLimits.noTime
    var given: Int64?
    var isSame = false
    do throws(ContentProblem) {
      try block.forEachAppend { append, begins throws(ContentProblem) in
        guard begins == first else { return }
        last = begins + UInt64(append.eventCount) - 1
        time = append.commitTime
        given = append.given
        isSame = append.eventCount == draft.eventCount
      }
      try block.forEachEvent { event, append, sequence throws(ContentProblem) in
        guard isSame, sequence >= first, sequence <= last else { return }
        isSame = draft.says(event, of: append, at: Int(sequence - first))
      }
    } catch {
      throw error.storeError(
        in: block.header.segment.path, at: block.header.ownOffset, first: first,
        last: last)
    }
    guard last >= first else { throw .invalid(what: "no append begins at sequence \(first)") }
    self.last = last
    self.time = time
    self.given = given
    self.block = block
    self.isSame = isSame
  }
}

extension RepeatedAppend {
  /// Whether the append that begins at a sequence has, in their order, the events of a draft that have content, apart from
  /// those of Strata's own streams. It may have others between them. O(bytes of both).
  func hasContent(of draft: AppendDraft, from first: UInt64) throws(StoreError) -> Bool {
    var indexes = draft.marks.indices.filter { draft.marks[$0].hasContent && !draft.isOwn($0) }[...]
    do throws(ContentProblem) {
      try block.forEachEvent { event, append, sequence throws(ContentProblem) in
        guard sequence >= first, sequence <= last, let index = indexes.first else { return }
        if draft.says(event, of: append, at: index) { indexes.removeFirst() }
      }
    } catch {
      throw error.storeError(
        in: block.header.segment.path, at: block.header.ownOffset, first: first, last: last)
    }
    return indexes.isEmpty
  }
}

extension AppendDraft {
  /// Whether an event is in one of Strata's own streams.
  fileprivate func isOwn(_ index: Int) -> Bool {
    let mark = marks[index]
    return mark.streamLength > 0 && events.bytes[mark.streamOffset] == UInt8(ascii: "$")
  }

  /// Whether an event of this draft has the content that was recorded.
  fileprivate func says(
    _ event: borrowing EventView, of append: borrowing AppendView, at index: Int
  ) -> Bool {
    let mark = marks[index]
    guard mark.namesHash == XXH64.of(event.names) else { return false }
    if event.kind == EventKind.event { return contentHash(of: mark, salt: event.salt) == event.contentHash }
    if append.flags & AppendFlag.erasable != 0 { return true }
    return contentHash(of: mark, salt: .init(start: nil, count: 0)) == event.contentHash
  }

  /// Whether this append has the same content as another one of the same group.
  func hasSameContent(as other: AppendDraft) -> Bool {
    guard marks.count == other.marks.count else { return false }
    return zip(marks, other.marks).allSatisfy { mine, theirs in
      guard mine.namesHash == theirs.namesHash else { return false }
      guard theirs.hasContent else { return mine.contentHash == theirs.contentHash }
      return contentHash(of: mine, salt: other.content(of: theirs).salt) == theirs.contentHash
    }
  }
}
