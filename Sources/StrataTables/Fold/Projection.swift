// Projections: pure functions from events to tables.

internal import StrataDocuments
public import StrataEvents

/// A fold of events into an application's own tables.
///
/// `apply` must be pure: its result may depend only on the event and on the tables, never on the time, the machine or
/// chance. Then the state after n events is the same on every run, and any past state can be rebuilt.
///
/// A projection is identified by its type, name and version, and all values of one type share one fold in a store. So
/// a projection must not have properties that change what it does.
public protocol Projection: Sendable {
  /// The projection's name in the store. Name and version together identify the function.
  static var name: String { get }
  /// The version of `apply` and of the rows. Raise it whenever `apply` makes other rows of the same events, or a row's type
  /// no longer decodes what it made before: the tables are then folded again from the log, and those of lower versions are
  /// removed.
  ///
  /// The version is trusted. A release build uses the states and histories that an earlier build saved under the same
  /// version, so a start after an update of the program is quick; with a version that should have been raised it shows the
  /// old rows, and what it folds onto them. `EventStore.verifyTables(of:)` folds the log again and compares. A debug build
  /// uses only what it saved itself.
  static var version: Int { get }
  /// What happens to an event that `apply` cannot apply; `record` by default.
  static var onFailure: ProjectionFailurePolicy { get }
  /// Folds one event into the tables.
  ///
  /// Events with erased content are not passed to it. If it throws, the event changes nothing. By default it is then
  /// listed among the failures with the error that was thrown (`store.failures(of:)`, and `failures` of a list's
  /// snapshot), and the fold continues; `onFailure` may make it halt instead.
  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws
}

extension Projection {
  public static var onFailure: ProjectionFailurePolicy { .record }
}

/// A table of a projection, and the type of its rows.
public struct TableKey<Row: Codable & Sendable>: Sendable, Hashable {
  package let name: String

  /// - Parameter name: not empty.
  public init(_ name: String) {
    precondition(!name.isEmpty, "a table's name is not empty")
    self.name = name
  }
}

/// The tables of a projection while it folds one event.
///
/// A row that is set is encoded once, when `apply` returns; until then, reads return the value that was set. A row whose
/// encoding is then equal to what the table had before the event did not change, whatever happened to it in between.
public struct ProjectionTables {
  var set: TableSet
  let stamp: Stamp
  private let scratch: FoldScratch
  private let kept: KeptRows
  /// The tables that the projection uses, and what this event changed in them.
  private(set) var tables: [KeptRows.OpenTable]
  /// The first row that could not be encoded or decoded, or whose id is too long.
  private(set) var problem: String?

  init(_ set: consuming TableSet, stamp: Stamp, scratch: FoldScratch, kept: KeptRows) {
    tables = kept.begin(stamp.sequence, after: set.sequence)
    self.set = set
    self.stamp = stamp
    self.scratch = scratch
    self.kept = kept
  }

  /// The maximum length of a row's id, in bytes of UTF-8.
  package static var idLengthMax: Int { RowView.idLengthMax }

  /// A row of a table. Setting nil removes the row. O(log n) plus the decoding of the row, or O(1) if the row was read or
  /// written recently; for a row that was set, the encoding of the row at the end of the event, and O(log n) once for
  /// many events.
  ///
  /// If a row does not encode or decode, or its id is longer than 32,000 bytes of UTF-8, the event fails as if `apply`
  /// had thrown.
  public subscript<Row>(key: TableKey<Row>, id: String) -> Row? {
    mutating get {
      do { return try row(id, of: key) } catch {
        note("row \(id) of \(key.name) does not decode as \(Row.self): \(error)")
        return nil
      }
    }
    // Inlined, because code that does not know the type of an optional looks it up to copy it.
    @inlinable set {
      if let newValue { set(id, of: key, to: newValue) } else { remove(id, of: key) }
    }
  }

