// A mapping: which field of a record is what, as a file of JSON says it, for the records of every format.

internal import StrataBase
internal import StrataDocuments

/// What `--mapping` names.
///
/// The first rule that applies to a record says what it is. A record that none applies to is bad.
struct ImportMapping: ImportRecordMapping {
  var rules: [ImportMappingRule]
  var identity = ImportIdentity.source
  /// The append id of a record, if it says one.
  var appendID: ImportMappedValue?
  /// Whether arrays of numbers from 0 to 255 are bytes.
  var readsByteArrays = false

  var hasTimes: Bool { rules.contains { $0.time != nil } }

  /// The name of the table, if all rows are in one.
  var onlyTable: String? {
    var name: String?
    for rule in rules {
      switch rule.kind {
      case .skip: continue
      case .event: return nil
      case .row(let row):
        guard let table = row.table.constantText, table == name ?? table else { return nil }
        name = table
      }
    }
    return name
  }

  /// Whether a rule makes merge patches of records.
  var merges: Bool {
    rules.contains { if case .row(let row) = $0.kind { row.isMerge || row.mergeWhen != nil } else { false } }
  }

  /// The field of the id, if every row has the same one.
  var onlyID: ImportFieldPath? {
    var path: ImportFieldPath?
    for rule in rules {
      guard case .row(let row) = rule.kind else { continue }
      guard case .field(let id) = row.id.form, id == path ?? id else { return nil }
      path = id
    }
    return path
  }

  var fields: [ImportFieldPath] {
    var values: [ImportMappedValue] = appendID.map { [$0] } ?? []
    for rule in rules {
      values += rule.texts + [rule.time, rule.document].compactMap { $0 } + rule.metadata.map(\.value)
    }
    return values.filter { !$0.isOptional }.flatMap(\.fields)
  }

  var textFields: [ImportFieldPath] {
    (rules.flatMap(\.texts) + (appendID.map { [$0] } ?? [])).flatMap(\.fields)
  }

  func event(of record: UnsafeRawBufferPointer) throws(ImportMappingProblem) -> ImportMappedEvent? {
    guard readsByteArrays, let bytes = Self.withBytes(record) else { return try ruled(record) }
    return try bytes.lendBytes { record throws(ImportMappingProblem) in try ruled(record) }
  }

  private func ruled(_ record: UnsafeRawBufferPointer) throws(ImportMappingProblem) -> ImportMappedEvent? {
    guard let rule = rules.first(where: { $0.applies(to: record) }) else {
      throw ImportMappingProblem(nil, "no rule of the mapping applies to the record (when)")
    }
    guard var event = try rule.event(of: record) else { return nil }
    if let appendID {
      guard let text = try appendID.text(of: record, "the append id"), !text.isEmpty else {
        throw ImportMappingProblem(appendID.fields.first, "the append id is empty")
      }
      event.appendID = ImportAppendID.of(text)
    }
    // Ids of several tables cannot be taken for each other.
    if onlyTable == nil { event.integerID = nil }
    return event
  }

  // MARK: Bytes

  /// The record with bytes in place of arrays of their numbers, also of arrays in an array; nil if there are none.
  private static func withBytes(_ record: UnsafeRawBufferPointer) -> [UInt8]? {
    guard case .object(var object)? = try? DocumentValue(cbor: record) else { return nil }
    var hasBytes = false
    for (key, value) in object {
      guard case .array(let array) = value else { continue }
      if let bytes = bytes(array) {
        object[key] = .bytes(bytes)
        hasBytes = true
        continue
      }
      let parts = array.map { part -> DocumentValue in
        guard case .array(let inner) = part, let bytes = bytes(inner) else { return part }
        hasBytes = true
        return .bytes(bytes)
      }
      object[key] = .array(DocumentArray(parts))
    }
    return hasBytes ? DocumentValue.object(object).cbor() : nil
  }

  private static func bytes(_ array: DocumentArray) -> [UInt8]? {
    guard array.count > 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(array.count)
    for value in array {
      guard case .int(let number) = value, let byte = UInt8(exactly: number) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}

extension ImportMappingRule {
  /// The values that are names or ids.
  fileprivate var texts: [ImportMappedValue] {
    switch kind {
    case .skip: []
    case .row(let row): [row.table, row.id]
    case .event(let stream, let type): [stream, type]
    }
  }
}
