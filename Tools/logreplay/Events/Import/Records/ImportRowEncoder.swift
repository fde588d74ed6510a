// Checks one record and encodes it, without loss, as one append.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// Turns records into rows, and rows into drafts of appends.
struct ImportRowEncoder: ~Copyable {
  let rules: ImportFieldRules
  private let payloadSizeMax: Int
  private let metadataSizeMax: Int
  /// The row of the record that was encoded last. Its document is `payload`.
  private(set) var row = ImportRow()
  private(set) var payload = CBORWriter(capacity: 4096)
  /// The name of the last row's stream: the table, a slash, and the id.
  private(set) var stream: [UInt8]
  private let streamPrefixLength: Int
  private var metadata: [UInt8] = []
  /// The document of an event that deletes a row.
  private static let noDocument: [UInt8] = DocumentValue.null.cbor()

  init(_ rules: ImportFieldRules, options: StoreOptions) {
    self.rules = rules
    payloadSizeMax = options.payloadSizeMax
    metadataSizeMax = options.metadataSizeMax
    stream = Array("\(rules.table)/".utf8)
    streamPrefixLength = stream.count
  }

  /// Checks a record and encodes it: `row` and `payload` are then those of this record.
  mutating func encode(
    _ bytes: UnsafeRawBufferPointer, by reader: any ImportRecordReader
  ) throws(ImportBadRecord) {
    payload.removeAll()
    let decoding = try reader.decode(bytes, to: &payload)
    try decoding.check(rules)
    row.hasRounded = decoding.rounded != nil
    try takeID(bytes, reader)
    guard stream.count <= FormatLimits.streamLengthMax else {
      throw bad(
        rules.id, bytes, reader, "table and id have \(stream.count) bytes, but at most 1024 are allowed")
    }
    row.time = try time(bytes, reader)
    row.kind = payload.withUnsafeBytes { document in
      stream.withUnsafeBytes { name in
        rules.kind(of: document, id: UnsafeRawBufferPointer(rebasing: name[streamPrefixLength...]))
      }
    }
    guard payload.count <= payloadSizeMax || row.kind == .delete else {
      throw ImportBadRecord(column: 1, why: "the document has more than \(payloadSizeMax) bytes")
    }
    metadata = payload.withUnsafeBytes { rules.metadata.bytes(of: $0) }
    guard metadata.count <= metadataSizeMax else {
      throw ImportBadRecord(column: 1, why: "the metadata has more than \(metadataSizeMax) bytes")
    }
  }

  /// Whether the store has what the record that was encoded last would make of the row.
  func isEqual(_ difference: any ImportTableRows) -> Bool {
    stream.withUnsafeBytes { name in
      let id = UnsafeRawBufferPointer(rebasing: name[streamPrefixLength...])
      return payload.withUnsafeBytes { difference.isEqual(id, row.kind == .delete ? nil : $0) }
    }
  }

  /// The append for the record that was encoded last.
  func draft(appendID: [UInt8]) -> AppendDraft {
    let draft = AppendDraft(bytesHint: payload.count + stream.count + 64)
    payload.withUnsafeBytes { document in
      stream.withUnsafeBytes { stream in
        metadata.withUnsafeBytes { metadata in
          if row.kind == .delete {
            Self.noDocument.withUnsafeBytes { Self.add(row.kind.type, stream, $0, metadata, to: draft) }
          } else {
            Self.add(row.kind.type, stream, document, metadata, to: draft)
          }
        }
      }
    }
    draft.id = appendID
    draft.given = row.time
    return draft
  }

  /// The id of the row that was encoded last.
  var id: ArraySlice<UInt8> { stream[streamPrefixLength...] }

