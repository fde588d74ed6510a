// What every format of an input becomes: numbered records, each of which is decoded to one document.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments

/// One record of the input: a line, a row, an object.
struct ImportRecord {
  /// The record's number, from 1, for append ids. The same record has the same number in every run.
  var number: UInt64
  /// The line of the input on which it begins, and its column there, from 1, for messages.
  var line: UInt64
  var column = 1
  /// What the hash of the append id is of, and what is decoded. Valid until the next record is requested; empty if the
  /// record is too long.
  var bytes: UnsafeRawBufferPointer
  /// What the hash was of in ids of an earlier version; the same bytes in general.
  var raw: UnsafeRawBufferPointer
  var isTooLong = false
  /// Whether there is nothing in it that could be a document, so that it is passed over.
  var isBlank = false
}

/// Where a record is in its input.
struct ImportPlace {
  /// The record's number, from 1.
  var number: UInt64
  /// The line of the input on which it begins, and its column there, from 1.
  var line: UInt64
  var column = 1
}

extension ImportRecord {
  var place: ImportPlace { ImportPlace(number: number, line: line, column: column) }
}

/// A record that cannot be imported.
struct ImportBadRecord: Error, Equatable {
  /// The number of line feeds in the record before what is wrong.
  var lineOffset: UInt64 = 0
  /// The column in that line, from 1, in characters.
  var column: Int
  var why: String
}

/// What decoding a record has noticed, besides its document.
struct ImportDecoding {
  /// The first number of the document that its text does not give back: its column, and its double.
  var rounded: (column: Int, value: Double)?

  /// Throws if a number was rounded that is not to be.
  func check(_ rules: borrowing ImportFieldRules) throws(ImportBadRecord) {
    guard let rounded, !rules.roundsNumbers else { return }
    throw ImportBadRecord(
      column: rounded.column,
      why:
        "a number that a double cannot hold; the nearest one is \(rounded.value) (--round-numbers takes it)")
  }
}

/// Splits an input into records and decodes them: one implementation for each format.
///
/// `next` is called by one thread. `decode` depends on the bytes alone, and on what is the same for all records, such as
/// a header: the sort by time decodes records again that it has kept as bytes.
protocol ImportRecordReader: AnyObject {
  /// What a record is called in messages and reports: line, row, object.
  var noun: String { get }
  /// The input. Before a read that may wait for it, it says so: what was returned before need not wait for what comes.
  var window: ImportWindow { get }

  /// The next record, or nil at the end of the input, which is then known not to be cut short.
  func next() throws(CommandFailure) -> ImportRecord?

  /// Whether the input ended in the middle of a line, so that it may have been cut off. Known at its end; false for
  /// formats whose end says itself whether it is one.
  var endsInLine: Bool { get }

  /// What append ids say of a record's bytes.
  func hash(of bytes: UnsafeRawBufferPointer) -> UInt64

  /// Writes the record's document, an object, as deterministic CBOR.
  func decode(
    _ bytes: UnsafeRawBufferPointer, to payload: inout CBORWriter
  ) throws(ImportBadRecord) -> ImportDecoding

  /// Where a field is in a record that was decoded; the beginning of the record if it is not there.
  func place(of field: ImportFieldPath, in bytes: UnsafeRawBufferPointer) -> (lineOffset: UInt64, column: Int)
}

extension ImportRecordReader {
  var endsInLine: Bool { false }

  func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 { XXH64.of(bytes) }
}
