// The fields of one row of comma separated values (RFC 4180).

internal import LogreplayShell
internal import StrataDocuments

/// The fields of a row, by their offsets in it. Memory is kept from one row to the next.
struct ImportCSVRow {
  struct Field {
    var start: Int
    var end: Int
    /// Whether the field is in quotes, which are not between `start` and `end`.
    var isQuoted = false
    /// Whether there are doubled quotes in it.
    var hasQuotes = false
  }

  private(set) var fields: [Field] = []

  /// Splits a row. The row has no line end.
  mutating func split(
    _ row: UnsafeRawBufferPointer, separator: UInt8
  ) throws(ImportBadRecord) {
    fields.removeAll(keepingCapacity: true)
    var index = 0
    while true {
      var field = Field(start: index, end: index)
      if index < row.count, row[index] == 0x22 {
        index = try quoted(row, &field)
        if index < row.count, row[index] != separator {
          throw Self.bad(
            row, index, "text after the quote that ends a field: a quote inside a field is doubled")
        }
      } else {
        while index < row.count, row[index] != separator {
          if row[index] == 0x22 {
            throw Self.bad(
              row, index,
              "a quote in a field that does not begin with one: such a field is in quotes, and its own are doubled"
            )
          }
          if row[index] == 0x0D {
            throw Self.bad(
              row, index,
              "a carriage return that no line feed follows: where lines end with it alone, make line feeds of "
                + "them (tr '\\r' '\\n')")
          }
          index += 1
        }
        field.end = index
      }
      fields.append(field)
      guard index < row.count else { return }
      index += 1
    }
  }

  /// Reads a field in quotes, and returns the offset after it.
  private func quoted(_ row: UnsafeRawBufferPointer, _ field: inout Field) throws(ImportBadRecord) -> Int {
    let begin = field.start
    var index = begin + 1
    field.start = index
    field.isQuoted = true
    while index < row.count {
      if row[index] == 0x22 {
        guard index + 1 < row.count, row[index + 1] == 0x22 else {
          field.end = index
          return index + 1
        }
        field.hasQuotes = true
        index += 1
      }
      index += 1
    }
    throw Self.bad(row, begin, "a quote that is not closed before the end of the input")
  }

  /// The bytes of a field, without quotes around it. Doubled quotes are still doubled.
  func bytes(_ index: Int, of row: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: row[fields[index].start..<fields[index].end])
  }

  /// The text of a field.
  func text(_ index: Int, of row: UnsafeRawBufferPointer) -> String {
    let text = String(decoding: bytes(index, of: row), as: UTF8.self)
    return fields[index].hasQuotes ? text.replacingBytes("\"\"", with: "\"") : text
  }

  /// A problem at an offset in a row.
  static func bad(_ row: UnsafeRawBufferPointer, _ offset: Int, _ why: String) -> ImportBadRecord {
    let place = ImportJSONPlace.place(ofOffset: offset, in: row)
    return ImportBadRecord(lineOffset: place.lineOffset, column: place.column, why: why)
  }

  /// Throws if a row is not UTF-8.
  static func checkText(_ row: UnsafeRawBufferPointer) throws(ImportBadRecord) {
    guard !UTF8Validation.isValid(row) else { return }
    var offset = 0
    while offset < row.count {
      let length = (1...4).first { length in
        offset + length <= row.count
          && UTF8Validation.isValid(UnsafeRawBufferPointer(rebasing: row[offset..<offset + length]))
      }
      guard let length else { break }
      offset += length
    }
    let byte = String(offset < row.count ? row[offset] : 0, radix: 16, uppercase: true)
    throw bad(
      row, offset,
      "the byte 0x\(byte) is not UTF-8: text in Latin-1 or Windows-1252 is converted with "
        + "iconv -f WINDOWS-1252 -t UTF-8")
  }
}
