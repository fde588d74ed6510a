// A value as formats of tables tell values apart.

internal import StrataDocuments
internal import StrataEvents
internal import StrataTables

/// A value of a document, borrowed from the document's bytes.
enum ExportValue {
  case null
  case bool(Bool)
  case int(Int64)
  /// The digits of an integer beyond 64 bits with a sign.
  case largeInteger(String)
  case double(Double)
  /// UTF-8.
  case text(UnsafeRawBufferPointer)
  /// A text that is no part of the document.
  case ownText(String)
  case bytes(UnsafeRawBufferPointer)
  /// An array, an object, or a value with a tag, as CBOR.
  case nested(UnsafeRawBufferPointer)

  /// - Parameter item: exactly one item of a row's document, which the fold has encoded.
  init(_ item: UnsafeRawBufferPointer) {
    guard let head = CBORItem(item) else {
      self = .null
      return
    }
    switch head.major {
    case 0 where head.argument <= UInt64(Int64.max): self = .int(Int64(head.argument))
    case 0: self = .largeInteger(String(head.argument))
    case 1 where head.argument <= UInt64(Int64.max): self = .int(-1 - Int64(head.argument))
    case 2:
      if !head.isIndefinite, let content = head.content(in: item) {
        self = .bytes(content)
      } else {
        self = .nested(item)
      }
    case 3:
      if !head.isIndefinite, let content = head.content(in: item) {
        self = .text(content)
      } else {
        self = .nested(item)
      }
    case 1, 6:
      if let value = try? DocumentValue(cbor: item), case .bigInt(let number) = value {
        self = .largeInteger(number.description)
      } else {
        self = .nested(item)
      }
    case 7 where head.info == 20: self = .bool(false)
    case 7 where head.info == 21: self = .bool(true)
    case 7 where head.info == 22: self = .null
    case 7: self = head.float.map { ExportValue.double($0) } ?? .nested(item)
    default: self = .nested(item)
    }
  }

  /// A value that is no part of the document: that of a section, which is no array and no object.
  init(owned value: DocumentValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .int(let number): self = .int(number)
    case .double(let number): self = .double(number)
    case .string(let text): self = .ownText(text)
    case .uint(let number): self = .largeInteger(String(number))
    case .bigInt(let number): self = .largeInteger(number.description)
    case .bytes, .array, .object, .tagged: self = .ownText(value.json())
    }
  }

  /// The value that a path names in a row; nil if the row does not have it.
  init?(_ path: FieldPath, of row: RowView) {
    switch path.subject {
    case .id: self = .text(row.id)
    case .revision: self = .int(Int64(clamping: row.revision))
    case .time: self = .ownText(Timestamp(nanoseconds: row.time).description)
    case .section: return nil
    case .field:
      guard let item = path.find(in: row.document) else { return nil }
      self.init(item)
    }
  }
}

extension ExportValue {
  /// Whether this is the id of a row: the same text, or an integer with that text.
  func isID(_ id: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .text(let text): text.hasSameBytes(as: id)
    case .int(let number):
      // Most fields are decided by one byte.
      number == 0 || id.first == Self.firstByte(of: number) ? String(number).utf8.elementsEqual(id) : false
    case .largeInteger(let digits): digits.utf8.elementsEqual(id)
    default: false
    }
  }

  private static func firstByte(of number: Int64) -> UInt8 {
    guard number >= 0 else { return UInt8(ascii: "-") }
    var rest = number
    while rest > 9 { rest /= 10 }
    return UInt8(ascii: "0") + UInt8(rest)
  }
}
