// The bytes of a row in its table's tree.

/// A row's value: revision, creation and time as eight little-endian bytes each, then the document.
package enum StoredRow {
  package static let headLength = 24

  /// Replaces the contents of the buffer with a row's value.
  package static func write(_ row: RowView, to buffer: inout [UInt8]) {
    buffer.removeAll(keepingCapacity: true)
    buffer.reserveCapacity(headLength + row.document.count)
    withUnsafeBytes(of: row.revision.littleEndian) { buffer.append(contentsOf: $0) }
    withUnsafeBytes(of: row.created.littleEndian) { buffer.append(contentsOf: $0) }
    withUnsafeBytes(of: row.time.littleEndian) { buffer.append(contentsOf: $0) }
    buffer.append(contentsOf: row.document)
  }

  /// Writes a row's value into memory of exactly its length.
  static func write(
    revision: UInt64, created: UInt64, time: Int64, _ document: UnsafeRawBufferPointer,
    to value: UnsafeMutableRawBufferPointer
  ) {
    assert(value.count == headLength + document.count, "a row's value has another length than its memory")
    value.storeBytes(of: revision.littleEndian, as: UInt64.self)
    value.storeBytes(of: created.littleEndian, toByteOffset: 8, as: UInt64.self)
    value.storeBytes(of: time.littleEndian, toByteOffset: 16, as: Int64.self)
    UnsafeMutableRawBufferPointer(rebasing: value[headLength...]).copyMemory(from: document)
  }

  /// Overwrites the creation sequence in a row's value.
  static func setCreated(_ created: UInt64, in value: UnsafeMutableRawBufferPointer) {
    value.storeBytes(of: created.littleEndian, toByteOffset: 8, as: UInt64.self)
  }

  /// Whether a tree's value holds a row.
  package static func isValid(_ keyLength: Int, _ value: UnsafeRawBufferPointer) -> Bool {
    value.count >= headLength
  }

  /// The row that a tree's entry holds.
  package static func view(id: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> RowView {
    assert(value.count >= headLength, "a table's tree holds a value that is not a row")
    return RowView(
      id: id,
      revision: UInt64(littleEndian: value.loadUnaligned(as: UInt64.self)),
      created: UInt64(littleEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      time: Int64(littleEndian: value.loadUnaligned(fromByteOffset: 16, as: Int64.self)),
      document: UnsafeRawBufferPointer(rebasing: value[headLength...]))
  }
}
