// Decodes one record, checks the event that a mapping makes of it, and encodes it as one append.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// What `ImportRowEncoder` is for records without a mapping. Used by one thread.
final class ImportRecordMapper {
  private let mapping: any ImportRecordMapping
  private let rules: ImportFieldRules
  private let options: StoreOptions
  /// Whether a record without a time is bad, as in a sort by time.
  private let needsTime: Bool
  private let difference: (any ImportTableRows)?
  private var changed = ImportChangedRows()
  private var record = CBORWriter(capacity: 4096)

  init(
    _ mapping: any ImportRecordMapping, _ rules: ImportFieldRules, needsTime: Bool,
    difference: (any ImportTableRows)?, options: StoreOptions
  ) {
    self.mapping = mapping
    self.rules = rules
    self.needsTime = needsTime
    self.difference = difference
    self.options = options
  }

  /// What a record becomes.
  ///
  /// - Parameter appendID: the append id, if the mapping leaves it to the source.
  func result(
    of bytes: UnsafeRawBufferPointer, by reader: any ImportRecordReader, appendID: () -> [UInt8]
  ) throws(ImportBadRecord) -> ImportedRecord {
    record.removeAll()
    let decoding = try reader.decode(bytes, to: &record)
    try decoding.check(rules)
    let found: ImportMappedEvent?
    do throws(ImportMappingProblem) {
      found = try record.withUnsafeBytes { record throws(ImportMappingProblem) in
        try mapping.event(of: record)
      }
      if let found { try check(found) }
    } catch {
      let place = error.field.map { reader.place(of: $0, in: bytes) } ?? (0, 1)
      throw ImportBadRecord(lineOffset: place.0, column: place.1, why: error.why)
    }
    guard let event = found else { return .passed }
    if let difference, let row = event.row, isKnown(event, row, difference) { return .same }
    return .row(
      draft(event, id: mapping.identity == .source ? appendID() : event.appendID),
      ImportRow(
        kind: event.row?.kind ?? .put, target: event.row.map { .table($0.table) } ?? .event,
        integerID: event.integerID, time: event.time, hasRounded: decoding.rounded != nil))
  }

  /// Checks what the format and the store's options ask of an event, and what only Strata itself may append.
  private func check(_ event: borrowing ImportMappedEvent) throws(ImportMappingProblem) {
    let (stream, type) = (event.stream, event.type)
    guard (1...FormatLimits.streamLengthMax).contains(stream.count) else {
      throw ImportMappingProblem(
        nil, "the stream has \(stream.count) bytes, but 1 to \(FormatLimits.streamLengthMax) are allowed")
    }
    guard stream.first != UInt8(ascii: "$") else {
      throw ImportMappingProblem(
        nil,
        "the stream \(String(reflecting: String(decoding: stream.prefix(80), as: UTF8.self))) begins with a dollar sign, "
          + "which only Strata's own do")
    }
    guard (1...FormatLimits.typeLengthMax).contains(type.utf8.count) else {
      throw ImportMappingProblem(
        nil, "the type has \(type.utf8.count) bytes, but 1 to \(FormatLimits.typeLengthMax) are allowed")
    }
    guard event.row != nil || type.utf8.first != UInt8(ascii: "$") else {
      throw ImportMappingProblem(
        nil, "the type \(String(reflecting: type)) begins with a dollar sign, which only those of rows do")
    }
    guard event.payload.count <= options.payloadSizeMax else {
      throw ImportMappingProblem(nil, "the document has more than \(options.payloadSizeMax) bytes")
    }
    guard event.metadata.count <= options.metadataSizeMax else {
      throw ImportMappingProblem(nil, "the metadata has more than \(options.metadataSizeMax) bytes")
    }
    guard event.time != nil || !needsTime else {
      throw ImportMappingProblem(nil, "the record has no time, by which it could be sorted (--sort-by-time)")
    }
  }

  /// Whether the store has the row as the record says it. What this import has changed is no longer what the store had.
  private func isKnown(
    _ event: borrowing ImportMappedEvent, _ row: (kind: ImportRow.Kind, table: String),
    _ difference: any ImportTableRows
  ) -> Bool {
    let hash = XXH64.of(event.stream)
    guard !changed.contains(hash) else { return false }
    let isEqual = event.stream.withUnsafeBytes { stream in
      let id = UnsafeRawBufferPointer(rebasing: stream[(row.table.utf8.count + 1)...])
      return event.payload.withUnsafeBytes { difference.isEqual(id, row.kind == .delete ? nil : $0) }
    }
    if !isEqual { changed.insert(hash) }
    return isEqual
  }

  private func draft(_ event: borrowing ImportMappedEvent, id: [UInt8]) -> AppendDraft {
    let draft = AppendDraft(bytesHint: event.payload.count + event.metadata.count + event.stream.count + 64)
    var type = event.type
    type.withUTF8 { type in
      event.stream.withUnsafeBytes { stream in
        event.metadata.withUnsafeBytes { metadata in
          event.payload.withUnsafeBytes { payload in
            draft.add(
              stream: stream, type: UnsafeRawBufferPointer(type), codec: event.codec, metadata: metadata,
              payload: payload)
          }
        }
      }
    }
    draft.id = id
    draft.given = event.time
    return draft
  }
}
