// The hash of a whole state.

internal import StrataBase

extension Table {
  /// The sum modulo 2⁶⁴ over the rows of XXH64(table, id, revision, document), where each field is preceded by
  /// its length, and lengths and revisions are eight little-endian bytes. It does not depend on the order of
  /// rows or on how the state was reached. O(bytes).
  package var stateHash: UInt64 {
    var sum: UInt64 = 0
    var buffer: [UInt8] = []
    var name = name
    func append(_ number: Int) {
      withUnsafeBytes(of: UInt64(number).littleEndian) { buffer.append(contentsOf: $0) }
    }
    forEachRow { row in
      buffer.removeAll(keepingCapacity: true)
      name.withUTF8 { name in
        append(name.count)
        buffer.append(contentsOf: name)
      }
      append(row.id.count)
      buffer.append(contentsOf: row.id)
      append(8)
      withUnsafeBytes(of: row.revision.littleEndian) { buffer.append(contentsOf: $0) }
      append(row.document.count)
      buffer.append(contentsOf: row.document)
      sum &+= XXH64.of(buffer)
    }
    return sum
  }
}

extension TableSet {
  /// The sum of the tables' hashes modulo 2⁶⁴. O(bytes).
  package var stateHash: UInt64 { tables.reduce(0) { $0 &+ $1.stateHash } }

  /// The number of rows in all tables.
  package var rowCount: Int { tables.reduce(0) { $0 + $1.count } }
}
