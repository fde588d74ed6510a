// The tables that an application's projection saved, for a program that does not have its code.

internal import StrataBase
package import StrataLog
package import StrataTables

/// The tables of one projection, as far as they are on disk: after the events of its saved states, and after every event of
/// its history. Nothing is folded, since only the application can do that.
///
/// A state or a run is used only if it fits the log, and nothing was erased since it was made. A value: it goes on to
/// answer what it did when it was made, although files are replaced. Every call blocks as long as the disk does.
package struct SavedTables: Sendable {
  /// A state on disk, and what its directory names.
  private struct Saved: Sendable {
    var slot: StateSlot
    var entries: StateEntries
    var reader: StateReader
  }

  /// The projection's name.
  package let projection: String
  package let version: Int
  private let recordsTouches: Bool
  /// Ascending by sequence.
  private var saved: [Saved] = []
  private var runs: RunSet?
  private let limits: RunLimits

  /// The last events of the saved states, ascending.
  package var states: [UInt64] { saved.map(\.slot.sequence) }
  /// The events after which the history has the tables; nil if none is kept.
  package var history: ClosedRange<UInt64>? { runs.map { $0.begin + 1...$0.end } }
  /// The last event after which the tables are known; nil if there is none.
  package var last: UInt64? { [saved.last?.slot.sequence, runs?.end].compactMap { $0 }.max() }

  /// The names of the tables, ascending by their UTF-8.
  package var tableNames: [String] {
    let names = saved.flatMap { $0.entries.tables.map(\.name) } + (runs?.tables.map(\.name) ?? [])
    return Set(names.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// The last event not after another one after which the tables are known; nil if there is none.
  package func point(notAfter sequence: UInt64) -> UInt64? {
    let state = saved.last { $0.slot.sequence <= sequence }?.slot.sequence
    guard let history, history.lowerBound <= sequence else { return state }
    return max(state ?? 0, min(history.upperBound, sequence))
  }

  /// The tables of the projections of a store, ascending by name; of each, those of its highest version. O(folders).
  ///
  /// Throws if the log or a folder cannot be read. A state or a history that cannot be used is left out.
  package static func all(of log: Log) throws(StoreError) -> [SavedTables] {
    try log.refresh()
    let documents = StateName(name: StateName.documentsName, version: 1, recordsTouches: false)
    var folders = Set<String>()
    for parent in [log.layout.states, log.layout.histories] {
      let fileSystem = log.source.catalog.fileSystem
      guard try fileSystem.kind(of: parent) == .directory else { continue }
      for name in try fileSystem.contents(ofDirectory: parent) {
        folders.insert(StateName.withoutReaderMark(name))
      }
    }
    folders.remove(documents.folder)
    let names = folders.compactMap(StateName.init(folder:)).filter { !$0.isOfDocuments }
    var all: [SavedTables] = []
    // Of one version, the tables in which equal writes change nothing.
    let newest = names.sorted { $0.version > $1.version || $0.version == $1.version && !$0.recordsTouches }
    for name in newest where !all.contains(where: { $0.projection.utf8.elementsEqual(name.name.utf8) }) {
      let found = try SavedTables(log, name)
      if found.last != nil { all.append(found) }
    }
    return all.sorted { $0.projection.utf8.lexicographicallyPrecedes($1.projection.utf8) }
  }

  private init(_ log: Log, _ name: StateName) throws(StoreError) {
    (projection, version, recordsTouches) = (name.name, name.version, name.recordsTouches)
    limits = log.options.runLimits
    let cache = PageCache(log.options)
    let head = log.mark.sequence
    let erasures = try log.erasures()
    for files in [StateFiles(log, name), StateFiles(log, folder: name.readerFolder)] {
      for slot in files.slots() where try slot.refusal(by: log, erasures) == nil {
        guard !states.contains(slot.sequence), let entries = try? slot.entries(files, cache) else { continue }
        saved.append(Saved(slot: slot, entries: entries.entries, reader: entries.reader))
      }
    }
    saved.sort { $0.slot.sequence < $1.slot.sequence }
    runs = try Self.runs(of: log, name, erasures, head: head, cache)
  }

  private static func runs(
    of log: Log, _ name: StateName, _ erasures: SegmentErasures, head: UInt64, _ cache: PageCache
  ) throws(StoreError) -> RunSet? {
    let files = HistoryFiles(log, name)
    guard let manifest = try files.manifest(), manifest.storeID == log.storeID, manifest.name == name.hash
    else { return nil }
    let entries = try manifest.runs(validIn: log, erasures)
    guard !entries.isEmpty else { return nil }
    let runCache = RunCache(cache, openFileCountMax: log.options.runLimits.openFileCountMax)
    do throws(PageDamage) {
      var readers: [RunReader] = []
      for entry in entries { readers.append(try entry.open(files, runCache)) }
      let runs = try RunSet(readers, erasures, head: head)
      try runs.checkFront(of: log)
      return try runs.heldWhole()
    } catch { return nil }
  }
}

// MARK: Tables

extension SavedTables {
  /// A table after an event after which it is known. O(rows), or O(changes · log n) from another state, with its views,
  /// where the history has both.
  ///
  /// Throws `invalid` if the table is not known after that event, or the files turn out to be damaged.
  ///
  /// - Parameter other: the same table after another event.
  package func tables(
    _ table: String, at sequence: UInt64, from other: TableSet? = nil
  ) throws(StoreError) -> TableSet {
    do throws(PageDamage) {
      if let runs, runs.covers(sequence) {
        if let other, runs.covers(other.sequence) {
          let step = try RunStep(runs, from: other, to: sequence, only: [table])
          while true { if let tables = try step.resume(nil) { return tables } }
        }
        return try runs.tables(at: sequence, recordsTouches: recordsTouches, only: [table], limits)
      }
      guard let saved = saved.last(where: { $0.slot.sequence == sequence }) else {
        throw PageDamage("nothing is saved of seq \(sequence)")
      }
      return try tables(table, of: saved)
    } catch { throw failure(error) }
  }

  /// The last events of the appends after one event and up to another that changed rows of any table, ascending. The history
  /// must have both. O(events).
  package func changedAppends(after first: UInt64, through last: UInt64) throws(StoreError) -> [UInt64] {
    do throws(PageDamage) {
      var (ends, hasChanged) = ([UInt64](), false)
      for run in runs?.runs ?? [] where run.root.begin < last && run.root.end > first {
        let cursor = RunChangesCursor(run)
        if first > run.root.begin { try cursor.seek(first + 1) }
        while let event = try cursor.next(), event.sequence <= last {
          if !cursor.rows.isEmpty { hasChanged = true }
          if event.endsAppend, hasChanged {
            ends.append(event.sequence)
            hasChanged = false
          }
          if event.sequence == last { break }
        }
      }
      return ends
    } catch { throw failure(error) }
  }

  private func failure(_ damage: PageDamage) -> StoreError {
    .invalid(
      what: "the saved tables of \(projection) cannot be read: \(damage)",
      next: "open the store with the program that has the projection, which makes them again")
  }

  private func tables(_ name: String, of saved: Saved) throws(PageDamage) -> TableSet {
    let slot = saved.slot
    var tables: [Table] = []
    for table in saved.entries.tables where table.name.utf8.elementsEqual(name.utf8) {
      let rows = try saved.reader.wholeTree(
        table.rows.root, pageSize: TreePages.table, StoredRow.isValid)
      let problems = try saved.reader.wholeTree(table.problems.root, pageSize: Tree().pageSize) { _, _ in
        true
      }
      tables.append(
        Table(name: name, recordsTouches: recordsTouches, rows: rows, problems: problems, savedViews: []))
    }
    return TableSet(
      sequence: slot.sequence, time: slot.time, chain: slot.chain, appendCount: slot.appends,
      recordsTouches: recordsTouches, tables: tables,
      failures: ProjectionFailures(listed: saved.entries.failures, count: saved.entries.failureCount))
  }
}
