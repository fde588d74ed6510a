// The types of columns that `--types` names, and how their texts are read.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents

/// What the texts of a column are.
enum ImportColumnType: String, CaseIterable {
  case text, int, real, bool, json, time

  /// Writes a text as a value of this type. Throws what is wrong with it.
  func write(
    _ text: UnsafeRawBufferPointer, _ timeFormat: ImportTimeFormat, to payload: inout CBORWriter,
    _ decoding: inout ImportDecoding
  ) throws(ImportColumnProblem) {
    switch self {
    case .text: payload.writeText(utf8: text)
    case .int: try writeInteger(text, to: &payload)
    case .real: try writeReal(text, to: &payload, &decoding)
    case .bool: payload.writeBool(try bool(text))
    case .json:
      var rounded: (column: Int, value: Double)?
      do throws(JSONError) { payload.write(try DocumentValue(json: text, rounded: &rounded)) } catch {
        throw ImportColumnProblem(why: "not JSON: \(error.explanation)")
      }
      decoding.rounded = decoding.rounded ?? rounded
    case .time: try writeTime(text, timeFormat, to: &payload)
    }
  }

  private func writeInteger(
    _ text: UnsafeRawBufferPointer, to payload: inout CBORWriter
  ) throws(ImportColumnProblem) {
    let isNegative = text.first == UInt8(ascii: "-")
    var digits = text.dropFirst(isNegative || text.first == UInt8(ascii: "+") ? 1 : 0)
    guard !digits.isEmpty, digits.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 }) else { throw problem(text) }
    digits = digits.drop { $0 == UInt8(ascii: "0") }
    guard !digits.isEmpty else { return payload.writeInteger(0) }
    let whole = (isNegative ? [UInt8(ascii: "-")] : []) + Array(digits)
    do throws(JSONError) { payload.write(try DocumentValue(json: whole)) } catch {
      throw ImportColumnProblem(why: error.explanation)
    }
  }

  private func writeReal(
    _ text: UnsafeRawBufferPointer, to payload: inout CBORWriter, _ decoding: inout ImportDecoding
  ) throws(ImportColumnProblem) {
    if let special = Self.special(text) { return payload.writeDouble(special) }
    var rounded: (column: Int, value: Double)?
    let value: DocumentValue
    do throws(JSONError) {
      value = try Self.jsonNumber(text).lendBytes { text throws(JSONError) in
        try DocumentValue(json: text, rounded: &rounded)
      }
    } catch {
      throw error.isOutOfRange ? ImportColumnProblem(why: error.explanation) : problem(text)
    }
    guard case .double(let double) = value else { throw problem(text) }
    decoding.rounded = decoding.rounded ?? rounded
    payload.writeDouble(double)
  }

  /// Infinity and what is not a number, as programs print them.
  private static func special(_ text: UnsafeRawBufferPointer) -> Double? {
    guard let last = text.last, last | 0x20 >= UInt8(ascii: "a"), text.count <= 9 else { return nil }
    return switch String(decoding: text, as: UTF8.self).lowercased() {
    case "inf", "+inf", "infinity", "+infinity": .infinity
    case "-inf", "-infinity": -.infinity
    case "nan": .nan
    default: nil
    }
  }

  /// A number as JSON writes doubles: without a sign of plus and zeros before it, and with digits before and after the
  /// point.
  private static func jsonNumber(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text[...]
    if let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
      if first == UInt8(ascii: "-") { bytes.append(first) }
      rest = rest.dropFirst()
    }
    let whole = rest.prefix { $0 &- UInt8(ascii: "0") <= 9 }
    rest = rest[whole.endIndex...]
    let significant = whole.drop { $0 == UInt8(ascii: "0") }
    bytes += significant.isEmpty ? [UInt8(ascii: "0")] : Array(significant)
    var fraction = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      fraction = rest.prefix { $0 &- UInt8(ascii: "0") <= 9 }
      rest = rest[fraction.endIndex...]
    }
    // Without any digit it is no number.
    if whole.isEmpty, fraction.isEmpty { return [] }
    bytes.append(UInt8(ascii: "."))
    bytes += fraction.isEmpty ? [UInt8(ascii: "0")] : Array(fraction)
    return bytes + Array(rest)
  }

  private func bool(_ text: UnsafeRawBufferPointer) throws(ImportColumnProblem) -> Bool {
    switch String(decoding: text, as: UTF8.self).lowercased() {
    case "true", "t", "yes", "y", "1": true
    case "false", "f", "no", "n", "0": false
    default: throw problem(text)
    }
  }

  /// A time stays as it is written if it is RFC 3339, and becomes that in UTC if not.
  private func writeTime(
    _ text: UnsafeRawBufferPointer, _ format: ImportTimeFormat, to payload: inout CBORWriter
  ) throws(ImportColumnProblem) {
    if Timestamp(utf8: text) != nil { return payload.writeText(utf8: text) }
    let nanoseconds: Int64
    do throws(ImportTimeProblem) { nanoseconds = try format.nanoseconds(text: text) } catch {
      throw ImportColumnProblem(why: error.isWhole ? error.what : "the text \(error.what)")
    }
    payload.writeText(Timestamp(nanoseconds: nanoseconds).description)
  }

  private func problem(_ text: UnsafeRawBufferPointer) -> ImportColumnProblem {
    let kind =
      switch self {
      case .int: "an integer"
      case .real: "a number"
      case .bool: "true or false"
      default: "of its type"
      }
    let shown = String(decoding: text.prefix(100), as: UTF8.self)
    return ImportColumnProblem(why: "\(String(reflecting: shown)) is not \(kind)")
  }
}

/// Why a text is no value of its column's type.
struct ImportColumnProblem: Error {
  var why: String
}

extension JSONError {
  /// Whether the text is a number, but one that cannot be kept.
  fileprivate var isOutOfRange: Bool { reason == .numberOutOfRange || reason == .tooLong }
}
