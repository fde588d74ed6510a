// All versions of one row: from runs as far as there are any, and from the log before and after that.

internal import StrataBase
package import StrataEvents
package import StrataLog
public import StrataTables

extension RowSource {
  /// Every version of a row, the oldest first: one for each event that changed it. None if it never existed.
  ///
  /// With `StoreOptions.history`, one read of the row, and a fold of what the history does not have: not yet, or no longer,
  /// where only the last part of it is kept. Without, O(events of the one document), or for a table of a projection a fold
  /// of the whole log.
  public func history(of id: Item.ID) async throws -> [RowVersion<Item>] {
    try await table.history(of: id.documentID)
  }
}

extension RowTable {
  func history(of id: String) async throws -> [RowVersion<Item>] {
    let rows: [RunRow]
    if case .documents = folding {
      let known = try await knownVersions(of: id)
      rows = try await store.lookingUp { [store, name] builds throws(StoreError) in
        try store.documentVersionsBlocking(
          StreamName(category: name, id: id), known, builds: builds, counting: PastCounter())
      }
    } else {
      let slot = try await store.pastMemory.slots.take()
      let walk = RowWalk(store, folding, name, id, in: slot)
      rows = try await store.machine.past.result { slice in try walk.resume(slice) }
    }
    var id = id
    return id.withUTF8 { id in rows.compactMap { version($0, UnsafeRawBufferPointer(id)) } }
  }

  /// The same for a document, on a thread that may block.
  fileprivate func documentHistoryBlocking(
    of id: String, counting counter: PastCounter
  ) throws(StoreError) -> [RowVersion<Item>] {
    let known = RunPast(store, folding).versions(id, of: name)
    counter.add(PastCounts(states: 1, fromHistory: known == nil ? 0 : 1))
    let rows = try store.documentVersionsBlocking(
      StreamName(category: name, id: id), known ?? RunVersions(), builds: true, counting: counter)
    var id = id
    return id.withUTF8 { id in rows.compactMap { version($0, UnsafeRawBufferPointer(id)) } }
  }

  /// The versions that the runs have.
  private func knownVersions(of id: String) async throws -> RunVersions {
    guard store.mayReadHistory else { return RunVersions() }
    // The runs may have to be looked up first, after a step of their historian.
    return try await store.machine.past.result { [store, folding, name] _ in
      RunPast(store, folding).versions(id, of: name) ?? RunVersions()
    }
  }

  private func version(_ row: RunRow, _ id: UnsafeRawBufferPointer) -> RowVersion<Item>? {
    guard let version = row.version else { return nil }
    var made = RowVersion<Item>(sequence: version.sequence, time: Timestamp(nanoseconds: version.time))
    if version.kind == .problem { made.problem = String(decoding: row.bytes, as: UTF8.self) }
    row.withRow(id) { row in
      guard let row else { return }
      do throws(RowProblem) { made.item = try decode(row) } catch { made.problem = error.what }
    }
    return made
  }
}

extension EventStore {
  /// Every version of a document, as `history(of:)` gives them, for a thread that may block.
  ///
  /// - Parameter counter: counts whether they come from a history, and the events of the document that were folded.
  package func documentHistoryBlocking(
    _ id: String, of table: String, counting counter: PastCounter = PastCounter()
  ) throws(StoreError) -> [RowVersion<DocumentRow>] {
    try documents(table).table.documentHistoryBlocking(of: id, counting: counter)
  }

  /// The versions of a document: those that runs have, and those that earlier and later events of its stream made.
  /// O(events of the stream). Blocks.
  fileprivate func documentVersionsBlocking(
    _ stream: StreamName, _ known: RunVersions, builds: Bool, counting counter: PastCounter
  ) throws(StoreError) -> [RunRow] {
    try log.refresh()
    var versions: [RunRow] = []
    if known.begin >= log.mark.logBegin {
      try addVersions(of: stream, through: known.begin, to: &versions, builds: builds, counting: counter)
    }
    versions += known.versions
    try addVersions(
      of: stream, after: known.end, through: log.mark.visible.sequence, to: &versions, builds: builds,
      counting: counter)
    return versions
  }

  /// Adds the versions that some events made to those before them.
  private func addVersions(
    of stream: StreamName, after first: UInt64 = 0, through last: UInt64, to versions: inout [RunRow],
    builds: Bool, counting counter: PastCounter
  ) throws(StoreError) {
    var seen = SeenRow(versions.last)
    var added: [RunRow] = []
    var eventCount: UInt64 = 0
    let begin = TableSet(stream, versions.last, at: max(first, log.mark.logBegin - 1))
    let (table, id) = (stream.category, stream.id)
    _ = try documentStateBlocking(stream, from: begin, through: last, builds: builds) { state, stamp in
      eventCount += 1
      if let new = seen.change(to: state[table], id, stamp) { added.append(new) }
    }
    versions += added
    counter.add(PastCounts(foldedEvents: eventCount))
  }
}

