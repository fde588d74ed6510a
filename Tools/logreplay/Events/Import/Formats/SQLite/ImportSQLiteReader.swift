// Reads the rows of a SQLite table, with the types of their values.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments

/// The rows of a table as documents: integers, doubles, texts and bytes as what they are, and NULL as null.
final class ImportSQLiteReader: ImportRecordReader {
  let noun = "row"
  let window: ImportWindow
  private let table: ImportSQLiteTable
  /// The lines of the program's output, which have no blank ones.
  private let lines: ImportLineReader
  private var values: [Slice<UnsafeRawBufferPointer>] = []

  /// - Parameter lengthMax: the length above which a row is too long. Its text is at most twice as long.
  init(_ table: ImportSQLiteTable, lengthMax: Int) throws(CommandFailure) {
    self.table = table
    let program = try ImportSQLiteProgram(table.path, table.query)
    lines = ImportLineReader(program, lengthMax: 2 * lengthMax + 64 * table.keys.names.count)
    window = lines.window
  }

  func next() throws(CommandFailure) -> ImportRecord? { try lines.next() }

  func decode(
    _ bytes: UnsafeRawBufferPointer, to payload: inout CBORWriter
  ) throws(ImportBadRecord) -> ImportDecoding {
    values.removeAll(keepingCapacity: true)
    values += bytes.split(separator: 0x20, omittingEmptySubsequences: false)
    let keys = table.keys
    guard values.count == keys.names.count else {
      throw ImportBadRecord(
        column: 1,
        why: "the row has \(values.count) values, but the table had \(keys.names.count) columns before")
    }
    keys.writeHead(to: &payload)
    for column in keys.order {
      keys.write(column, to: &payload)
      guard write(values[column], to: &payload) else {
        throw ImportBadRecord(
          column: column + 1,
          why: "the value of the column \(String(reflecting: keys.names[column])) is not what its type says: "
            + "a text of other bytes than \(table.encoding.rawValue)")
      }
    }
    return ImportDecoding()
  }

  /// Writes a value as the query prints it. Returns false if it is damaged.
  private func write(_ value: Slice<UnsafeRawBufferPointer>, to payload: inout CBORWriter) -> Bool {
    let rest = value.dropFirst()
    switch value.first {
    case UInt8(ascii: "n"): payload.writeNull()
    case UInt8(ascii: "i"):
      guard let number = Int64(String(decoding: rest, as: UTF8.self)) else { return false }
      payload.writeInteger(number)
    case UInt8(ascii: "r"):
      guard let bits = UInt64(String(decoding: rest, as: UTF8.self), radix: 16) else { return false }
      payload.writeDouble(Double(bitPattern: bits))
    case UInt8(ascii: "t"):
      guard let text = table.encoding.text(hex: rest) else { return false }
      payload.writeText(text)
    case UInt8(ascii: "b"):
      guard let bytes = ImportSQLiteText.bytes(rest) else { return false }
      bytes.withUnsafeBytes { payload.writeBytes($0) }
    default: return false
    }
    return true
  }

  /// A row is on a line of its own, and its values are counted as columns.
  func place(
    of field: ImportFieldPath, in bytes: UnsafeRawBufferPointer
  ) -> (lineOffset: UInt64, column: Int) {
    (0, (table.keys.position(of: field) ?? 0) + 1)
  }
}
