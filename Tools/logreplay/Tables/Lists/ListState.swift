// A list at a point of the log, and the replay that produces it for all points of a command.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// A list at one point.
struct ListState {
  var table: String
  var version: ListVersion
  /// The last sequence that the list includes, and the own time of its append.
  var sequence: UInt64
  var time: Timestamp?
  /// The chain after the sequence.
  var chain: UInt64
  /// Whether the sequence is inside an append.
  var isPartial = false
  /// Whether the sections' values are times.
  var isSectionedByTime = false
  /// False if only sections and their counts are shown.
  var showsItems = true

  /// How many rows pass the filter, shown or not.
  var count: Int { version.view.count }

  /// How many items of the section at an index are shown.
  func shownCount(ofSectionAt place: Int) -> Int {
    showsItems ? version.shownCount(ofSectionAt: place) : 0
  }

  /// The value of the section at an index.
  func section(at place: Int) -> DocumentValue {
    version.withSection(at: place) { key, _, _ in section(key) }
  }

  private func section(_ key: UnsafeRawBufferPointer) -> DocumentValue {
    Self.section(key, isTime: isSectionedByTime)
  }

  /// The value that a section's key encodes; null for the only section of a list without sections.
  ///
  /// - Parameter isTime: whether the sections' values are times.
  static func section(_ key: UnsafeRawBufferPointer, isTime: Bool) -> DocumentValue {
    if key.isEmpty { return .null }
    var reader = SortKeyReader(key)
    // Section keys are encoded without options, so they always decode.
    let value = (try? reader.readDocumentValue()) ?? .null
    guard isTime, case .int(let nanoseconds) = value else { return value }
    return .string(Timestamp(nanoseconds: nanoseconds).description)
  }

  func section(_ key: [UInt8]) -> DocumentValue { key.withUnsafeBytes { section($0) } }

  /// Lends a row of the table; nil if there is no such row.
  func withRow<Result>(_ id: String, _ body: (RowView?) throws -> Result) rethrows -> Result {
    var id = id
    return try id.withUTF8 { bytes in
      try version.table.withRow(UnsafeRawBufferPointer(bytes)) { (row) throws in try body(row) }
    }
  }
}

/// Produces the states of one list in the order of the log. Blocks; belongs to one thread.
final class ListReplay {
  let opened: OpenedStore
  let query: ListQuery
  let table: String
  /// The fold with the state at the point that was last requested; nil for a table that a projection saved.
  private var fold: Fold?
  private let past: PastReader
  /// Nil for a table of documents.
  private let saved: SavedReplay?
  /// Whether the table may be created later.
  private let mayLackTable: Bool

  /// Finds the table if the query does not name it. Begins with the state at the first point: what a history or a saved
  /// state has of it is not replayed.
  ///
  /// - Parameters:
  ///   - first: no point before this sequence is requested.
  ///   - takesEarlier: whether a table that a projection saved may be shown as it was before a point.
  ///   - isFollowing: whether new appends are waited for. Then a table that is named need not be there yet, and the
  ///     states have the definition of a kept list, too.
  init(
    _ opened: OpenedStore, _ query: ListQuery, from first: UInt64, takesEarlier: Bool = false,
    isFollowing: Bool = false
  ) throws {
    self.opened = opened
    self.query = query
    let source = try StoreTables(opened: opened).source(of: query.table, savedBy: query.projection)
    table = source.table
    let (table, definition) = (table, query.list.definition)
    saved = source.saved.map { saved in
      SavedReplay(opened, saved, table: table, view: definition, takesEarlier: takesEarlier)
    }
    mayLackTable = isFollowing && query.table != nil
    let isOfKept = isFollowing && query.list.definition.kept != nil
    past = PastReader(
      opened.store, .documents(only: isOfKept ? [table, KeptList.category] : [table]),
      view: (table, query.list.definition))
    guard saved == nil else { return }
    do throws(StoreError) { fold = try past.fold(at: first) } catch { throw opened.failure(error) }
  }

  /// Whether the table is one that a projection saved, which is not folded here.
  var isOfSaved: Bool { saved != nil }

  /// The state that was reached last.
  var current: TableSet { fold?.state ?? saved?.state ?? TableSet() }