extension TableSet {
  /// A state with nothing but one document.
  fileprivate init(_ stream: StreamName, _ row: RunRow?, at sequence: UInt64) {
    self.init(sequence: sequence)
    guard let row, let version = row.version, version.kind != .gone else { return }
    let scratch = FoldScratch()
    let table = stream.category
    var id = stream.id
    id.withUTF8 { id in
      let id = UnsafeRawBufferPointer(id)
      withTable(table) { table in
        if version.kind == .problem {
          return table.refuse(id: id, because: String(decoding: row.bytes, as: UTF8.self), scratch)
        }
        var stored: [UInt8] = []
        row.withRow(id) { row in if let row { StoredRow.write(row, to: &stored) } }
        stored.withUnsafeMutableBytes { table.put(id: id, stored: $0, .created, scratch) }
      }
    }
  }
}

/// What one row was when it was last looked at.
struct SeenRow {
  private var kind = RunVersion.Kind.gone
  private var revision: UInt64 = 0
  private var problem: [UInt8] = []

  init(_ row: RunRow?) {
    guard let row, let version = row.version else { return }
    kind = version.kind
    if kind == .document { revision = version.sequence }
    if kind == .problem { problem = row.bytes }
  }

  /// The version that an event made; nil if it left the row as it was. O(log n).
  mutating func change(to table: Table, _ name: String, _ stamp: Stamp) -> RunRow? {
    var name = name
    let new = name.withUTF8 { id in
      RunVersion.withVersion(of: UnsafeRawBufferPointer(id), table.rows, table.problems, at: stamp) {
        RunRow(version: $0, bytes: Array($1))
      }
    }
    let now = SeenRow(new)
    let isSame = now.kind == kind && now.revision == revision && now.problem == problem
    self = now
    return isSame ? nil : new
  }
}

/// Folds the log before the runs and after them, and notes what one row of a projection is. Belongs to one thread at a
/// time.
private final class RowWalk: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  private let store: EventStore
  private let folding: Folding
  private let table: String
  private let id: String
  private let slot: PastSlots.Slot
  private var past: PastReader
  /// The versions that the runs have, once they were looked for. Without runs, none after the end of the log.
  private var known: RunVersions?
  private var last: UInt64 = 0
  /// The fold of the events before the runs, and of those after them.
  private var front: Fold?
  private var rest: Fold?
  private var versions: [RunRow] = []
  private var seen = SeenRow(nil)

  init(_ store: EventStore, _ folding: Folding, _ table: String, _ id: String, in slot: PastSlots.Slot) {
    (self.store, self.folding, self.table, self.id, self.slot) = (store, folding, table, id, slot)
    past = PastReader(store, folding, in: slot)
  }

  /// Goes on for a slice. Returns the versions once all are noted.
  func resume(_ slice: TimeSlice) throws(StoreError) -> [RunRow]? {
    let known = try found()
    if rest == nil {
      if known.begin >= store.log.mark.logBegin {
        let front = self.front ?? Fold(store.log, folding)
        self.front = front
        guard try run(front, through: known.begin, slice) else { return nil }
      }
      guard known.end < last else { return versions + known.versions }
      guard let fold = try past.fold(at: known.end, slice) else { return nil }
      versions += known.versions
      seen = SeenRow(versions.last)
      rest = fold
    }
    guard let rest, try run(rest, through: last, slice) else { return nil }
    return versions
  }

  private func found() throws(StoreError) -> RunVersions {
    if let known { return known }
    try store.log.refresh()
    last = store.log.mark.visible.sequence
    let known = try past.versions(of: id, in: table) ?? RunVersions(begin: last, end: last)
    self.known = known
    return known
  }

  /// Folds on, and notes the versions. False if the slice ended first, or the walk begins again, because events were
  /// erased meanwhile.
  private func run(_ fold: Fold, through last: UInt64, _ slice: TimeSlice) throws(StoreError) -> Bool {
    let run = try fold.runByEvent(through: last, slice) { stamp, _, _, state in
      if let new = seen.change(to: state[table], id, stamp) { versions.append(new) }
      return true
    }
    if case .erased = run {
      (known, front, rest, versions, seen) = (nil, nil, nil, [], SeenRow(nil))
      past = PastReader(store, folding, in: slot)
    }
    if case .done = run { return true }
    return false
  }
}
