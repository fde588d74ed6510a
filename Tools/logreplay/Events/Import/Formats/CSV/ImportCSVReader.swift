// Reads comma separated values (RFC 4180), or with another separator: a header, and a document for each row.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments

/// The rows of a text whose first one names the fields.
///
/// A field without quotes is a number if it is how that number is printed (`ImportNumberText`), null if it is empty, and
/// else a text; a field in quotes is a text, also where it is empty. The id is a text always. A row is numbered among
/// the rows after the header; blank lines are passed over.
final class ImportCSVReader: ImportRecordReader {
  /// What is the same for all rows.
  struct Choices {
    var separator = UInt8(ascii: ",")
    var types: [String: ImportColumnType] = [:]
    var fields: ImportFieldRules
  }

  let noun = "row"
  let window: ImportWindow
  let header: ImportCSVHeader
  private let choices: Choices
  private let lengthMax: Int
  /// The columns that are ids, or other names.
  private let textColumns: Set<Int>
  private var number: UInt64 = 0
  private(set) var endsInLine = false
  private var line: UInt64 = 1
  private var row = ImportCSVRow()
  private var text: [UInt8] = []

  /// Reads the header. Blocks until it is there.
  init(_ input: ImportInput, _ choices: Choices, lengthMax: Int) throws(CommandFailure) {
    window = ImportWindow(input)
    self.choices = choices
    self.lengthMax = lengthMax
    let place = "\(input.name):1"
    var found = try Self.nextRow(window, separator: choices.separator, lengthMax: lengthMax)
    while let row = found, row.isBlank {
      line += row.lineFeeds
      found = try Self.nextRow(window, separator: choices.separator, lengthMax: lengthMax)
    }
    guard let first = found else {
      throw CommandFailure(
        ExitStatus.corrupt, "there is no header", at: place, next: "name the fields in the first line")
    }
    guard !first.isTooLong else {
      throw CommandFailure(
        ExitStatus.corrupt, "the header has more than \(lengthMax) bytes", at: place,
        next: "check that this is text with a line for each row")
    }
    var bytes = first.bytes
    if bytes.starts(with: ImportLineReader.byteOrderMark) {
      bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(ImportLineReader.byteOrderMark.count))
    }
    line += first.lineFeeds
    header = try ImportCSVHeader(bytes, separator: choices.separator, types: choices.types, at: place)
    let fields = choices.fields
    if let mapping = fields.mapping {
      for field in mapping.fields { try header.check(field, option: "--mapping") }
      textColumns = Set(mapping.textFields.compactMap { [keys = header.keys] in keys.position(of: $0) })
      return
    }
    try header.check(fields.id, option: "--id")
    if let time = fields.time { try header.check(time, option: "--time") }
    for field in fields.metadata.fields { try header.check(field, option: "--meta") }
    textColumns = Set([header.keys.position(of: fields.id)].compactMap { $0 })
  }

  func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 { XXH64.of(bytes) ^ header.hash }

  func next() throws(CommandFailure) -> ImportRecord? {
    while let row = try Self.nextRow(window, separator: choices.separator, lengthMax: lengthMax) {
      let begin = line
      line += row.lineFeeds
      if row.isBlank { continue }
      endsInLine = row.isUnended
      number += 1
      return ImportRecord(
        number: number, line: begin, bytes: row.bytes, raw: row.bytes, isTooLong: row.isTooLong)
    }
    return nil
  }

  private struct Framed {
    var bytes: UnsafeRawBufferPointer
    var isTooLong: Bool
    /// The number of line feeds in the row and at its end.
    var lineFeeds: UInt64
    /// Whether the input ended before the row did.
    var isUnended = false

    var isBlank: Bool { !isTooLong && bytes.isEmpty }
  }

  /// The next row, without its line end; nil at the end.
  private static func nextRow(
    _ window: ImportWindow, separator: UInt8, lengthMax: Int
  ) throws(CommandFailure) -> Framed? {
    var framing = ImportCSVFraming(separator: separator)
    var isTooLong = false
    while true {
      var bytes = window.bytes
      let feed = framing.endOfRow(in: bytes)
      if let feed {
        window.take(feed + 1)
        bytes = UnsafeRawBufferPointer(rebasing: bytes[..<feed])
        if bytes.last == 0x0D { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropLast()) }
        isTooLong = isTooLong || feed > lengthMax
        return Framed(
          bytes: isTooLong ? UnsafeRawBufferPointer(rebasing: bytes.prefix(0)) : bytes,
          isTooLong: isTooLong, lineFeeds: framing.lineFeeds + 1)
      }
      if isTooLong || bytes.count > lengthMax {
        isTooLong = true
        window.take(bytes.count)
        framing.dropSearched()
      }
      guard try window.fill() else {
        bytes = window.bytes
        guard isTooLong || !bytes.isEmpty else { return nil }
        window.take(bytes.count)
        if bytes.last == 0x0D, !framing.isInQuotes {
          bytes = UnsafeRawBufferPointer(rebasing: bytes.dropLast())
        }
        return Framed(
          bytes: bytes, isTooLong: isTooLong, lineFeeds: framing.lineFeeds, isUnended: true)
      }
    }
  }

  func place(
    of field: ImportFieldPath, in bytes: UnsafeRawBufferPointer
  ) -> (lineOffset: UInt64, column: Int) {
    guard let index = header.keys.position(of: field),
      (try? row.split(bytes, separator: choices.separator)) != nil, index < row.fields.count
    else { return (0, 1) }
    return place(ofField: index, in: bytes)
  }

  private func place(
    ofField index: Int, in bytes: UnsafeRawBufferPointer
  ) -> (lineOffset: UInt64, column: Int) {
    let field = row.fields[index]
    return ImportJSONPlace.place(ofOffset: field.start - (field.isQuoted ? 1 : 0), in: bytes)
  }
}

