// Values as SQL that SQLite reads back exactly.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataTables

extension SQLText {
  /// Appends a value; false, and nothing, for NaN, which SQLite does not have.
  static func append(_ value: ExportValue?, scratch: inout [UInt8], to bytes: inout [UInt8]) -> Bool {
    switch value {
    case nil, .null: bytes += "NULL".utf8
    case .bool(let value): bytes.append(value ? UInt8(ascii: "1") : UInt8(ascii: "0"))
    case .int(let number):
      if number < 0 { bytes.append(UInt8(ascii: "-")) }
      JSONLine.append(number.magnitude, to: &bytes)
    case .largeInteger(let digits):
      bytes.append(0x27)
      bytes += digits.utf8
      bytes.append(0x27)
    case .double(let number):
      guard !number.isNaN else { return false }
      SQLReal.append(number, to: &bytes)
    case .text(let text): append(text: text, to: &bytes)
    case .ownText(var text): text.withUTF8 { append(text: UnsafeRawBufferPointer($0), to: &bytes) }
    case .bytes(let content):
      appendBlob(content, to: &bytes)
    case .nested:
      scratch.removeAll(keepingCapacity: true)
      if let value { ExportJSON.append(value, to: &scratch) }
      scratch.withUnsafeBytes { append(text: $0, to: &bytes) }
    }
    return true
  }
}