  /// The list at a point. Points must be requested in the order of the log. A table that a projection saved may be as of
  /// an earlier point.
  func state(at point: ResolvedPoint) throws -> ListState {
    var point = point
    if let saved {
      let known = try saved.move(to: point.sequence)
      if known != point.sequence {
        point = ResolvedPoint(
          sequence: known, time: saved.state.time.map { Timestamp(nanoseconds: $0) })
      }
    } else {
      try run(through: point.sequence)
    }
    return ListState(
      table: table, version: version(of: current), sequence: point.sequence, time: point.time,
      chain: try chain(after: point.sequence), isPartial: point.inside != nil,
      isSectionedByTime: query.isSectionedByTime, showsItems: query.showsItems)
  }

  /// Folds up to a sequence, and maintains the list's view from then on.
  private func run(through sequence: UInt64) throws {
    let fold: Fold
    do throws(StoreError) { fold = try past.fold(at: sequence) } catch { throw opened.failure(error) }
    self.fold = fold
    guard fold.state.sequence == sequence else {
      try opened.throwDamage()
      throw opened.failure(.closed)
    }
    if !fold.state.contains(table) { try checkTable() }
    fold.state.withTable(table) { $0.addView(query.list.definition) }
  }

  /// Folds appends up to a sequence, and lends the state at the end of each. To be called after `state(at:)`, from whose
  /// point it goes on.
  func runByAppend(through last: UInt64, _ body: (borrowing TableSet) throws -> Void) throws {
    if let saved { return try saved.runByAppend(through: last, body) }
    guard let fold else { return }
    do { try fold.runByAppend(through: last) { try body($0) } } catch let error as StoreError {
      throw opened.failure(error)
    }
    guard fold.state.sequence == last else {
      try opened.throwDamage()
      throw opened.failure(.closed)
    }
  }

  /// Lends the state at the end of each append that is there by now, up to a sequence; of a table that a projection saved,
  /// the states that it has saved since.
  func follow(through limit: UInt64, _ body: (borrowing TableSet) throws -> Void) throws {
    do {
      if let saved { try saved.follow(through: limit, body) }
      try fold?.runByAppend(through: limit) { try body($0) }
    } catch let error as StoreError { throw opened.failure(error) }
  }

  /// Throws if no event was ever written to the table; only says so if the table may be created later.
  private func checkTable() throws {
    do { try StoreTables(opened: opened).check(table) } catch let failure as CommandFailure
      where mayLackTable && failure.code == ExitStatus.notFound
    {
      let what = "\(failure.what) yet; \(failure.next)"
      Terminal.note("logreplay: warning: \(PeopleText.printable(what))")
    }
  }

  /// The list in a state of the fold.
  func version(of set: TableSet) -> ListVersion {
    ListVersion(set, table: table, query.list)
  }

  /// The changes from a state to the end of a later append; nil if the list is the same.
  ///
  /// - Parameters:
  ///   - last: the list before that append, which shows what the state shows, and then the list after it. The append is
  ///     compared with what was just before it, however long the list has been the same: O(k log n) for k changed rows.
  ///   - withRevisions: whether a list is another one if only revisions differ.
  func comparison(
    from old: ListState, after last: inout ListVersion, to set: TableSet, withRevisions: Bool = false
  ) throws -> ListComparison? {
    let version = version(of: set)
    defer { last = version }
    // Between lists that show the same, a batch is the same.
    let batch = ListDiff(from: last, to: version)
    guard !batch.isEmpty || (withRevisions && !RevisionChange.changes(from: last, to: version).isEmpty)
    else { return nil }
    let new = ListState(
      table: table, version: version, sequence: set.sequence,
      time: set.time.map { Timestamp(nanoseconds: $0) }, chain: try chain(after: set.sequence),
      isSectionedByTime: query.isSectionedByTime)
    return ListComparison(old: old, new: new, batch: batch)
  }

  /// Says on standard error where the states so far came from. To be called when everything was read of them: a part of
  /// the history that cannot be read is replaced by a replay.
  func sayOrigin() {
    if isOfSaved { PastOrigin.sayOfSaved() } else { PastOrigin.say(past.counts) }
  }

  /// The chain after a visible sequence.
  func chain(after sequence: UInt64) throws -> UInt64 {
    do throws(StoreError) {
      guard let chain = try opened.log.chain(after: sequence) else { throw .closed }
      return chain
    } catch { throw opened.failure(error) }
  }
}