  /// The number of rows in a table. O(1), and once O(log n) for each row that was written lately.
  public func count<Row>(of key: TableKey<Row>) -> Int {
    let table = set[key.name]
    guard let open = tables.first(where: { $0.name.hasSameUTF8(as: key.name) }) else { return table.count }
    let count = table.count + open.unplaced.countDifference(table)
    guard open.rows.changeCount > 0 else { return count }
    return count
      + open.rows.countDifference { id, hash in
        Self.withBytes(of: id) { id in
          switch open.unplaced.find(id, hash) {
          case .removed: false
          case .document: true
          case nil: table.rows.contains(id)
          }
        }
      }
  }

  /// The ids of a table's rows, ordered by their bytes. O(n).
  public func ids<Row>(of key: TableKey<Row>) -> [String] {
    let changed = changedIDs(of: key.name)
    var ids: [String] = []
    var next = 0
    /// Adds the changed rows whose ids come before another, and returns whether the other was changed too.
    func addChanged(before id: UnsafeRawBufferPointer?) -> Bool {
      while next < changed.count {
        let order = id.map { id in Self.withBytes(of: changed[next].id) { $0.order(id) } } ?? -1
        guard order <= 0 else { return false }
        if changed[next].exists { ids.append(changed[next].id) }
        next += 1
        if order == 0 { return true }
      }
      return false
    }
    set[key.name].forEachRow { if !addChanged(before: $0.id) { ids.append($0.idText) } }
    _ = addChanged(before: nil)
    return ids
  }

  /// The ids of the rows that this event changed, and of those that are not in their table yet, in order.
  private func changedIDs(of table: String) -> [(id: String, exists: Bool)] {
    guard let open = tables.first(where: { $0.name.hasSameUTF8(as: table) }) else { return [] }
    var changed: [(id: String, exists: Bool)] = open.rows.changes.map { ($0.id, $0.exists) }
    open.unplaced.forEachID { bytes, exists in
      let id = String(decoding: bytes, as: UTF8.self)
      if open.rows.index(of: id) == nil { changed.append((id, exists)) }
    }
    changed.sort { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
    return changed
  }

  private mutating func note(_ what: String) { if problem == nil { problem = what } }

  /// Static, so that the body may change the tables. As a method it would hold a copy of them while it runs, and every
  /// write would copy what that copy shares: the list of changes and the pages of the trees.
  private static func withBytes<Result>(
    of text: String, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    var text = text
    return try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
  }
}

// MARK: Reading and changing rows

extension ProjectionTables {
  private mutating func row<Row>(_ id: String, of key: TableKey<Row>) throws -> Row? {
    let table = open(key)
    let rows = tables[table].rows
    if let index = rows.index(of: id) {
      switch rows.changes[index].content {
      case .removed: return nil
      case .row(let row): return row.value(as: Row.self)
      case .document(let document): return try CBORDecoder().decode(Row.self, from: document)
      }
    }
    // A copy of these tables that outlived its event does not see later rows.
    let isCurrent = kept.event == stamp.sequence
    if isCurrent, let row = rows.cache.address(of: id) {
      return row.assumingMemoryBound(to: Row.self).pointee
    }
    func decoded(_ document: UnsafeRawBufferPointer) throws -> Row {
      let row = try CBORDecoder().decode(Row.self, from: document)
      if isCurrent, let type = rows.type {
        rows.cache.keep(DecodedRow.make(row, type), id, RowCache.hash(id), document, isEncoded: false)
      }
      return row
    }
    let unplaced = tables[table].unplaced
    return try Self.withBytes(of: id) { (bytes) throws -> Row? in
      switch unplaced.find(bytes, rows.cache.hash(of: id)) {
      case .removed: return nil
      case .document(let document): return try decoded(document)
      case nil: break
      }
      return try set[key.name].withRow(bytes) { (stored) throws -> Row? in
        try (stored?.document).map { (document) throws in try decoded(document) }
      }
    }
  }

  @usableFromInline
  mutating func remove<Row>(_ id: String, of key: TableKey<Row>) {
    if let rows = changedRows(id, of: key) { rows.set(id, .removed) }
  }

