// The projection of documents, which needs no code: `$put`, `$merge` and `$delete` into one table per category.

package import StrataDocuments
internal import StrataEvents
package import StrataLog

/// Folds document events: the stream's category names the table, the stream's id names the row. So the events of `name`
/// and of `name/`, whose ids are empty, change one row.
package enum DocumentFold {
  /// Folds one event into the tables. Events of other types change nothing.
  package static func apply(
    _ event: borrowing EventView, at stamp: Stamp, to set: inout TableSet, only tables: Set<String>?,
    _ scratch: FoldScratch
  ) {
    guard let (change, category, id) = target(of: event, only: tables) else { return }
    let (codec, payload) = (event.codec, event.payload)
    set.withTable(category) { table in
      switch change {
      case .delete: table.remove(id: id, scratch)
      case .put: put(payload, codec, id, stamp, in: &table, scratch)
      case .merge: merge(payload, codec, id, stamp, in: &table, scratch)
      }
    }
  }

  /// The row that an event changes, in one of the tables; nil for an event that changes none.
  @inline(__always)
  package static func target(
    of event: borrowing EventView, only tables: Set<String>?
  ) -> (change: Change, category: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer)? {
    guard event.kind == EventKind.event, event.type.first == UInt8(ascii: "$"),
      let change = Change(event.type)
    else { return nil }
    let stream = event.stream
    let slash = stream.firstIndex(of: UInt8(ascii: "/"))
    let category = UnsafeRawBufferPointer(rebasing: stream[..<(slash ?? stream.endIndex)])
    let id = UnsafeRawBufferPointer(rebasing: stream[(slash.map { $0 + 1 } ?? stream.endIndex)...])
    if let tables, !tables.contains(where: { $0.utf8.elementsEqual(category) }) { return nil }
    return (change, category, id)
  }

  /// The table and the id of the row that an event changes; nil for an event that changes none.
  static func row(
    of event: borrowing EventView, only tables: Set<String>?
  ) -> (category: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer)? {
    target(of: event, only: tables).map { ($0.category, $0.id) }
  }

  /// What an event does to the row.
  package enum Change: Sendable {
    case put, merge, delete

    private static let putName = Array(DocumentEvent.put.utf8)
    private static let mergeName = Array(DocumentEvent.merge.utf8)
    private static let deleteName = Array(DocumentEvent.delete.utf8)

    init?(_ type: UnsafeRawBufferPointer) {
      func isType(_ name: [UInt8]) -> Bool { name.withUnsafeBytes { $0.hasSameBytes(as: type) } }
      if isType(Self.putName) {
        self = .put
      } else if isType(Self.mergeName) {
        self = .merge
      } else if isType(Self.deleteName) {
        self = .delete
      } else {
        return nil
      }
    }
  }

  private static func put(
    _ payload: UnsafeRawBufferPointer, _ codec: UInt64, _ id: UnsafeRawBufferPointer, _ stamp: Stamp,
    in table: inout Table, _ scratch: FoldScratch
  ) {
    // Strata's own writers append documents in this form, which is stored as it is.
    if codec == PayloadCodec.cbor.rawValue, let first = payload.first, first & 0xE0 == 0xA0,
      CBORReader.isDeterministicDocument(payload)
    {
      return table.put(id: id, document: payload, at: stamp, scratch)
    }
    set(id, decoded(payload, codec), stamp, in: &table, scratch)
  }

  private static func merge(
    _ payload: UnsafeRawBufferPointer, _ codec: UInt64, _ id: UnsafeRawBufferPointer, _ stamp: Stamp,
    in table: inout Table, _ scratch: FoldScratch
  ) {
    let patch: DocumentValue
    switch decoded(payload, codec) {
    case .success(let value): patch = value
    case .failure(let problem): return set(id, .failure(problem), stamp, in: &table, scratch)
    }
    let old = table.withRow(id) { row -> Result<DocumentValue, RowProblem> in
      guard let row else { return .success(.object([:])) }
      do throws(CodecError) { return .success(try DocumentValue(cbor: row.document)) } catch {
        return .failure(RowProblem(what: "the document that it changes cannot be read: \(error)"))
      }
    }
    set(id, old.map { $0.applying(mergePatch: patch) }, stamp, in: &table, scratch)
  }

  /// Sets a row to a value, which must be an object. Any other value removes the row and records why.
  private static func set(
    _ id: UnsafeRawBufferPointer, _ value: Result<DocumentValue, RowProblem>, _ stamp: Stamp,
    in table: inout Table, _ scratch: FoldScratch
  ) {
    switch value {
    case .success(.object(let object)):
      DocumentValue.object(object).cbor().withUnsafeBytes { document in
        table.put(id: id, document: document, at: stamp, scratch)
      }
    case .success:
      table.refuse(id: id, because: "the result of event \(stamp.sequence) is not an object", scratch)
    case .failure(let problem):
      table.refuse(id: id, because: "event \(stamp.sequence): \(problem.what)", scratch)
    }
  }

  /// The document of a payload, or why it cannot be read.
  package static func decoded(
    _ payload: UnsafeRawBufferPointer, _ codec: UInt64
  ) -> Result<DocumentValue, RowProblem> {
    guard let codec = PayloadCodec(rawValue: codec) else {
      return .failure(RowProblem(what: "payload codec \(codec) is not known"))
    }
    do throws(StoreError) {
      return .success(try EventPayload(codec: codec, bytes: Array(payload)).document())
    } catch {
      return .failure(RowProblem(what: error.what))
    }
  }
}
