// Which texts are numbers: those that printing the number gives back.

internal import StrataDocuments

/// The reading of numbers out of fields that do not say what they are.
///
/// A text is a number if it is how that number is printed: an integer without a sign of plus and without zeros before
/// it, or digits with a fraction that does not end with a zero. So `007`, `+5`, `1.0`, `1e3` and `-0` stay texts, and so
/// does what no double gives back.
enum ImportNumberText {
  /// Writes a text as a number. Returns false, without writing, if it is none.
  static func write(_ text: UnsafeRawBufferPointer, to payload: inout CBORWriter) -> Bool {
    guard let first = text.first, first == UInt8(ascii: "-") || isDigit(first) else { return false }
    let begin = first == UInt8(ascii: "-") ? 1 : 0
    var index = begin
    var value: UInt64 = 0
    while index < text.count, isDigit(text[index]) {
      value = value &* 10 &+ UInt64(text[index] &- UInt8(ascii: "0"))
      index += 1
    }
    let digitCount = index - begin
    guard digitCount > 0, digitCount == 1 || text[begin] != UInt8(ascii: "0") else { return false }
    guard index == text.count else { return writeFraction(text, at: index, to: &payload) }
    if begin == 1, value == 0, digitCount == 1 { return false }
    guard digitCount <= 18 else { return writeLong(text, to: &payload) }
    payload.writeInteger(begin == 1 ? -Int64(value) : Int64(value))
    return true
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

  private static func writeFraction(
    _ text: UnsafeRawBufferPointer, at point: Int, to payload: inout CBORWriter
  ) -> Bool {
    guard text[point] == UInt8(ascii: "."), point + 1 < text.count, text[text.count - 1] != UInt8(ascii: "0"),
      text[(point + 1)...].allSatisfy(isDigit)
    else { return false }
    return writeLong(text, to: &payload)
  }

  /// The reader of JSON knows which numbers their doubles give back.
  private static func writeLong(_ text: UnsafeRawBufferPointer, to payload: inout CBORWriter) -> Bool {
    var rounded: (column: Int, value: Double)?
    guard let value = try? DocumentValue(json: text, rounded: &rounded), rounded == nil else { return false }
    if case .double(let double) = value, !DecimalText.isShortest(text, of: double) { return false }
    payload.write(value)
    return true
  }
}
