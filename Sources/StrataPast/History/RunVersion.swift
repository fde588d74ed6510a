// What a row was from one event on, and how a row is named in a run.

internal import StrataBase
internal import StrataTables

/// One version of a row, without its bytes.
struct RunVersion: Equatable, Sendable {
  enum Kind: UInt8, Sendable {
    /// The row does not exist.
    case gone
    /// The bytes are its document.
    case document
    /// Its last event could not be applied; the bytes say why, as UTF-8.
    case problem
  }

  var kind: Kind
  /// The event that made it so.
  var sequence: UInt64
  /// The event that created the row; 0 unless there is a document.
  var created: UInt64
  /// The own time of the event.
  var time: Int64
}

extension RunVersion {
  /// Lends what a row is in the trees of a table. O(log n).
  ///
  /// - Parameter stamp: the event that has changed it, which trees do not say of a row without a document.
  static func withVersion<Result>(
    of id: UnsafeRawBufferPointer, _ rows: Tree, _ problems: Tree, at stamp: Stamp,
    _ body: (RunVersion, UnsafeRawBufferPointer) -> Result
  ) -> Result {
    var version = RunVersion(kind: .problem, sequence: stamp.sequence, created: 0, time: stamp.time)
    if problems.count > 0,
      let result = problems.withValue(of: id, { problem in problem.map { body(version, $0) } })
    {
      return result
    }
    return rows.withValue(of: id) { value in
      guard let value else {
        version.kind = .gone
        return body(version, UnsafeRawBufferPointer(start: nil, count: 0))
      }
      let row = StoredRow.view(id: id, value)
      version = RunVersion(
        kind: .document, sequence: row.revision, created: row.created, time: row.time)
      return body(version, row.document)
    }
  }
}

/// The name of a row in a run: the number of its table, highest byte first, then the row's id.
enum RunKey {
  static let tableLength = 4
  /// The longest key of a run: no other key is longer than that of a row with the longest id.
  static let lengthMax = tableLength + Tree.keyLengthMax

  static func make(_ table: UInt32, _ id: UnsafeRawBufferPointer) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(tableLength + id.count)
    withUnsafeBytes(of: table.bigEndian) { key.append(contentsOf: $0) }
    key.append(contentsOf: id)
    return key
  }

  static func table(_ key: UnsafeRawBufferPointer) -> UInt32 {
    UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))
  }

  static func id(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: key[tableLength...])
  }
}

/// A table as a run names it: tables are numbered in the order in which they were first written to.
struct RunTable: Equatable, Sendable {
  var number: UInt32
  /// The event that first wrote to it.
  var first: UInt64
  var name: String
}

/// The bits in front of a version in a page.
enum VersionFlags {
  static let kindMask: UInt8 = 3
  /// How the bytes are stored: whole, as a difference to the document before, or at an address outside.
  static let difference: UInt8 = 4
  static let outside: UInt8 = 8
  /// Where `created` comes from: the document before, the version's own sequence, or a number that follows.
  static let createdBySelf: UInt8 = 16
  static let createdFollows: UInt8 = 32
  static let known: UInt8 = 63
}
