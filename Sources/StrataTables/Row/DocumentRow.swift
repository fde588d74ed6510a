// A row of documents that has no Swift type of its own.

internal import StrataDocuments
public import StrataEvents

/// A document as a table holds it, for lists and readers that do not have a Swift type for it.
public struct DocumentRow: Identifiable, Sendable, Hashable {
  /// The part of the stream's name after the first `/`.
  public var id: String
  /// The sequence of the last event that changed the row.
  public var revision: UInt64
  /// The sequence of the event that created the row.
  public var created: UInt64
  /// The own time of the event at `revision`.
  public var time: Timestamp
  /// The whole document.
  public var fields: DocumentObject
}

extension DocumentRow {
  /// A copy of a row, which may be kept. Throws if the document does not decode.
  package init(_ row: RowView) throws(RowProblem) {
    id = row.idText
    revision = row.revision
    created = row.created
    time = Timestamp(nanoseconds: row.time)
    let value: DocumentValue
    do throws(CodecError) { value = try DocumentValue(cbor: row.document) } catch {
      throw RowProblem(what: "the document is damaged: \(error)")
    }
    guard case .object(let object) = value else { throw RowProblem(what: "the document is not an object") }
    fields = object
  }
}

extension RowView {
  /// The id as text.
  package var idText: String { String(decoding: id, as: UTF8.self) }
}
