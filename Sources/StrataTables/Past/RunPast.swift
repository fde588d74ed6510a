// States of the past from runs. A run that is damaged is never an error of a read: the log is replayed instead.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// What the runs of one projection answer to one read of the past. Belongs to one thread at a time.
final class RunPast {
  enum Building {
    /// The state, and the head of the log before its events were folded.
    case done(TableSet, head: UInt64)
    case paused
    case damaged
  }

  private let history: (any KeptHistory)?
  private let recordsTouches: Bool
  private var runs: RunSet?
  private var building: RunTables?
  private let scratch = FoldScratch()

  init(_ store: EventStore, _ folding: Folding) {
    recordsTouches = folding.recordsTouches
    guard store.mayReadHistory else {
      (history, runs) = (nil, nil)
      return
    }
    history = store.projector(folding.kept).history
    runs = history?.runs()
    history?.start()
  }

  /// The end of the last run at or before a sequence, or the sequence itself if a run has it; nil if there is none.
  func last(through sequence: UInt64) -> UInt64? {
    guard let runs, sequence > runs.begin else { return nil }
    return min(sequence, runs.end)
  }

  func covers(_ sequence: UInt64) -> Bool { runs?.covers(sequence) ?? false }

  /// Whether an event is the last one that the runs have.
  func ends(at sequence: UInt64) -> Bool { runs?.end == sequence }

  /// The state after an event that the runs have, built in slices.
  func tables(at sequence: UInt64, _ slice: TimeSlice?) -> Building {
    read { (runs) throws(StatePage.Damage) in
      let building: RunTables
      if let known = self.building {
        building = known
      } else {
        building = try RunTables(runs, at: sequence, recordsTouches: recordsTouches)
      }
      self.building = building
      guard let tables = try building.goOn(slice) else { return .paused }
      self.building = nil
      return .done(tables, head: runs.head)
    } ?? .damaged
  }

  /// The state after a later event, with the views that it has, and the head of the log before its events were folded:
  /// only the rows that changed are read. Nil if a run is damaged. O(changes).
  func state(_ state: TableSet, through last: UInt64) -> (state: TableSet, head: UInt64)? {
    read { (runs) throws(StatePage.Damage) in
      var state = state
      try state.apply(runs, through: last, scratch)
      return (state, runs.head)
    }
  }

  /// A row after an event; nil if the runs do not have the event.
  func row(_ id: String, of table: String, at sequence: UInt64) -> RunRow? {
    guard covers(sequence) else { return nil }
    return read { (runs) throws(StatePage.Damage) in
      guard let key = runs.key(of: id, in: table), let found = try runs.version(of: key, at: sequence) else {
        return RunRow(bytes: [])
      }
      return RunRow(version: found.version, bytes: found.bytes)
    }
  }

  /// All versions of a row that the runs have, and the last event that they have; nil if there are none.
  func versions(_ id: String, of table: String) -> (versions: [RunRow], end: UInt64)? {
    read { (runs) throws(StatePage.Damage) in
      guard let key = runs.key(of: id, in: table) else { return ([], runs.end) }
      let versions = try runs.versions(of: key)
      return (versions.map { RunRow(version: $0.version, bytes: $0.bytes) }, runs.end)
    }
  }

  private func read<Result>(_ body: (RunSet) throws(StatePage.Damage) -> Result) -> Result? {
    guard let runs else { return nil }
    do throws(StatePage.Damage) { return try body(runs) } catch {
      self.runs = nil
      building = nil
      history?.noteDamage()
      return nil
    }
  }
}

/// A version of one row, from a run or from the log.
struct RunRow: Sendable {
  /// Nil if the row was never there.
  var version: RunVersion?
  var bytes: [UInt8]

  /// Lends the row; nil if it does not exist.
  func withRow<Result, Failure: Error>(
    _ id: UnsafeRawBufferPointer, _ body: (RowView?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let version, version.kind == .document else { return try body(nil) }
    return try bytes.lendBytes { (document) throws(Failure) in
      try body(
        RowView(
          id: id, revision: version.sequence, created: version.created, time: version.time,
          document: document))
    }
  }
}

extension EventStore {
  /// Whether rows of the past may be in a history: this process keeps one, or only reads what another keeps.
  var mayReadHistory: Bool { log.isReadOnly || log.options.keepsHistory }
}

extension Folding {
  /// The folding whose history holds the tables of this one.
  var kept: Folding { if case .documents = self { .documents(only: nil) } else { self } }
}

extension RunSet {
  /// The key of a row; nil if no event up to the end wrote to the table.
  func key(of id: String, in table: String) -> [UInt8]? {
    guard let number = number(ofTable: table) else { return nil }
    var id = id
    return id.withUTF8 { RunKey.make(number, UnsafeRawBufferPointer($0)) }
  }
}

extension TableSet {
  /// Takes over what the events after this state, up to another one, changed.
  fileprivate mutating func apply(
    _ runs: RunSet, through last: UInt64, _ scratch: FoldScratch
  ) throws(StatePage.Damage) {
    let moment = try runs.moment(last)
    let listed = try runs.failures(at: last)
    guard let count = Int(exactly: moment.failures) else { throw StatePage.Damage("too many failures") }
    for table in runs.tables where table.first > sequence && table.first <= last {
      withTable(table.name) { $0.noteWritten() }
    }
    var stored: [UInt8] = []
    do throws(RunWalkFailure<Never>) {
      try runs.forEachChange(after: sequence, through: last) { change in
        change.key.withUnsafeBytes { key in
          let id = RunKey.id(key)
          withTable(runs.tables[Int(RunKey.table(key))].name) { table in
            guard let new = change.new else { return table.remove(id: id, scratch) }
            if new.version.kind == .problem {
              return table.refuse(id: id, because: String(decoding: new.bytes, as: UTF8.self), scratch)
            }
            RunRow(version: new.version, bytes: new.bytes).withRow(id) { row in
              if let row { StoredRow.write(row, to: &stored) }
            }
            stored.withUnsafeMutableBytes { table.put(id: id, stored: $0, .created, scratch) }
          }
        }
      }
    } catch {
      if case .damage(let damage) = error { throw damage }
    }
    (sequence, time, chain, appendCount) = (last, moment.time, nil, moment.appends)
    failures = ProjectionFailures(listed: listed, count: count)
  }
}
