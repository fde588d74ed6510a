// Decides about an append: its sequences, revisions and time, or why it is refused.

internal import StrataBase

/// Decides about the appends of a group one after another, each on top of those before it, and frames the accepted
/// ones. It reads the indexes and changes the frame and the active tables; it writes no file.
///
/// Used by the thread that has the turn.
struct AppendDecider {
  private let index: StoreIndex
  private let source: LogSource
  private let clock: StoreClock
  /// The drafts of the current group that have an id, and the outcome of each.
  private var ids: [DraftByID: AppendOutcome] = [:]
  /// The times of the current group.
  private var times: [AppendTimes.Entry] = []

  init(index: StoreIndex, source: LogSource, clock: StoreClock) {
    self.index = index
    self.source = source
    self.clock = clock
  }

  /// Drops what the previous group left.
  mutating func begin() {
    ids.removeAll(keepingCapacity: true)
    times.removeAll(keepingCapacity: true)
  }

  /// Decides everything about one append, or throws why it is refused. After an error nothing of the append remains.
  ///
  /// - Parameter builds: whether a missing index may be built, which makes all callers wait; if not, `indexMissing` is
  ///   thrown.
  mutating func decide(
    _ draft: AppendDraft, in frame: inout GroupFrame, builds: Bool
  ) throws(StoreError) -> AppendOutcome {
    if !draft.id.isEmpty, let known = try known(draft, builds: builds) { return known }
    guard frame.hasRoom(for: draft.eventCount) else {
      throw .invalid(what: "the sequences of the log are used up")
    }
    let first = frame.next
    guard draft.expectedFirst ?? first == first else {
      throw .invalid(
        what: "another caller appended to the store while appends of another log were copied to it",
        next: "copy them into a new store that nothing else writes to")
    }
    assert(index.withActive { $0.nextSequence } == first, "the tables hold every framed event")
    try setRevisions(of: draft, builds: builds)
    let given = draft.given ?? max(clock.now(), FormatLimits.noTime + 1)
    let time = frame.commitTime(given: draft.committed ?? given)
    frame.add(draft, commitTime: time, given: given)
    times.append(
      AppendTimes.Entry(
        time: given, eventCount: draft.eventCount, contentLength: draft.contentLength))
    assert(frame.next == first + UInt64(draft.eventCount), "an append takes a sequence for each event")
    let outcome = AppendOutcome(
      first: first, last: first + UInt64(draft.eventCount) - 1, time: time,
      given: given == time ? nil : given,
      chain: .known(frame.chain), isKnown: false)
    if !draft.id.isEmpty { ids[DraftByID(draft)] = outcome }
    return outcome
  }

  /// Adds the times and ids of the group to the active tables, once it is written.
  func recordGroup() {
    guard !times.isEmpty else { return }
    index.withActive { tables in
      tables.addTimes(times)
      assert(tables.times.nextSequence == tables.nextSequence, "each append in the tables has a time")
      assert(
        ids.values.allSatisfy { $0.last < tables.nextSequence }, "an id is recorded after its events")
      for (key, outcome) in ids { key.draft.id.withUnsafeBytes { tables.addID($0, first: outcome.first) } }
    }
  }

  // MARK: Expectations and revisions

  /// Checks the append's expectations, and assigns revisions to all of its events or to none.
  private func setRevisions(of draft: AppendDraft, builds: Bool) throws(StoreError) {
    try index.withActive { tables throws(StoreError) in
      for expectation in draft.expectations { try check(expectation, tables, builds) }
      let before = tables.nextSequence
      var framed = 0
      do throws(StoreError) {
        for mark in draft.marks {
          let stream = draft.stream(of: mark)
          let revision = try tables.append(
            to: stream, hash: mark.streamHash, type: draft.type(of: mark)
          ) { () throws(StoreError) in
            try index.closedRevision(of: stream, below: tables, builds: builds)
          }
          framed += 1
          // The revision after 2⁶⁴ − 1 would be 0, which is malformed.
          guard revision > 0 else {
            throw .invalid(what: "the revisions of \(String(decoding: stream, as: UTF8.self)) are used up")
          }
          draft.setRevision(revision, of: mark)
        }
      } catch {
        tables.undo(framed)
        assert(tables.nextSequence == before, "a refused append leaves no event in the tables")
        throw error
      }
    }
  }

  private func check(
    _ expectation: AppendDraft.Expectation, _ tables: SegmentIndex, _ builds: Bool
  ) throws(StoreError) {
    let actual = try expectation.stream.lendBytes { name throws(StoreError) in
      if let revision = tables.revision(of: name, hash: XXH64.of(name)) { return revision }
      return try index.closedRevision(of: name, below: tables, builds: builds)
    }
    guard expectation.version.isMet(by: actual) else {
      throw .conflict(
        stream: String(decoding: expectation.stream, as: UTF8.self), expected: expectation.version,
        actual: actual)
    }
  }

  // MARK: Ids

  /// The outcome of an earlier append with this id, or nil.
  private func known(_ draft: AppendDraft, builds: Bool) throws(StoreError) -> AppendOutcome? {
    if let index = ids.index(forKey: DraftByID(draft)) {
      let (earlier, outcome) = ids[index]
      guard earlier.draft.hasSameContent(as: draft) else {
        throw .idReused(
          id: String(decoding: draft.id, as: UTF8.self), sequences: outcome.first...outcome.last)
      }
      var known = outcome
      known.isKnown = true
      return known
    }
    guard let first = try index.first(ofID: draft.id, builds: builds) else { return nil }
    let recorded = try RepeatedAppend(of: draft, source, first: first)
    guard recorded.isSame else {
      throw .idReused(id: String(decoding: draft.id, as: UTF8.self), sequences: first...recorded.last)
    }
    return AppendOutcome(
      first: first, last: recorded.last, time: recorded.time, given: recorded.given,
      chain: .inBlock(recorded.block),
      isKnown: true)
  }
}

/// A draft as its id: equal if the ids are. The id is hashed once, with the hash of the indexes.
private struct DraftByID: Hashable {
  let draft: AppendDraft
  private let idHash: UInt64

  init(_ draft: AppendDraft) {
    self.draft = draft
    idHash = XXH64.of(draft.id)
  }

  static func == (a: DraftByID, b: DraftByID) -> Bool { a.idHash == b.idHash && a.draft.id == b.draft.id }

  func hash(into hasher: inout Hasher) { hasher.combine(idHash) }
}
