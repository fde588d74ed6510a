// Numbers, strings and dates in a filter's text.

internal import StrataDocuments
internal import StrataTables

extension FilterLexer {
  /// Reads a number: an integer of any size, or, with a point or an exponent, a double.
  mutating func readNumber(_ start: String.Index) throws(FilterError) -> DocumentValue {
    let suggestion = "write numbers as in 42, -1.5 or 6e23"
    if skip("-"), next.map({ !("0"..."9").contains($0) }) ?? true {
      throw error(
        "arithmetic is not supported", "write names with a - in backquotes, as in `odd-name`", from: start)
    }
    var isWellFormed = skipDigits()
    var isInteger = true
    if skip(".") {
      isInteger = false
      isWellFormed = skipDigits() && isWellFormed
    }
    if next == "e" || next == "E" {
      isInteger = false
      advance()
      if !skip("+") { _ = skip("-") }
      isWellFormed = skipDigits() && isWellFormed
    }
    if let scalar = next, FieldPath.continuesName(scalar) || scalar == "." {
      while let scalar = next, FieldPath.continuesName(scalar) || scalar == "." { advance() }
      isWellFormed = false
    }
    guard isWellFormed else { throw error("this is not a number", suggestion, from: start) }
    let digits = String(scalars[start..<index])
    if isInteger {
      guard let value = DocumentInteger(digits) else {
        throw error("the number has too many digits", "write fewer digits", from: start)
      }
      return DocumentValue(value)
    }
    guard let value = Double(digits), value.isFinite else {
      throw error("the number is too large", "write one below 1.8e308", from: start)
    }
    return .double(value)
  }

  private mutating func skipDigits() -> Bool {
    let start = index
    while let scalar = next, ("0"..."9").contains(scalar) { advance() }
    return index > start
  }

  /// Reads a string in quotes. A backslash escapes a quote or a backslash; `\n`, `\r`, `\t` and `\u{…}` have their
  /// usual meaning; before any other character a backslash is an ordinary character, so that patterns can be written
  /// without escaping.
  mutating func readString() throws(FilterError) -> String {
    let start = index
    guard let quote = next else { return "" }
    advance()
    var value = String.UnicodeScalarView()
    while let scalar = next {
      advance()
      if scalar == quote { return String(value) }
      guard scalar == "\\" else {
        value.append(scalar)
        continue
      }
      guard let escaped = next else { break }
      advance()
      switch escaped {
      case "'", "\"", "\\": value.append(escaped)
      case "n": value.append("\n")
      case "r": value.append("\r")
      case "t": value.append("\t")
      case "u": value.append(try readScalar())
      default:
        value.append("\\")
        value.append(escaped)
      }
    }
    if isBeforeArgument {
      throw argumentInside("a string", "leave out the quotes: a value is a literal without them", from: start)
    }
    let message = "the string does not end"
    throw error(message, "write \(quote) at its end", from: start)
  }

  /// The text of some scalars of a string's value, where a token of it is.
  func range(ofScalars wanted: Range<Int>, inString token: Range<String.Index>) -> Range<String.Index> {
    var index = token.lowerBound
    let end = token.upperBound
    guard index < end else { return token }
    let quote = scalars[index]
    index = scalars.index(after: index)
    var starts: [String.Index] = []
    while index < end, scalars[index] != quote, starts.count <= wanted.upperBound {
      starts.append(index)
      let isEscape = scalars[index] == "\\"
      index = scalars.index(after: index)
      guard isEscape, index < end else { continue }
      switch scalars[index] {
      case "'", "\"", "\\", "n", "r", "t": index = scalars.index(after: index)
      case "u": index = scalars[index..<end].firstIndex(of: "}").map { scalars.index(after: $0) } ?? end
      default: break  // The backslash is meant itself.
      }
    }
    starts.append(index)
    let last = starts.count - 1
    return starts[min(wanted.lowerBound, last)]..<starts[min(wanted.upperBound, last)]
  }

  /// Reads what follows `\u`: up to six hexadecimal digits in braces.
  private mutating func readScalar() throws(FilterError) -> Unicode.Scalar {
    let start = index
    var digits = ""
    if skip("{") {
      while let scalar = next, scalar.isASCII, scalar.properties.isHexDigit, digits.count < 6 {
        digits.unicodeScalars.append(scalar)
        advance()
      }
      if skip("}"), let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) {
        return scalar
      }
    }
    throw error(
      "this is not a character", "write \\u{…} with its number in hexadecimal, as in \\u{e9}", from: start)
  }

  /// Reads a date: a string after an @.
  mutating func readDate(_ start: String.Index) throws(FilterError) -> FilterToken {
    let suggestion = "write dates as in @'2026-11-20T18:00+01:00' or @'2026-11-20'"
    advance()
    if next == nil, isBeforeArgument {
      throw argumentInside("a date", "leave out the @: a date is a literal without it", from: start)
    }
    guard next == "'" || next == "\"" else { throw error("a date is missing", suggestion, from: start) }
    guard let instant = date(try readString()) else {
      throw error("this is not a date", suggestion, from: start)
    }
    guard RFC3339.secondsRange.contains(instant.seconds) else {
      throw error("the date is not between the years 0000 and 9999 in UTC", suggestion, from: start)
    }
    return .date(instant)
  }
}
