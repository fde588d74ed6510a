// Values of documents as JSON text, from their CBOR.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataTables

enum ExportJSON {
  /// Appends a value as `JSONWriter` writes it.
  static func append(_ value: ExportValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .int(let number):
      if number < 0 { bytes.append(UInt8(ascii: "-")) }
      JSONLine.append(number.magnitude, to: &bytes)
    case .largeInteger(let digits): bytes += digits.utf8
    case .double(let number): JSONWriter.append(.double(number), to: &bytes)
    case .text(let text): append(text: text, to: &bytes)
    case .ownText(let text): JSONWriter.append(text, to: &bytes)
    case .bytes(let content): JSONWriter.append(.bytes(Array(content)), to: &bytes)
    case .nested(let item):
      // The fold encoded the rows of a table, so they decode.
      JSONWriter.append((try? DocumentValue(cbor: item)) ?? .null, to: &bytes)
    }
  }

  /// Appends UTF-8 as a string in quotes.
  static func append(text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    let isPlain = text.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    guard isPlain else { return JSONWriter.append(String(decoding: text, as: UTF8.self), to: &bytes) }
    bytes.append(UInt8(ascii: "\""))
    bytes += text
    bytes.append(UInt8(ascii: "\""))
  }

  /// What a value has that JSON has no form for, so that it is written as an object that stays one when it is read: the
  /// first of it, for people; nil if there is nothing. O(items).
  static func lack(in item: UnsafeRawBufferPointer) -> String? {
    // The items of a container follow its head, so no level of nesting has to be known.
    var offset = 0
    var isBigInteger = false
    while offset < item.count {
      guard let head = CBORItem(item, at: offset) else { return nil }
      offset += head.headLength
      switch head.major {
      case 2:
        if !isBigInteger { return "bytes" }
        offset += Int(min(head.argument, UInt64(item.count)))
      case 3: offset += Int(min(head.argument, UInt64(item.count)))
      case 6:
        guard head.argument == 2 || head.argument == 3 else { return "a tag" }
      case 7:
        if let number = head.float, !number.isFinite { return number.isNaN ? "NaN" : "an infinity" }
      default: break
      }
      isBigInteger = head.major == 6
    }
    return nil
  }
}
