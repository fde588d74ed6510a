// States of the past from runs. A run that is damaged is never an error of a read: the log is replayed instead.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// What the runs of one projection answer to one read of the past. Belongs to one thread at a time.
final class RunPast {
  enum Building {
    /// The state, and the head of the log before its events were folded.
    case done(TableSet, head: UInt64)
    case paused
    /// The runs are damaged, and nothing is read of them any more.
    case damaged
    /// The list is not kept, or not in all runs: the state is to be made otherwise.
    case lacksKeys
  }

  private let store: EventStore
  private let folding: Folding
  private let history: (any KeptHistory)?
  /// The kept list that states are wanted with.
  private let owner: KeyOwner?
  private let counter: PastCounter
  private var runs: RunSet?
  /// Whether the runs may have the keys of that list, as far as is known.
  private var hasKeys: Bool
  /// The state that is being made, whole or from another one.
  private var building: RunTables?
  private var step: RunStep?

  /// - Parameters:
  ///   - view: a list that states are wanted with. If it is kept, so are its keys from now on.
  ///   - counter: counts the events that are folded for pages of states that the runs turn out to have lost.
  init(
    _ store: EventStore, _ folding: Folding, view: (table: String, definition: ViewDefinition)? = nil,
    _ counter: PastCounter = PastCounter()
  ) {
    (self.store, self.folding, self.counter) = (store, folding, counter)
    owner = view.flatMap { KeyOwner($0.table, $0.definition) }
    hasKeys = owner != nil
    guard store.mayReadHistory else {
      (history, runs) = (nil, nil)
      return
    }
    history = store.kept(folding.kept).history
    runs = history?.runs()
    if let view { history?.keep(view.definition, of: view.table) }
    history?.start()
  }

  /// Looks for the runs as they are now. For a kept list they have the events after them, too, up to a sequence: its past
  /// states are read from runs, and folding an event into one reads the pages that it changes.
  func look(through sequence: UInt64) {
    guard building == nil, step == nil else { return }
    runs = owner == nil ? history?.runs() : history?.runs(through: sequence)
    hasKeys = owner != nil
  }

  /// The last event that the runs have; 0 if there are none.
  var end: UInt64 { runs?.end ?? 0 }

  /// What the choice among the ways to a state is to know; nil if there are no runs.
  var ways: PastWays.Runs? { runs?.ways(hasKeys: hasKeys) }

  func covers(_ sequence: UInt64) -> Bool { runs?.covers(sequence) ?? false }

  /// The state after an event that the runs have, built in slices: whole, or from a state before or after it with the
  /// views that that one has, where only the rows that differ are read. A call that goes on with what was begun may leave
  /// the other state out.
  ///
  /// - Parameter other: a state that the runs have; nil to build the state whole.
  func tables(at sequence: UInt64, from other: TableSet? = nil, _ slice: TimeSlice? = nil) -> Building {
    read { (runs) throws(PageDamage) in
      if building == nil, step == nil {
        if let other {
          step = try RunStep(runs, from: other, to: sequence, only: folding.tableNames)
        } else {
          building = try RunTables(
            runs, at: sequence, recordsTouches: folding.recordsTouches, only: folding.tableNames,
            store.log.options.runLimits,
            on: store.log.options.writesInStep ? .none : store.log.options.machine.parallel)
        }
      }
      assert(building == nil || step == nil, "one state is made at a time")
      let made = if let step { try step.resume(slice) } else { try building?.resume(slice) }
      guard let tables = made else { return .paused }
      (building, step) = (nil, nil)
      return .done(tables, head: runs.head)
    } ?? .damaged
  }

  /// The state after an event that the runs have, of which rows and the kept list's items are read when they are looked
  /// at. O(sections + pages of keys).
  func tablesUnread(at sequence: UInt64) -> Building {
    guard let owner, let history, runs != nil, let name = StateName(folding.kept) else {
      hasKeys = false
      return .lacksKeys
    }
    // Everything that reads a page of the state later holds the runs with their files open.
    guard let runs = read({ (runs) throws(PageDamage) in try runs.held(at: sequence) }) else {
      return .damaged
    }
    let healing = PastHealing(
      state: StateHealing(
        store.log, folding.kept, sequence: sequence, chain: nil, folder: StoreLayout.historiesPath,
        faults: Lock(StateFaults())
      ) { [counter] in counter.add(PastCounts(foldedEvents: $0, healed: 1)) },
      history: "\(store.log.storeID) \(name.folder)",
      limits: store.log.options.runLimits,
      parallel: store.log.options.machine.parallel
    ) { history.noteDamage(in: runs) }
    let cache = store.projectors.pageCache
    let made = read { (_) throws(PageDamage) -> Building? in
      try runs.unreadTables(
        at: sequence, recordsTouches: folding.recordsTouches, keeping: owner, cache, healing
      ).map { .done($0, head: runs.head) }
    }
    guard let made else { return .damaged }
    hasKeys = made != nil
    return made ?? .lacksKeys
  }

