// A table as CSV (RFC 4180), or with tabs: a header, and one record for each row.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataTables

/// Writes the columns of rows. A text is as it is, a number, true and false as in JSON, what is nested as JSON. A missing
/// value is an empty field, the empty text one in quotes, and null what `null` says. A text that could be read as another
/// value is in quotes too, for readers that look at them.
struct TableCSV {
  let columns: ExportColumns
  let form: CSVText
  /// What null is written as; the empty text for the same as a missing value.
  let null: [UInt8]
  /// What ends a record.
  let lineEnd: [UInt8]
  private var scratch: [UInt8] = []

  init(_ columns: ExportColumns, _ form: CSVText, null: String, usesCRLF: Bool) {
    (self.columns, self.form) = (columns, form)
    self.null = Array(null.utf8)
    lineEnd = usesCRLF ? [0x0D, 0x0A] : [0x0A]
  }

  func appendHeader(to bytes: inout [UInt8]) {
    for (index, name) in columns.names.enumerated() {
      if index > 0 { bytes.append(form.separator) }
      form.append(name, quoted: name.isEmpty, to: &bytes)
    }
    bytes += lineEnd
  }

  mutating func append(_ row: RowView, section: DocumentValue?, to bytes: inout [UInt8])
    throws(CommandFailure)
  {
    try columns.read(row, section: section)
    for (index, cell) in columns.cells.enumerated() {
      if index > 0 { bytes.append(form.separator) }
      if let cell { append(cell, to: &bytes) }
    }
    bytes += lineEnd
  }

  private mutating func append(_ value: ExportValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes += null
    case .text(let text): form.append(text, quoted: needsQuotes(text), to: &bytes)
    case .ownText(var text):
      text.withUTF8 { text in
        let text = UnsafeRawBufferPointer(text)
        form.append(text, quoted: needsQuotes(text), to: &bytes)
      }
    case .double(let number) where !number.isFinite:
      bytes += (number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity").utf8
    case .bytes, .nested:
      scratch.removeAll(keepingCapacity: true)
      ExportJSON.append(value, to: &scratch)
      scratch.withUnsafeBytes { form.append($0, to: &bytes) }
    case .bool, .int, .largeInteger, .double: ExportJSON.append(value, to: &bytes)
    }
  }

  /// Whether a text without quotes could be taken for another value, or lose its spaces.
  private func needsQuotes(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = text.first, let last = text.last else { return true }
    if first <= 0x20 || last <= 0x20 { return true }
    switch first {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
      UInt8(ascii: "["), UInt8(ascii: "{"):
      return true
    default: return text.elementsEqual(null) || Self.words.contains { text.elementsEqual($0) }
    }
  }

  private static let words = ["true", "false", "null", "NaN", "Infinity"].map { Array($0.utf8) }

  /// Whether a text without quotes may be a number, true, false or something nested: null must be neither.
  static func isValue(_ text: String) -> Bool {
    text == "true" || text == "false" || text.hasPrefix("[") || text.hasPrefix("{") || Double(text) != nil
  }
}
