// What the files of a history hold, for somebody who looks into them: whether or not the log has such events, and
// whatever program made them.

internal import StrataBase
package import StrataLog
internal import StrataTables

/// The files of one history, read as they are.
package struct HistoryDump {
  /// Bytes of a file that are not what they should be.
  package struct Problem: Error {
    /// The file, as a path inside the store.
    package var file: String
    package var what: String
  }

  /// What MANIFEST says besides the runs: see HistoryFormat.md.
  package struct Manifest: Sendable {
    package var byteCount: Int
    package var storeID: StoreID
    package var name: UInt64
    package var fingerprint: UInt64
    package var build: UInt64
    package var nextNumber: UInt32
    package var runs: [Run]
  }

  /// What MANIFEST says of a run.
  package struct Run: Sendable {
    package var number: UInt32
    package var level: UInt32
    package var byteCount: UInt64
    /// The offset of its root.
    package var rootOffset: UInt64
    package var begin: UInt64
    package var end: UInt64
    package var chain: UInt64
    package var appends: UInt64
    /// The own time of the last append.
    package var time: Int64
    package var erasures: UInt64

    /// The name of its file.
    package var file: String { StoreLayout.runFileName(number) }
  }

  /// What the root of a run says.
  package struct Root: Sendable {
    package var isBase: Bool
    package var begin: UInt64
    package var end: UInt64
    package var appends: UInt64
    package var failures: UInt64
    package var changes: UInt64
    package var rows: UInt64
    package var versions: UInt64
  }

  /// One thing that a run holds.
  package enum Entry {
    case root(Root)
    case table(number: UInt32, first: UInt64, name: String)
    case failure(sequence: UInt64, what: String)
    /// A row; its versions follow.
    case row(number: UInt64, table: UInt32, id: UnsafeRawBufferPointer)
    /// The bytes are a document, or why there is none.
    case version(sequence: UInt64, time: Int64, VersionKind, bytes: UnsafeRawBufferPointer)
    case event(sequence: UInt64, time: Int64, endsAppend: Bool, hasFailed: Bool, rows: [UInt32])
    /// The keys of one kind of an owner; its sections and its keys follow.
    case keys(Keys)
    /// A section of the keys, and how many of them are in it after the last event; in a delta, how many more than before
    /// the first.
    case section([UInt8], count: Int64)
    case key(Key)
  }

  /// What a run says of the keys of one kind.
  package struct Keys: Sendable {
    /// 0 for all rows; otherwise what a list is known by.
    package var owner: UInt64
    package var kind: String
    package var keys: UInt64
    package var pages: Int
    /// How many are there after the last event; in a delta, how many more than before the first.
    package var count: Int64
  }

  /// A key of a run: the section, what it is sorted by, and the id of its row.
  package struct Key: Sendable {
    package var section: ArraySlice<UInt8>
    package var sort: ArraySlice<UInt8>
    package var id: ArraySlice<UInt8>
    /// Whether it was there before the first event.
    package var isAlive: Bool
    /// The events that made it appear and disappear, in turn.
    package var moments: [UInt64]
  }

  package enum VersionKind: Sendable, Equatable {
    case gone
    case document(created: UInt64)
    case problem
  }

  private let fileSystem: any FileSystem
  private let layout: StoreLayout
  private let folder: String

  /// - Parameter folder: the name of a folder in `derived/history`.
  package init(_ fileSystem: any FileSystem, _ layout: StoreLayout, folder: String) {
    (self.fileSystem, self.layout, self.folder) = (fileSystem, layout, folder)
  }

  /// The folders in `derived/history`, ascending.
  package static func folders(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(StoreError)
    -> [String]
  {
    guard try fileSystem.kind(of: layout.histories) == .directory else { return [] }
    var folders: [String] = []
    for name in try fileSystem.contents(ofDirectory: layout.histories).sorted() {
      if try fileSystem.kind(of: "\(layout.histories)/\(name)") == .directory { folders.append(name) }
    }
    return folders
  }

  /// The path of a file inside the store.
  package func path(_ file: String) -> String { "\(StoreLayout.historiesPath)/\(folder)/\(file)" }

  private func files(_ storeID: StoreID) -> HistoryFiles {
    HistoryFiles(fileSystem, layout, storeID, folder: folder)
  }

  /// Reads MANIFEST. O(runs).
  package func manifest() throws(Problem) -> Manifest {
    let file = path(StoreLayout.manifestFile)
    guard let opened = files(StoreID(low: 0, high: 0)).openManifest() else {
      throw Problem(file: file, what: "the file is missing or cannot be opened")
    }
    let size = try? opened.file.size()
    opened.file.close()
    guard let manifest = opened.manifest else {
      throw Problem(
        file: file,
        what:
          "this is no manifest of version \(RunFile.major), or its bytes differ from those that were written")
    }
    return Manifest(
      byteCount: size.flatMap { Int(exactly: $0) } ?? 0, storeID: manifest.storeID, name: manifest.name,
      fingerprint: manifest.fingerprint, build: manifest.build, nextNumber: manifest.nextNumber,
      runs: manifest.runs.map(Run.init))
  }

  /// Lends everything that a run holds: its root, the tables, the failures, the rows with their versions, the keys, the
  /// events. O(bytes of the run), of which some pages are in memory.
  package func forEachEntry(
    of run: Run, in manifest: Manifest, _ body: (Entry) throws -> Void
  ) throws {
    do {
      let address = try address(of: run, in: manifest)
      let reader = try RunReader(
        files(manifest.storeID), run.number, root: address, RunCache(PageCache(limit: 1 << 20)))
      try Self.lend(reader, body)
    } catch let damage as PageDamage {
      throw Problem(file: path(run.file), what: damage.what)
    }
  }

  private func address(of run: Run, in manifest: Manifest) throws -> RecordAddress {
    guard let known = try files(manifest.storeID).manifest()?.runs.first(where: { $0.number == run.number })
    else {
      throw Problem(
        file: path(StoreLayout.manifestFile), what: "it is another file by now, without run \(run.number)")
    }
    return known.address
  }

  static func lend(_ reader: RunReader, _ body: (Entry) throws -> Void) throws {
    let root = reader.root
    try body(
      .root(
        Root(
          isBase: root.isBase, begin: root.begin, end: root.end, appends: root.counts.appends,
          failures: root.counts.failures, changes: root.counts.changes, rows: root.rowCount,
          versions: root.versionCount)))
    for table in reader.tables {
      try body(.table(number: table.number, first: table.first, name: table.name))
    }
    for failure in try reader.failures() {
      try body(.failure(sequence: failure.sequence, what: failure.what))
    }
    let rows = RunRowCursor(reader, sweeping: RunLimits().walkLength)
    while try rows.next() {
      try rows.key.withUnsafeBytes { key in
        try body(.row(number: rows.number, table: RunKey.table(key), id: RunKey.id(key)))
      }
      while let version = try rows.nextVersion() {
        let kind: VersionKind =
          switch version.kind {
          case .gone: .gone
          case .document: .document(created: version.created)
          case .problem: .problem
          }
        try body(.version(sequence: version.sequence, time: version.time, kind, bytes: rows.bytes()))
      }
    }
    for owner in reader.keys {
      for root in owner.sets {
        guard let set = try reader.keySet(root.kind, of: KeyOwner(known: owner)) else { continue }
        try lend(set, of: owner.owner, body)
      }
    }
    let events = RunChangesCursor(reader, sweeping: RunLimits().walkLength)
    while let event = try events.next() {
      try body(
        .event(
          sequence: event.sequence, time: event.time, endsAppend: event.endsAppend,
          hasFailed: event.hasFailed, rows: events.rows))
    }
  }

  private static func lend(_ set: KeySet, of owner: UInt64, _ body: (Entry) throws -> Void) throws {
    let counts = try set.groupCounts(at: set.reader.root.end)
    try body(
      .keys(
        Keys(
          owner: owner, kind: "\(set.root.kind)", keys: set.root.count, pages: set.directory.pageCount,
          count: counts?.before.last ?? 0)))
    let sections = try set.sectionCounts(at: set.reader.root.end)
    for (section, count) in zip(sections.sections, sections.counts) {
      try body(.section(section, count: count))
    }
    var cursor = KeyRecordCursor(set)
    while try cursor.next() {
      let key = cursor.record()
      let (section, id) = (key.sectionLength, key.key.count - key.idLength)
      try body(
        .key(
          Key(
            section: key.key[..<section], sort: key.key[section..<id], id: key.key[id...],
            isAlive: key.isAlive, moments: key.moments)))
    }
  }
}

extension HistoryDump.Run {
  fileprivate init(_ run: ManifestRun) {
    (number, level, byteCount, rootOffset) = (run.number, run.level, run.length, run.address.offset)
    (begin, end, chain, appends) = (run.begin, run.end, run.chain, run.appends)
    (time, erasures) = (run.time, run.erasures)
  }
}