extension ImportCSVReader {
  func decode(
    _ bytes: UnsafeRawBufferPointer, to payload: inout CBORWriter
  ) throws(ImportBadRecord) -> ImportDecoding {
    try ImportCSVRow.checkText(bytes)
    try row.split(bytes, separator: choices.separator)
    let keys = header.keys
    guard row.fields.count == keys.names.count else {
      throw ImportBadRecord(
        column: 1,
        why: "the row has \(counted(UInt64(row.fields.count), "field")), but the header has "
          + "\(keys.names.count)")
    }
    var decoding = ImportDecoding()
    keys.writeHead(to: &payload)
    for column in keys.order {
      keys.write(column, to: &payload)
      try write(column, of: bytes, to: &payload, &decoding)
    }
    return decoding
  }

  private func write(
    _ column: Int, of bytes: UnsafeRawBufferPointer, to payload: inout CBORWriter,
    _ decoding: inout ImportDecoding
  ) throws(ImportBadRecord) {
    let field = row.fields[column]
    let type = header.types[column]
    let raw = row.bytes(column, of: bytes)
    if raw.isEmpty, !field.isQuoted || !(type ?? .text == .text) { return payload.writeNull() }
    if field.hasQuotes { unquote(raw) }
    if type == nil, !field.isQuoted, !textColumns.contains(column), ImportNumberText.write(raw, to: &payload)
    {
      return
    }
    let had = decoding.rounded
    do throws(ImportColumnProblem) {
      if field.hasQuotes {
        let text = text
        try text.lendBytes { text throws(ImportColumnProblem) in
          try (type ?? .text).write(text, choices.fields.timeFormat, to: &payload, &decoding)
        }
      } else {
        try (type ?? .text).write(raw, choices.fields.timeFormat, to: &payload, &decoding)
      }
    } catch {
      let place = place(ofField: column, in: bytes)
      throw ImportBadRecord(
        lineOffset: place.lineOffset, column: place.column,
        why: "the field \(String(reflecting: header.keys.names[column])): \(error.why)")
    }
    // The column in the field is not one in the row.
    if had == nil, let rounded = decoding.rounded {
      decoding.rounded = (place(ofField: column, in: bytes).column, rounded.value)
    }
  }

  /// Makes one quote of each two.
  private func unquote(_ bytes: UnsafeRawBufferPointer) {
    text.removeAll(keepingCapacity: true)
    var isSecond = false
    for byte in bytes {
      isSecond = byte == 0x22 && !isSecond
      if !isSecond { text.append(byte) }
    }
  }
}
