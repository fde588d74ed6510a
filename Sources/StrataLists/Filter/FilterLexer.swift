// Splits a filter's text into tokens, one at a time.

internal import StrataDocuments
internal import StrataTables

/// A position in a filter's text.
struct FilterLexer {
  let text: String
  let scalars: String.UnicodeScalarView
  var index: String.Index
  /// The values of the template, and the index of the next one.
  let arguments: [FilterTemplate.Argument]
  var argumentIndex = 0
  /// The start of the next value, or the end of the text.
  var end: String.Index
  /// Parses the text of a date; nil if it is not a date.
  let date: (String) -> Instant?

  init(_ template: FilterTemplate, date: @escaping (String) -> Instant?) {
    text = template.text
    arguments = template.arguments
    self.date = date
    scalars = text.unicodeScalars
    index = scalars.startIndex
    end = scalars.endIndex
    limitToNextArgument()
  }

  /// The next scalar without moving, nil at the end and before a value.
  var next: Unicode.Scalar? { index < end ? scalars[index] : nil }

  mutating func advance() { index = scalars.index(after: index) }

  /// Moves past a scalar if it comes next; returns whether it did.
  mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    advance()
    return true
  }

  /// The offset of an index in UTF-8 bytes.
  func byteOffset(_ index: String.Index) -> Int { text.utf8.distance(from: text.startIndex, to: index) }

  func error(_ message: String, _ suggestion: String, from start: String.Index) -> FilterError {
    FilterError(message, suggestion, text: text, byteRange: byteOffset(start)..<byteOffset(index))
  }

  /// The next token and its range. O(length of the token).
  mutating func readToken() throws(FilterError) -> (token: FilterToken, range: Range<String.Index>) {
    while let scalar = next, scalar.properties.isWhitespace { advance() }
    let start = index
    let token = index == end && isBeforeArgument ? try readArgument() : try readTokenBody(start)
    return (token, start..<index)
  }

  private mutating func readTokenBody(_ start: String.Index) throws(FilterError) -> FilterToken {
    guard let scalar = next else { return .end }
    switch scalar {
    case "(": return single(.leftParenthesis)
    case ")": return single(.rightParenthesis)
    case "{": return single(.leftBrace)
    case "}": return single(.rightBrace)
    case "[": return single(.leftBracket)
    case "]": return single(.rightBracket)
    case ",": return single(.comma)
    case "'", "\"": return .value(.string(try readString()))
    case "@": return try readDate(start)
    case "0"..."9", "-": return .value(try readNumber(start))
    case "=", "!", "<", ">", "&", "|": return try readSign(start)
    case "`", "$": return .field(try readPath(start))
    case _ where FieldPath.beginsName(scalar): return try readWord(start)
    default: return try refuse(scalar, start)
    }
  }

  private mutating func single(_ token: FilterToken) -> FilterToken {
    advance()
    return token
  }

  private mutating func readSign(_ start: String.Index) throws(FilterError) -> FilterToken {
    while let scalar = next, "=!<>&|".unicodeScalars.contains(scalar) {
      // `!` begins a separate token, as in `a == 1 &&!(b == 2)`.
      if scalar == "!", index != start { break }
      advance()
      if scalar == "!", next != "=" { break }
    }
    switch String(scalars[start..<index]) {
    case "=", "==": return .comparator(.equal)
    case "!=": return .comparator(.notEqual)
    case "<": return .comparator(.less)
    case "<=": return .comparator(.lessOrEqual)
    case ">": return .comparator(.greater)
    case ">=": return .comparator(.greaterOrEqual)
    case "&&": return .and
    case "||": return .or
    case "!": return .not
    case "&": throw error("a single & is not an operator", "write && for “and”", from: start)
    case "|": throw error("a single | is not an operator", "write || for “or”", from: start)
    case "<>": throw error("there is no operator <>", "write !=", from: start)
    case "=<": throw error("there is no operator =<", "write <=", from: start)
    case "=>": throw error("there is no operator =>", "write >=", from: start)
    case let sign: throw error("there is no operator \(sign)", FilterParser.operatorsSuggestion, from: start)
    }
  }

  private mutating func readPath(_ start: String.Index) throws(FilterError) -> FieldPath {
    let path: FieldPath
    do {
      path = try FieldPath.scan(scalars, &index)
    } catch {
      let suggestion = "write names as in impact.level, or in backquotes as in `odd name`"
      throw FilterError(error.message, suggestion, text: text, byteRange: error.byteRange)
    }
    // Scanning does not stop at values, because they are written in the text.
    guard index <= end else {
      let suggestion = "write \\(field: path) for a field, and a space before a value"
      throw argumentInside("a name", suggestion, from: start)
    }
    return path
  }

  private mutating func readWord(_ start: String.Index) throws(FilterError) -> FilterToken {
    let path = try readPath(start)
    guard path.names.count == 1, let keyword = FilterKeyword(String(scalars[start..<index])) else {
      return .field(path)
    }
    return keyword.token
  }

  private mutating func refuse(_ scalar: Unicode.Scalar, _ start: String.Index) throws(FilterError)
    -> FilterToken
  {
    advance()
    switch scalar {
    case "‘", "’", "“", "”", "„", "«", "»", "´":
      throw error("this is not a quote", "write strings in ' or \"", from: start)
    case "+", "*", "/", "%", "^", "~":
      throw error("arithmetic is not supported", "compare fields and literals as they are", from: start)
    default:
      throw error(
        "this character has no meaning here",
        "write names with other characters than letters, digits and _ in backquotes",
        from: start)
    }
  }
}
