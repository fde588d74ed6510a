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
  /// The drafts of the current group that have an id, and the outcome of each, in the order of the log. Their ids are in
  /// the active tables.
  private var identified: [(draft: AppendDraft, outcome: AppendOutcome)] = []
  /// The times of the current group.
  private var times: [AppendTimes.Entry] = []
  /// Whether the current group is so large that it takes filters of the closed segments.
  private var isLarge = false
  /// These filters, once an append of the group has asked for them.
  private var filters: ClosedFilters?

  init(index: StoreIndex, source: LogSource, clock: StoreClock) {
    self.index = index
    self.source = source
    self.clock = clock
  }

  /// From how many appends on a group takes filters: for fewer, a search that ends at the newest segment is cheaper.
  private static let largeCount = 16

  /// Drops what the previous group left.
  ///
  /// - Parameter count: how many appends the next group has.
  mutating func begin(count: Int) {
    identified.removeAll(keepingCapacity: true)
    times.removeAll(keepingCapacity: true)
    isLarge = count >= Self.largeCount
    filters = nil
  }

  /// How many ids of the current group are in the active tables.
  var idCount: Int { identified.count }

  /// Decides everything about one append, or throws why it is refused. After an error nothing of the append remains.
  ///
  /// - Parameter builds: whether a missing index may be built, which makes all callers wait; if not, `indexMissing` is
  ///   thrown.
  mutating func decide(
    _ draft: AppendDraft, in frame: inout GroupFrame, builds: Bool
  ) throws(StoreError) -> AppendOutcome {
    let idHash = draft.id.isEmpty ? 0 : XXH64.of(draft.id)
    if !draft.id.isEmpty, let known = try known(draft, idHash, builds: builds) { return known }
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
    try addToTables(draft, idHash, first: first, builds: builds)
    let given = draft.given ?? max(clock.now(), FormatLimits.noTime + 1)
    let time = frame.commitTime(given: draft.committed ?? given)
    frame.add(draft, commitTime: time, given: given)
    times.append(
      AppendTimes.Entry(
        time: min(given, time), eventCount: draft.eventCount, contentLength: draft.contentLength))
    assert(frame.next == first + UInt64(draft.eventCount), "an append takes a sequence for each event")
    let outcome = AppendOutcome(
      first: first, last: first + UInt64(draft.eventCount) - 1, time: time,
      given: given == time ? nil : given,
      chain: .known(frame.chain), isKnown: false)
    if !draft.id.isEmpty { identified.append((draft, outcome)) }
    return outcome
  }

  /// Adds the times of the group to the active tables, once it is written.
  func recordGroup() {
    guard !times.isEmpty else { return }
    index.withActive { tables in
      tables.addTimes(times)
      assert(tables.times.nextSequence == tables.nextSequence, "each append in the tables has a time")
    }
  }

  // MARK: Expectations and revisions

  /// Checks the append's expectations, and assigns revisions to all of its events or to none. The tables then have its
  /// events and its id.
  private mutating func addToTables(
    _ draft: AppendDraft, _ idHash: UInt64, first: UInt64, builds: Bool
  ) throws(StoreError) {
    try index.withActive { tables throws(StoreError) in
      for expectation in draft.expectations { try check(expectation, tables, builds) }
      let before = tables.nextSequence
      var framed = 0
      do throws(StoreError) {
        let marks = draft.marks
        for number in marks.indices {
          tables.prefetch(marks, before: number)
          let mark = marks[number]
          let stream = draft.stream(of: mark)
          let revision = try tables.append(
            to: stream, hash: mark.streamHash, type: draft.type(of: mark)
          ) { () throws(StoreError) in
            try closedRevision(of: stream, hash: mark.streamHash, tables, builds)
          }
          framed += 1
          // The revision after 2⁶⁴ − 1 would be 0, which is malformed.
          guard revision > 0 else {
            throw .invalid(what: "the revisions of \(String(decoding: stream, as: UTF8.self)) are used up")
          }
          guard !draft.expectsRevisions || draft.revision(of: mark) == revision else {
            throw .diverged(sequence: before + UInt64(framed) - 1)
          }
          draft.setRevision(revision, of: mark)
        }
      } catch {
        tables.undo(framed)
        assert(tables.nextSequence == before, "a refused append leaves no event in the tables")
        throw error
      }
      guard !draft.id.isEmpty else { return }
      draft.id.withUnsafeBytes { tables.addNewID($0, hash: idHash, first: first) }
    }
  }

  /// The revision of a stream that the active tables do not have.
  private mutating func closedRevision(
    of stream: UnsafeRawBufferPointer, hash: UInt64, _ tables: SegmentIndex, _ builds: Bool
  ) throws(StoreError) -> UInt64 {
    if let revision = index.revisionClosedLast(of: stream, hash: hash, below: tables) { return revision }
    if let filters = filters(below: tables), !filters.mayContain(stream: stream, hash: hash) { return 0 }
    return try index.closedRevision(of: stream, below: tables, builds: builds)
  }

  private mutating func filters(below tables: SegmentIndex) -> ClosedFilters? {
    guard isLarge else { return nil }
    let filters = filters ?? ClosedFilters(of: index, below: tables)
    self.filters = filters
    return filters
  }

  private mutating func check(
    _ expectation: AppendDraft.Expectation, _ tables: SegmentIndex, _ builds: Bool
  ) throws(StoreError) {
    let actual = try expectation.stream.lendBytes { name throws(StoreError) in
      let hash = XXH64.of(name)
      if let revision = tables.revision(of: name, hash: hash) { return revision }
      return try closedRevision(of: name, hash: hash, tables, builds)
    }
    guard expectation.version.isMet(by: actual) else {
      throw .conflict(
        stream: String(decoding: expectation.stream, as: UTF8.self), expected: expectation.version,
        actual: actual)
    }
  }

  // MARK: Ids

  /// The outcome of an earlier append with this id, or nil.
  private mutating func known(
    _ draft: AppendDraft, _ idHash: UInt64, builds: Bool
  ) throws(StoreError) -> AppendOutcome? {
    guard let first = try first(ofID: draft.id, idHash, builds: builds) else { return nil }
    if let earlier = identified.first, first >= earlier.outcome.first {
      return try known(draft, first: first)
    }
    let recorded = try RepeatedAppend(of: draft, source, first: first)
    guard recorded.isSame else {
      throw .idReused(id: String(decoding: draft.id, as: UTF8.self), sequences: first...recorded.last)
    }
    return AppendOutcome(
      first: first, last: recorded.last, time: recorded.time, given: recorded.given,
      chain: .inBlock(recorded.block),
      isKnown: true)
  }

  /// The same for an append of the current group, which is not in the log yet.
  private func known(_ draft: AppendDraft, first: UInt64) throws(StoreError) -> AppendOutcome {
    let (earlier, outcome) = identified[identified.countAhead { $0.outcome.first < first }]
    assert(outcome.first == first && earlier.id == draft.id, "an id in the tables is that of an append")
    guard earlier.hasSameContent(as: draft) else {
      throw .idReused(
        id: String(decoding: draft.id, as: UTF8.self), sequences: outcome.first...outcome.last)
    }
    var known = outcome
    known.isKnown = true
    return known
  }

  /// The first sequence of the append with an id, in the log or in the current group.
  private mutating func first(
    ofID id: [UInt8], _ hash: UInt64, builds: Bool
  ) throws(StoreError) -> UInt64? {
    let (first, mayBeClosed) = index.withActive { tables in
      let first = id.withUnsafeBytes { tables.first(ofID: $0, hash: hash) }
      return (first, first == nil && filters(below: tables)?.mayContain(idHash: hash) ?? true)
    }
    guard mayBeClosed else { return first }
    return try index.first(ofID: id, builds: builds)
  }
}
