// Reads JSON that is no lines: an array, objects over several lines, a sequence (RFC 7464), or an object of records.

internal import LogreplayShell
internal import StrataDocuments

/// The objects of an input, in any of these forms, which its beginning tells apart:
///
/// - `[{…},{…}]`: an array of objects;
/// - `{…} {…}`: objects one after another, over as many lines as they like;
/// - objects after a byte 0x1E each: a JSON text sequence (RFC 7464);
/// - `{"Records":[{…},{…}]}`: an object whose first member is an array of this name.
final class ImportJSONReader: ImportRecordReader {
  private enum Form {
    case array, values, sequence, records
  }

  let noun = "record"
  /// The end of an array says that it is one, and objects one after another may end anywhere.
  var endsInLine: Bool { (form == .values || form == .sequence) && window.lastByte != 0x0A }
  let window: ImportWindow
  private let name: String
  private let lengthMax: Int
  private var form: Form?
  /// Whether the array is over, and only white space may follow.
  private var isOver = false
  private var number: UInt64 = 0
  private var line: UInt64 = 1
  private var column = 1
  private var objects = ImportJSONObject()

  init(_ input: ImportInput, lengthMax: Int) {
    window = ImportWindow(input)
    name = input.name
    self.lengthMax = lengthMax
  }

  func next() throws(CommandFailure) -> ImportRecord? {
    if form == nil { form = try begin() }
    guard let form, try findNext(form) else { return nil }
    number += 1
    let place = (line, column)
    let (bytes, isTooLong) = try form == .sequence ? takeText() : takeValue()
    return ImportRecord(
      number: number, line: place.0, column: place.1, bytes: bytes, raw: bytes, isTooLong: isTooLong)
  }

  func decode(
    _ bytes: UnsafeRawBufferPointer, to payload: inout CBORWriter
  ) throws(ImportBadRecord) -> ImportDecoding {
    try objects.decode(bytes, to: &payload, noun: noun)
  }

  func place(
    of field: ImportFieldPath, in bytes: UnsafeRawBufferPointer
  ) -> (lineOffset: UInt64, column: Int) {
    ImportJSONPlace.place(of: field, in: bytes)
  }

  // MARK: The form

  /// Takes what is before the first object.
  private func begin() throws(CommandFailure) -> Form? {
    while window.bytes.count < 3, try window.fill() {}
    if window.bytes.starts(with: ImportLineReader.byteOrderMark) {
      window.take(ImportLineReader.byteOrderMark.count)
    }
    switch try nextByte() {
    case nil: return nil
    case UInt8(ascii: "["):
      advance(1)
      return .array
    case 0x1E: return .sequence
    default: return try takeRecordsHead() ? .records : .values
    }
  }

  /// Takes `{"Records":[`, if the input begins with it.
  private func takeRecordsHead() throws(CommandFailure) -> Bool {
    while true {
      switch Self.recordsHead(window.bytes) {
      case .none: return false
      case .some(let length):
        advance(length)
        return true
      case .undecided: guard try window.fill() else { return false }
      }
    }
  }

  /// Whether bytes begin with `{"Records":[`.
  enum RecordsHead: Equatable {
    case none
    case some(length: Int)
    /// More bytes may say it.
    case undecided
  }

  static func recordsHead(_ bytes: UnsafeRawBufferPointer) -> RecordsHead {
    var index = 0
    for part in ["{", "\"Records\"", ":", "["] {
      while index < bytes.count, isSpace(bytes[index]) { index += 1 }
      let rest = bytes[index...]
      guard rest.starts(with: part.utf8) else {
        return part.utf8.starts(with: rest) ? .undecided : .none
      }
      index += part.utf8.count
    }
    return .some(length: index)
  }

  // MARK: One record

