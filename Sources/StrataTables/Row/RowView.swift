// One row as its table holds it.

/// A borrowed row: valid only inside the call that lends it.
package struct RowView {
  /// The most bytes of a row's id.
  static let idLengthMax = 32_000

  /// The row's id, as UTF-8.
  package var id: UnsafeRawBufferPointer
  /// The sequence of the last event that changed the row.
  package var revision: UInt64
  /// The sequence of the event that created the row.
  package var created: UInt64
  /// The own time of the event at `revision`, in nanoseconds since 1970.
  package var time: Int64
  /// The document: a CBOR map in RFC 8949's core deterministic encoding.
  package var document: UnsafeRawBufferPointer

  package init(
    id: UnsafeRawBufferPointer, revision: UInt64, created: UInt64, time: Int64,
    document: UnsafeRawBufferPointer
  ) {
    self.id = id
    self.revision = revision
    self.created = created
    self.time = time
    self.document = document
  }
}