  /// The bytes of rows that were read for a state which is still to be completed.
  var unfinishedBytes: Int { building?.leafBytes ?? 0 }

  /// Moves these rows to a file.
  func spillUnfinished(to file: SpillFile, at sequence: UInt64) throws(StoreError) {
    try building?.spill(to: file, over: 0, file.healing(store.log, folding, sequence: sequence))
  }

  /// A row after an event; nil if the runs do not have the event.
  func row(_ id: String, of table: String, at sequence: UInt64) -> RunRow? {
    guard covers(sequence) else { return nil }
    return read { (runs) throws(PageDamage) in
      guard let key = runs.key(of: id, in: table), let found = try runs.version(of: key, at: sequence) else {
        return RunRow(bytes: [])
      }
      return RunRow(version: found.version, bytes: found.bytes)
    }
  }

  /// All versions of a row that the runs have; nil if there are no runs.
  func versions(_ id: String, of table: String) -> RunVersions? {
    read { (runs) throws(PageDamage) in
      var known = RunVersions(begin: runs.begin, end: runs.end)
      guard let key = runs.key(of: id, in: table) else { return known }
      known.versions = try runs.versions(of: key).map { RunRow(version: $0.version, bytes: $0.bytes) }
      return known
    }
  }

  /// The ids of the rows of a table that events after one and up to another changed, ascending; nil if the runs do not
  /// have both.
  func changedIDs(of table: String, after first: UInt64, through last: UInt64) -> [String]? {
    guard covers(first), covers(last) else { return nil }
    return read { (runs) throws(PageDamage) in
      guard let number = runs.number(ofTable: table) else { return [] }
      return try runs.changedKeys(after: first, through: last).compactMap { key in
        key.withUnsafeBytes {
          RunKey.table($0) == number ? String(decoding: RunKey.id($0), as: UTF8.self) : nil
        }
      }
    }
  }

  private func read<Result>(_ body: (RunSet) throws(PageDamage) -> Result) -> Result? {
    guard let runs else { return nil }
    do throws(PageDamage) { return try body(runs) } catch {
      (self.runs, building, step) = (nil, nil, nil)
      // By now another thread may have opened the file that this one could not.
      if !error.isWanted { history?.noteDamage(in: runs) }
      return nil
    }
  }
}

/// A version of one row, from a run or from the log.
struct RunRow: Sendable {
  /// Nil if the row was never there.
  var version: RunVersion?
  var bytes: [UInt8]

  /// The row as a table knows it.
  var known: KnownRow {
    guard let version, version.kind == .document else { return KnownRow() }
    return KnownRow(stamp: (version.sequence, version.created, version.time), document: bytes)
  }

  /// Lends the row; nil if it does not exist.
  func withRow<Result, Failure: Error>(
    _ id: UnsafeRawBufferPointer, _ body: (RowView?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try known.withRow(id, body)
  }
}

/// The versions of one row that events after one and up to another made.
struct RunVersions: Sendable {
  var versions: [RunRow] = []
  /// 0 and 0 if there are no runs.
  var begin: UInt64 = 0
  var end: UInt64 = 0
}

extension EventStore {
  /// Whether rows of the past may be in a history: this process keeps one, or only reads what another keeps.
  var mayReadHistory: Bool { log.isReadOnly || log.options.keepsHistory }
}

extension Folding {
  /// The tables that are folded; nil for all.
  var tableNames: Set<String>? {
    switch self {
    case .documents(let names): names
    case .touching(let folding): folding.tableNames
    case .own: nil
    }
  }
}

extension RunSet {
  /// The key of a row; nil if no event up to the end wrote to the table.
  func key(of id: String, in table: String) -> [UInt8]? {
    guard let number = number(ofTable: table) else { return nil }
    var id = id
    return id.withUTF8 { RunKey.make(number, UnsafeRawBufferPointer($0)) }
  }
}
