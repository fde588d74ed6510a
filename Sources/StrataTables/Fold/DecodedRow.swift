// A decoded row of any type, in code that is not generic.

internal import StrataDocuments

/// What a fold needs to know of the type of a table's rows. The program's types are not known when this module is
/// compiled, and generic storage for them would look up its own type at every step.
final class RowType {
  let id: ObjectIdentifier
  let size: Int
  /// Destroys the row at an address.
  let destroy: (UnsafeMutableRawPointer) -> Void
  /// Encodes the row at an address, and appends its document.
  let encode: (UnsafeRawPointer, RepeatedCBOREncoder, inout CBORWriter) throws -> Void
  /// Whether a document decodes as the row at an address.
  let isFaithful: (UnsafeRawPointer, UnsafeRawBufferPointer) -> Bool

  /// Nil for rows that are objects, which can change after they were set, and for rows of unusual alignment.
  init?<Row: Codable & Sendable>(_ type: Row.Type) {
    guard !(type is AnyClass), MemoryLayout<Row>.alignment <= MemoryLayout<DecodedRow.Unit>.alignment else {
      return nil
    }
    id = ObjectIdentifier(type)
    size = MemoryLayout<Row>.size
    destroy = { $0.assumingMemoryBound(to: Row.self).deinitialize(count: 1) }
    encode = { row, encoder, writer in
      try encoder.encode(row.assumingMemoryBound(to: Row.self).pointee, to: &writer)
    }
    isFaithful = { row, document in
      RowFidelity.isFaithful(row.assumingMemoryBound(to: Row.self).pointee, document)
    }
  }
}

/// A row that never changes, in an object.
final class DecodedRow: ManagedBuffer<RowType, UInt64> {
  typealias Unit = UInt64

  static func make<Row>(_ row: consuming Row, _ type: RowType) -> DecodedRow {
    assert(type.id == ObjectIdentifier(Row.self), "a row has another type than its table")
    let unitCount = (MemoryLayout<Row>.size + MemoryLayout<Unit>.size - 1) / MemoryLayout<Unit>.size
    let made = unsafeDowncast(create(minimumCapacity: unitCount) { _ in type }, to: DecodedRow.self)
    made.address.bindMemory(to: Row.self, capacity: 1).initialize(to: row)
    return made
  }

  deinit { type.destroy(address) }

  // The header is read through its address, since access to the property is checked for exclusivity at run time.
  @inline(__always)
  var type: RowType { withUnsafeMutablePointerToHeader { $0.pointee } }

  @inline(__always)
  var address: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } }

  /// The row, of the type that it was made of.
  @inline(__always)
  func value<Row>(as _: Row.Type) -> Row {
    assert(type.id == ObjectIdentifier(Row.self), "a row is read as another type")
    return address.assumingMemoryBound(to: Row.self).pointee
  }

  /// Whether both are the same value, bit by bit: then they encode alike, since a row holds no objects. `==` may be the
  /// program's, and calls strings equal that have different bytes.
  func hasSameBits(as other: DecodedRow) -> Bool {
    UnsafeRawBufferPointer(start: address, count: type.size).hasSameBytes(
      as: UnsafeRawBufferPointer(start: other.address, count: other.type.size))
  }
}
