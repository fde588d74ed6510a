// Checks one line of JSON and encodes it, without loss, as one append.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// A line that cannot be imported.
struct ImportBadLine: Error, Equatable {
  /// The column, from 1, in characters.
  var column: Int
  var why: String
}

/// Turns lines into drafts of appends.
struct ImportLineEncoder: ~Copyable {
  let table: String
  let idField: String
  let timeField: String?
  /// The type of the events: `$put` or `$merge`.
  let type: String
  let payloadSizeMax: Int
  /// Whether numbers that no double keeps are rounded, and not bad.
  let roundsNumbers: Bool
  /// Whether a number of the last line was rounded.
  private(set) var hasRounded = false
  /// The last line's id, and its kind if its text is that of an integer.
  private(set) var id: (text: String, kind: ImportIDKinds.Kind?) = ("", nil)
  private var payload = CBORWriter(capacity: 4096)
  private let noMetadata = UnsafeRawBufferPointer(start: nil, count: 0)

  init(_ choices: ImportLines.Choices, options: StoreOptions) {
    table = choices.table
    idField = choices.idField
    timeField = choices.timeField
    type = choices.isMerge ? DocumentEvent.merge : DocumentEvent.put
    payloadSizeMax = options.payloadSizeMax
    roundsNumbers = choices.roundsNumbers
  }

  /// The append for a line, with its id and its time.
  mutating func draft(
    _ line: UnsafeRawBufferPointer, appendID: [UInt8]
  ) throws(ImportBadLine) -> AppendDraft {
    let value: DocumentValue
    var rounded: (column: Int, value: Double)?
    do throws(JSONError) { value = try DocumentValue(json: line, rounded: &rounded) } catch {
      throw ImportBadLine(column: error.column, why: error.explanation)
    }
    guard case .object(let object) = value else {
      let column = ImportJSONPlace.firstColumn(in: line)
      throw ImportBadLine(column: column, why: "the line is not an object")
    }
    if let rounded, !roundsNumbers {
      throw ImportBadLine(
        column: rounded.column,
        why:
          "a number that a double cannot hold; the nearest one is \(rounded.value) (--round-numbers takes it)"
      )
    }
    hasRounded = rounded != nil
    id = (try id(in: object, line), object[idField].flatMap { ImportIDKinds.Kind(of: $0) })
    let stream = "\(table)/\(id.text)"
    guard stream.utf8.count <= FormatLimits.streamLengthMax else {
      throw bad(idField, line, "table and id have \(stream.utf8.count) bytes, but at most 1024 are allowed")
    }
    let time = try time(in: object, line)
    payload.removeAll()
    payload.write(value)
    let draft = payload.withUnsafeBytes { bytes -> AppendDraft? in
      guard bytes.count <= payloadSizeMax else { return nil }
      let draft = AppendDraft(bytesHint: bytes.count + stream.utf8.count + 64)
      Self.add(type, stream, bytes, noMetadata, to: draft)
      return draft
    }
    guard let draft else {
      throw ImportBadLine(column: 1, why: "the document has more than \(payloadSizeMax) bytes")
    }
    draft.id = appendID
    draft.given = time?.nanoseconds
    return draft
  }

  /// Adds an event whose payload is CBOR.
  static func add(
    _ type: String, _ stream: String, _ payload: UnsafeRawBufferPointer, _ metadata: UnsafeRawBufferPointer,
    to draft: AppendDraft
  ) {
    var type = type
    var stream = stream
    stream.withUTF8 { stream in
      type.withUTF8 { type in
        draft.add(
          stream: UnsafeRawBufferPointer(stream), type: UnsafeRawBufferPointer(type),
          codec: PayloadCodec.cbor.rawValue, metadata: metadata, payload: payload)
      }
    }
  }

  private func id(
    in object: DocumentObject, _ line: UnsafeRawBufferPointer
  ) throws(ImportBadLine) -> String {
    switch object[idField] {
    case nil:
      throw ImportBadLine(
        column: ImportJSONPlace.firstColumn(in: line),
        why: "the id field \(String(reflecting: idField)) is missing")
    case .string(""):
      throw bad(idField, line, "the id field \(String(reflecting: idField)) is empty")
    case .string(let text): return text
    case .int(let number): return String(number)
    case .uint(let number): return String(number)
    case .bigInt(let number): return number.description
    default:
      throw bad(
        idField, line, "the id field \(String(reflecting: idField)) is neither a string nor an integer")
    }
  }

  private func time(
    in object: DocumentObject, _ line: UnsafeRawBufferPointer
  ) throws(ImportBadLine) -> Timestamp? {
    guard let timeField else { return nil }
    switch object[timeField] {
    case nil:
      throw ImportBadLine(
        column: ImportJSONPlace.firstColumn(in: line),
        why: "the time field \(String(reflecting: timeField)) is missing")
    case .string(let text):
      guard let time = Timestamp(text) else {
        throw bad(
          timeField, line,
          "\(String(reflecting: text)) is not a time with an offset (RFC 3339) from 1677-09-21 to 2262-04-11")
      }
      return time
    default:
      throw bad(timeField, line, "the time field \(String(reflecting: timeField)) is not a string")
    }
  }

  /// A problem with the value of a field.
  private func bad(_ field: String, _ line: UnsafeRawBufferPointer, _ why: String) -> ImportBadLine {
    ImportBadLine(column: ImportJSONPlace.column(ofValue: field, in: line), why: why)
  }
}

/// Finds columns in a line that is known to be a JSON value, for messages.
enum ImportJSONPlace {
  /// The column of the first character that is not white space.
  static func firstColumn(in line: UnsafeRawBufferPointer) -> Int {
    (line.firstIndex { $0 > 0x20 } ?? 0) + 1
  }

  /// The column of the value of a key in the outermost object; 1 if the key is not found.
  static func column(ofValue key: String, in line: UnsafeRawBufferPointer) -> Int {
    var depth = 0
    var index = 0
    var isKey = false
    while index < line.count {
      switch line[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        isKey = depth == 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ","): isKey = depth == 1
      case UInt8(ascii: "\""):
        let end = endOfString(at: index, in: line)
        if isKey, isString(line, index..<end, key) { return valueColumn(after: end, in: line) }
        isKey = false
        index = end - 1
      default: break
      }
      index += 1
    }
    return 1
  }

  private static func endOfString(at start: Int, in line: UnsafeRawBufferPointer) -> Int {
    var index = start + 1
    while index < line.count, line[index] != UInt8(ascii: "\"") {
      index += line[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, line.count)
  }

  private static func isString(_ line: UnsafeRawBufferPointer, _ range: Range<Int>, _ text: String) -> Bool {
    guard case .string(let found)? = try? DocumentValue(json: UnsafeRawBufferPointer(rebasing: line[range]))
    else { return false }
    return found.utf8.elementsEqual(text.utf8)
  }

  private static func valueColumn(after key: Int, in line: UnsafeRawBufferPointer) -> Int {
    let place = line[key...].firstIndex { $0 > 0x20 && $0 != UInt8(ascii: ":") } ?? key
    return 1 + line[..<place].count { $0 & 0xC0 != 0x80 }
  }
}