  /// The append that puts a document which was encoded before, or deletes a row where there is none.
  func draft(of id: [UInt8], _ document: UnsafeRawBufferPointer?) -> AppendDraft {
    let name = stream[..<streamPrefixLength] + id
    let draft = AppendDraft(bytesHint: (document?.count ?? 0) + name.count + 64)
    name.withUnsafeBytes { name in
      Self.noDocument.withUnsafeBytes { nothing in
        rules.metadata.bytes(of: document ?? nothing).withUnsafeBytes { metadata in
          let kind = document == nil ? ImportRow.Kind.delete : .put
          Self.add(kind.type, name, document ?? nothing, metadata, to: draft)
        }
      }
    }
    return draft
  }

  /// Adds an event whose payload is CBOR.
  static func add(
    _ type: String, _ stream: String, _ payload: UnsafeRawBufferPointer, _ metadata: UnsafeRawBufferPointer,
    to draft: AppendDraft
  ) {
    var stream = stream
    stream.withUTF8 { add(type, UnsafeRawBufferPointer($0), payload, metadata, to: draft) }
  }

  private static func add(
    _ type: String, _ stream: UnsafeRawBufferPointer, _ payload: UnsafeRawBufferPointer,
    _ metadata: UnsafeRawBufferPointer, to draft: AppendDraft
  ) {
    var type = type
    type.withUTF8 { type in
      draft.add(
        stream: stream, type: UnsafeRawBufferPointer(type), codec: PayloadCodec.cbor.rawValue,
        metadata: metadata, payload: payload)
    }
  }

  // MARK: Fields

  /// Takes the row's id out of the document.
  private mutating func takeID(
    _ bytes: UnsafeRawBufferPointer, _ reader: any ImportRecordReader
  ) throws(ImportBadRecord) {
    let field = rules.id
    var stream: [UInt8] = []
    swap(&stream, &self.stream)
    stream.removeLast(stream.count - streamPrefixLength)
    var integerID: (String, ImportIDKinds.Kind)?
    var problem: String?
    payload.withUnsafeBytes { document in
      guard let value = field.find(in: document) else {
        problem = "is missing"
        return
      }
      if let text = CBORFields.text(of: value) {
        if text.isEmpty { problem = "is empty" }
        stream += text
        if ImportIDKinds.isInteger(text) { integerID = (String(decoding: text, as: UTF8.self), .text) }
      } else if let number = Self.integer(value) {
        stream += number.utf8
        integerID = (number, .integer)
      } else {
        problem = "is neither a string nor an integer"
      }
    }
    self.stream = stream
    row.integerID = integerID
    if let problem {
      throw bad(rules.id, bytes, reader, "the id field \(String(reflecting: rules.id.text)) \(problem)")
    }
  }

  private static func integer(_ value: UnsafeRawBufferPointer) -> String? {
    switch try? DocumentValue(cbor: value) {
    case .int(let number): String(number)
    case .uint(let number): String(number)
    case .bigInt(let number): number.description
    default: nil
    }
  }

  private func time(
    _ bytes: UnsafeRawBufferPointer, _ reader: any ImportRecordReader
  ) throws(ImportBadRecord) -> Int64? {
    guard let field = rules.time else { return nil }
    let format = rules.timeFormat
    let time: Result<Int64, ImportTimeProblem>? = payload.withUnsafeBytes { document in
      field.find(in: document).map { value in
        Result { () throws(ImportTimeProblem) in try format.nanoseconds(value) }
      }
    }
    guard let time else {
      throw bad(field, bytes, reader, "the time field \(String(reflecting: field.text)) is missing")
    }
    switch time {
    case .success(let time): return time
    case .failure(let problem): throw bad(field, bytes, reader, problem.why(of: field.text))
    }
  }

  /// A problem with the value of a field.
  private func bad(
    _ field: ImportFieldPath, _ bytes: UnsafeRawBufferPointer, _ reader: any ImportRecordReader, _ why: String
  ) -> ImportBadRecord {
    let place = reader.place(of: field, in: bytes)
    return ImportBadRecord(lineOffset: place.lineOffset, column: place.column, why: why)
  }
}
