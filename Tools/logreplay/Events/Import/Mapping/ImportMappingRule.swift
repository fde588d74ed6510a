// One rule of a mapping: which records it is for, and what it makes of them.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents

/// What a mapping says of the records that match a condition.
struct ImportMappingRule: Sendable {
  /// What a record is.
  enum Kind: Sendable {
    case skip
    case row(Row)
    case event(stream: ImportMappedValue, type: ImportMappedValue)
  }

  struct Row: Sendable {
    var table: ImportMappedValue
    var id: ImportMappedValue
    var isMerge = false
    var mergeWhen: ImportCondition?
    var deleteWhen: ImportCondition?
    /// The field that says whether the row is deleted.
    var deleted: ImportFieldPath?
  }

  var when: ImportCondition?
  var kind: Kind
  var time: ImportMappedValue?
  var timeFormat = ImportTimeFormat()
  /// What the row or the event consists of; nil for the whole record.
  var document: ImportMappedValue?
  var metadata: [(name: String, value: ImportMappedValue)] = []

  func applies(to record: UnsafeRawBufferPointer) -> Bool { when.map { $0.matches(record) } ?? true }

  /// The event of a record that the rule applies to; nil if it is to be passed over.
  func event(of record: UnsafeRawBufferPointer) throws(ImportMappingProblem) -> ImportMappedEvent? {
    var event: ImportMappedEvent
    switch kind {
    case .skip: return nil
    case .row(let row): event = try self.row(row, of: record)
    case .event(let stream, let type):
      let name = try stream.text(of: record, "the stream") ?? []
      let type = try type.text(of: record, "the type") ?? []
      event = ImportMappedEvent(stream: name, type: String(decoding: type, as: UTF8.self))
      try setPayload(of: &event, record)
    }
    event.metadata = try metadata(of: record)
    event.time = try time(of: record)
    return event
  }

  private func row(
    _ row: Row, of record: UnsafeRawBufferPointer
  ) throws(ImportMappingProblem) -> ImportMappedEvent {
    let name = try row.table.text(of: record, "the table") ?? []
    let table = String(decoding: name, as: UTF8.self)
    guard TableName.isOne(table) else {
      throw ImportMappingProblem(
        row.table.fields.first, "\(String(reflecting: table)) is not a table's name")
    }
    let id = try row.id.text(of: record, "the id") ?? []
    guard !id.isEmpty else { throw ImportMappingProblem(row.id.fields.first, "the id is empty") }
    let kind = try id.lendBytes { id throws(ImportMappingProblem) in try rowKind(row, record, id: id) }
    var event = ImportMappedEvent(
      stream: name + [UInt8(ascii: "/")] + id, type: kind.type, row: (kind, table))
    if case .field(let path) = row.id.form, ImportIDKinds.isInteger(id) {
      let isText = path.find(in: record).map { CBORFields.text(of: $0) != nil } ?? true
      event.integerID = (String(decoding: id, as: UTF8.self), isText ? .text : .integer)
    }
    guard kind != .delete else {
      event.payload = DocumentValue.null.cbor()
      return event
    }
    try setPayload(of: &event, record)
    let isObject = event.payload.withUnsafeBytes { JSONTranscoder.isMap($0) }
    guard isObject, event.codec == PayloadCodec.cbor.rawValue else {
      throw ImportMappingProblem(document?.fields.first, "the document is not an object")
    }
    return event
  }

  private func rowKind(
    _ row: Row, _ record: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer
  ) throws(ImportMappingProblem) -> ImportRow.Kind {
    if let condition = row.deleteWhen, condition.matches(record, id: id) { return .delete }
    if let path = row.deleted, let value = path.find(in: record) {
      switch try? DocumentValue(cbor: value) {
      case .bool(true): return .delete
      case .bool(false), .null: break
      default:
        throw ImportMappingProblem(
          path,
          "the field \(String(reflecting: path.text)), which says what is deleted, is neither true nor false")
      }
    }
    if let condition = row.mergeWhen, condition.matches(record, id: id) { return .merge }
    return row.isMerge ? .merge : .put
  }

  private func setPayload(
    of event: inout ImportMappedEvent, _ record: UnsafeRawBufferPointer
  ) throws(ImportMappingProblem) {
    guard let document else {
      event.payload = Array(record)
      return
    }
    switch try document.content(of: record, "the document") {
    case .cbor(let bytes): event.payload = bytes
    case .bytes(let bytes): (event.payload, event.codec) = (bytes, PayloadCodec.bytes.rawValue)
    case nil: break
    }
  }

  private func metadata(of record: UnsafeRawBufferPointer) throws(ImportMappingProblem) -> [UInt8] {
    var object = DocumentObject()
    for (name, value) in metadata {
      switch try value.content(of: record, "the metadata \(String(reflecting: name))") {
      case .cbor(let bytes): object[name] = try? DocumentValue(cbor: bytes)
      case .bytes(let bytes): object[name] = .bytes(bytes)
      case nil: break
      }
    }
    return object.count == 0 ? [] : DocumentValue.object(object).cbor()
  }

  private func time(of record: UnsafeRawBufferPointer) throws(ImportMappingProblem) -> Int64? {
    guard let time, case .field(let path) = time.form else { return nil }
    let value = path.find(in: record)
    if time.isOptional, value.map({ $0.elementsEqual(DocumentValue.null.cbor()) }) ?? true { return nil }
    guard let value else {
      throw ImportMappingProblem(path, "the time field \(String(reflecting: path.text)) is missing")
    }
    do throws(ImportTimeProblem) { return try timeFormat.nanoseconds(value) } catch {
      throw ImportMappingProblem(path, error.why(of: path.text))
    }
  }
}