  /// Goes to the next record. Returns false at the end.
  private func findNext(_ form: Form) throws(CommandFailure) -> Bool {
    guard !isOver else { return false }
    var byte = try nextByte()
    switch form {
    case .values: return byte != nil
    case .sequence:
      // Empty texts between two of these bytes are nothing.
      while byte == 0x1E {
        advance(1)
        byte = try nextByte()
      }
      return byte != nil
    case .array, .records:
      if number > 0, byte == UInt8(ascii: ",") {
        advance(1)
        byte = try nextByte()
        if byte == UInt8(ascii: "]") { throw broken("a comma without a record after it") }
      } else if number > 0, byte != UInt8(ascii: "]"), byte != nil {
        throw broken("a comma is missing between two records")
      }
      guard let byte else { throw broken("the input ends inside the array") }
      guard byte == UInt8(ascii: "]") else { return true }
      advance(1)
      try end(form)
      return false
    }
  }

  /// Checks that nothing follows the array.
  private func end(_ form: Form) throws(CommandFailure) {
    isOver = true
    if form == .records {
      guard try nextByte() == UInt8(ascii: "}") else {
        throw broken("something other than the end of the object follows its array \"Records\"")
      }
      advance(1)
    }
    if try nextByte() != nil { throw broken("more text follows the end of the records") }
  }

  /// Takes the value at the beginning of the window.
  private func takeValue() throws(CommandFailure) -> (UnsafeRawBufferPointer, isTooLong: Bool) {
    var framing = ImportJSONFraming()
    var isTooLong = false
    while true {
      let bytes = window.bytes
      if let length = framing.end(in: bytes) {
        guard length > 0 else { throw broken("unexpected '\(Character(UnicodeScalar(bytes[0])))'") }
        advance(length)
        isTooLong = isTooLong || length > lengthMax
        return (UnsafeRawBufferPointer(rebasing: bytes[..<(isTooLong ? 0 : length)]), isTooLong)
      }
      if isTooLong || bytes.count > lengthMax {
        isTooLong = true
        advance(bytes.count)
        framing.dropSearched()
      }
      guard try window.fill() else {
        let rest = window.bytes
        advance(rest.count)
        // What is no whole value is said where it is decoded.
        isOver = form == .values
        return (rest, isTooLong)
      }
    }
  }

  /// Takes the text up to the next byte 0x1E.
  private func takeText() throws(CommandFailure) -> (UnsafeRawBufferPointer, isTooLong: Bool) {
    var isTooLong = false
    var searched = 0
    while true {
      let bytes = window.bytes
      var end = bytes[searched...].firstIndex(of: 0x1E)
      if end == nil, isTooLong || bytes.count > lengthMax {
        isTooLong = true
        advance(bytes.count)
      }
      searched = window.bytes.count
      if end == nil {
        guard try !window.fill() else { continue }
        end = window.bytes.count
      }
      let text = UnsafeRawBufferPointer(rebasing: window.bytes[..<(end ?? 0)])
      advance(text.count)
      isTooLong = isTooLong || text.count > lengthMax
      let length = text.lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? 0
      return (UnsafeRawBufferPointer(rebasing: text[..<(isTooLong ? 0 : length)]), isTooLong)
    }
  }

  // MARK: Bytes

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  /// The next byte that is not white space; nil at the end of the input.
  private func nextByte() throws(CommandFailure) -> UInt8? {
    while true {
      let bytes = window.bytes
      let count = bytes.firstIndex { !Self.isSpace($0) } ?? bytes.count
      advance(count)
      if let byte = window.bytes.first { return byte }
      guard try window.fill() else { return nil }
    }
  }

  /// Takes bytes, and counts their lines.
  private func advance(_ count: Int) {
    for byte in window.bytes.prefix(count) {
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    window.take(count)
  }

  /// The failure for a text after which no record can be found.
  private func broken(_ why: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, "line \(line), column \(column): \(why)", at: "\(name):\(line):\(column)",
      next: "correct it and import again")
  }
}
