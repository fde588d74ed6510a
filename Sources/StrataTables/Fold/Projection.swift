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
  /// The version of `apply`. Raise it whenever `apply` changes its meaning.
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
/// Rows are encoded when they are set and decoded when they are read. Setting a row to an equal value does not change
/// it.
public struct ProjectionTables {
  var set: TableSet
  let stamp: Stamp
  let scratch: FoldScratch
  /// The rows as they were before this event, in the order of their changes.
  private(set) var undo: [(table: String, id: [UInt8], value: [UInt8]?)] = []
  /// The first row that could not be encoded or decoded, or whose id is too long.
  private(set) var problem: String?

  init(_ set: consuming TableSet, stamp: Stamp, scratch: FoldScratch) {
    self.set = set
    self.stamp = stamp
    self.scratch = scratch
  }

  /// The maximum length of a row's id, in bytes of UTF-8.
  package static var idLengthMax: Int { 32_000 }

  /// A row of a table. Setting nil removes the row. O(log n), plus the encoding or decoding of the row.
  ///
  /// If a row does not encode or decode, or its id is longer than `idLengthMax`, the event fails as if `apply` had
  /// thrown.
  public subscript<Row>(key: TableKey<Row>, id: String) -> Row? {
    mutating get {
      do { return try set[key.name].row(id) } catch {
        note("row \(id) of \(key.name) does not decode as \(Row.self): \(error)")
        return nil
      }
    }
    set {
      guard id.utf8.count <= Self.idLengthMax else {
        return note("a row id of \(key.name) has \(id.utf8.count) bytes; the limit is \(Self.idLengthMax)")
      }
      remember(id, of: key.name)
      guard let newValue else {
        Self.withBytes(of: id) { id in set.withTable(key.name) { $0.remove(id: id, scratch) } }
        return
      }
      do {
        let document = try CBOREncoder().encode(newValue)
        guard let first = document.first, first & 0xE0 == 0xA0 else {
          return note("\(Row.self) does not encode as an object")
        }
        Self.withBytes(of: id) { id in
          document.withUnsafeBytes { document in
            set.withTable(key.name) { $0.put(id: id, document: document, at: stamp, scratch) }
          }
        }
      } catch {
        note("row \(id) of \(key.name) does not encode: \(error)")
      }
    }
  }

  /// The number of rows in a table. O(1).
  public func count<Row>(of key: TableKey<Row>) -> Int { set[key.name].count }

  /// The ids of a table's rows, ordered by their bytes. O(n).
  public func ids<Row>(of key: TableKey<Row>) -> [String] {
    var ids: [String] = []
    set[key.name].forEachRow { ids.append($0.idText) }
    return ids
  }

  private mutating func note(_ what: String) { if problem == nil { problem = what } }

  private mutating func remember(_ id: String, of table: String) {
    Self.withBytes(of: id) { bytes in
      let value = set[table].rows.withValue(of: bytes) { $0.map { Array($0) } }
      undo.append((table, Array(bytes), value))
    }
  }

  /// Restores every row that this event changed.
  mutating func rollBack() {
    for (table, id, value) in undo.reversed() {
      id.withUnsafeBytes { id in set.withTable(table) { $0.restore(id: id, value: value, scratch) } }
    }
    undo = []
  }

  /// Static, so that the body may change the tables. As a method it would hold a copy of them while it runs, and every
  /// write would copy what that copy shares: the list of changes and the pages of the trees.
  private static func withBytes<Result>(
    of text: String, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    var text = text
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
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