  @usableFromInline
  mutating func set<Row>(_ id: String, of key: TableKey<Row>, to row: consuming Row) {
    guard let rows = changedRows(id, of: key) else { return }
    if let type = rows.type { return rows.set(id, .row(DecodedRow.make(row, type))) }
    do {
      let document = try CBOREncoder().encode(row)
      guard let first = document.first, first & 0xE0 == 0xA0 else {
        return note("row \(id) of \(key.name) does not encode as an object")
      }
      rows.set(id, .document(document))
    } catch {
      note("row \(id) of \(key.name) does not encode: \(error)")
    }
  }

  /// The changed rows of a table, not shared with a copy of these tables. Nil if the id is too long.
  private mutating func changedRows<Row>(_ id: String, of key: TableKey<Row>) -> ChangedRows? {
    guard id.utf8.count <= Self.idLengthMax else {
      note("a row id of \(key.name) has \(id.utf8.count) bytes; the limit is \(Self.idLengthMax)")
      return nil
    }
    let index = open(key)
    if !isKnownUniquelyReferenced(&tables[index].rows) { tables[index].rows = tables[index].rows.copy() }
    return tables[index].rows
  }

  /// The index of a table among the tables that are used, with rows of this type or encoded ones.
  private mutating func open<Row>(_ key: TableKey<Row>) -> Int {
    for index in tables.indices where tables[index].name.hasSameUTF8(as: key.name) {
      if let type = tables[index].rows.type, type.id != ObjectIdentifier(Row.self) { closeType(at: index) }
      return index
    }
    tables.append(kept.open(key))
    return tables.count - 1
  }

  /// From here on, the rows of a table that is used with several types are encoded at once.
  private mutating func closeType(at index: Int) {
    do throws(RowProblem) {
      tables[index].rows = try tables[index].rows.encoded(tables[index].name, kept)
    } catch {
      note(error.what)
      tables[index].rows = ChangedRows(nil, RowCache(countMax: 0))
    }
  }
}

// MARK: The end of the event

extension ProjectionTables {
  /// Takes over every row that this event changed. If a row cannot be encoded or decoded, changes nothing and returns
  /// the reason.
  mutating func commit() -> String? {
    if let problem { return problem }
    // The cache holds rows as they are after the event before, and not those of an older event's tables.
    let mayCompare = !set.recordsTouches && kept.event == stamp.sequence
    do throws(RowProblem) {
      for index in tables.indices where tables[index].rows.changeCount > 0 {
        try tables[index].rows.encode(
          for: tables[index].unplaced, of: tables[index].name, kept, mayCompare: mayCompare)
      }
    } catch {
      return error.what
    }
    for index in tables.indices {
      let rows = tables[index].rows
      guard rows.changeCount > 0 else { continue }
      // Tables are in the order in which they were first written to.
      if tables[index].unplaced.count == 0 { set.withTable(tables[index].name) { $0.noteWritten() } }
      if !isKnownUniquelyReferenced(&tables[index].unplaced) {
        tables[index].unplaced = tables[index].unplaced.copy()
      }
      rows.put(
        into: tables[index].unplaced, of: rows.hasRemovals ? set[tables[index].name] : nil,
        recordsTouches: set.recordsTouches, at: stamp, kept)
    }
    return nil
  }

  /// Ends the event: forgets what it changed and did not take over, and returns the state.
  mutating func end() -> TableSet {
    // Older tables were put in the place of those of this event: the fold does not know what is not in them yet.
    if kept.event != stamp.sequence {
      for index in tables.indices { tables[index].place(into: &set, scratch) }
    }
    // Moved, not copied, so that both keep the only references.
    var (lent, moved) = ([KeptRows.OpenTable](), TableSet())
    swap(&lent, &tables)
    kept.end(stamp.sequence, &lent)
    swap(&moved, &set)
    return moved
  }
}

extension Table {
  /// Decodes a row; nil if the table does not have it. Throws what the decoder throws.
  package func row<Row: Decodable>(_ id: String, as type: Row.Type = Row.self) throws -> Row? {
    var id = id
    return try id.withUTF8 { id in
      try withRow(UnsafeRawBufferPointer(id)) { (row) throws in
        try row.map { try CBORDecoder().decode(Row.self, from: $0.document) }
      }
    }
  }
}
