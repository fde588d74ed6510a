// A recursive-descent parser for filters, with limited depth.

internal import StrataBase
internal import StrataDocuments
internal import StrataTables

/// The grammar:
///
/// ```
/// or          and ("||" and)*
/// and         unary ("&&" unary)*
/// unary       "!" unary | "(" or ")" | comparison
/// comparison  operand operator "[c]"? operand
/// operand     field | literal | list
/// ```
struct FilterParser {
  static let operatorsSuggestion = "write one of == != < <= > >= in contains beginsWith endsWith matches"
  static let comparisonSuggestion = "write a comparison, as in impact == 'High'"

  private var lexer: FilterLexer
  private var token: FilterToken = .end
  private var range: Range<String.Index>
  private var depth = 0

  /// Parses a whole template as an expression.
  ///
  /// - Parameter date: parses the text of a date; nil if it is not a date.
  static func parse(
    _ template: FilterTemplate, date: @escaping (String) -> Instant?
  ) throws(FilterError) -> FilterExpression {
    guard template.text.utf8.count <= RowFilter.byteCountMax else {
      let message = "the filter is longer than \(RowFilter.byteCountMax) bytes"
      // The text is too long, so the error does not repeat it.
      throw FilterError(message, "write a shorter one", text: "", byteRange: 0..<0)
    }
    var parser = FilterParser(template, date: date)
    try parser.advance()
    if parser.token == .end { throw parser.error("the filter is empty", comparisonSuggestion) }
    let expression = try parser.parseOr()
    guard parser.token == .end else { throw parser.unexpectedAfterExpression() }
    return expression
  }

  private init(_ template: FilterTemplate, date: @escaping (String) -> Instant?) {
    lexer = FilterLexer(template, date: date)
    range = lexer.index..<lexer.index
  }

  private mutating func advance() throws(FilterError) { (token, range) = try lexer.readToken() }

  private func error(_ message: String, _ suggestion: String) -> FilterError {
    error(message, suggestion, at: range)
  }

  private func error(_ message: String, _ suggestion: String, at range: Range<String.Index>) -> FilterError {
    FilterError(
      message, suggestion, text: lexer.text,
      byteRange: lexer.byteOffset(range.lowerBound)..<lexer.byteOffset(range.upperBound))
  }

  private func unexpectedAfterExpression() -> FilterError {
    switch token {
    case .rightParenthesis: error("this parenthesis was never opened", "write ( before, or leave ) out")
    case .comparator:
      error(
        "a comparison has two sides only", "write two comparisons with && in between, as in 1 < a && a < 9")
    default: error("something else was expected here", "write && or || between comparisons")
    }
  }
}

extension FilterParser {
  private mutating func parseOr() throws(FilterError) -> FilterExpression {
    var parts: [FilterExpression] = []
    while true {
      let part = try parseAnd()
      if case .or(let inner) = part { parts += inner } else { parts.append(part) }
      guard token == .or else { break }
      try advance()
    }
    return parts.count == 1 ? parts[0] : .or(parts)
  }

  private mutating func parseAnd() throws(FilterError) -> FilterExpression {
    var parts: [FilterExpression] = []
    while true {
      let part = try parseUnary()
      if case .and(let inner) = part { parts += inner } else { parts.append(part) }
      guard token == .and else { break }
      try advance()
    }
    return parts.count == 1 ? parts[0] : .and(parts)
  }

  private mutating func parseUnary() throws(FilterError) -> FilterExpression {
    guard token == .not || token == .leftParenthesis else { return .comparison(try parseComparison()) }
    guard depth < RowFilter.depthMax else {
      throw error("nested deeper than \(RowFilter.depthMax) levels", "write fewer parentheses and !")
    }
    depth += 1
    defer { depth -= 1 }
    guard token == .not else { return try parseParenthesis() }
    try advance()
    // `!(` counts as one level, so that the fully parenthesized form is no deeper than what was written.
    return .not(token == .leftParenthesis ? try parseParenthesis() : try parseUnary())
  }

  private mutating func parseParenthesis() throws(FilterError) -> FilterExpression {
    let opening = range
    try advance()
    let expression = try parseOr()
    guard token == .rightParenthesis else {
      if token == .end { throw error("this parenthesis is never closed", "write ) after it", at: opening) }
      throw unexpectedAfterExpression()
    }
    try advance()
    return expression
  }

  private mutating func parseComparison() throws(FilterError) -> FilterComparison {
    let left = try parseOperand()
    guard case .comparator(let comparator) = token else { throw missingOperator() }
    try advance()
    let ignoresCase = try parseOption()
    let rightRange = range
    let right = comparator == .in ? try parseRightOfIn() : try parseOperand()
    let comparison = FilterComparison(
      left: left, comparator: comparator, ignoresCase: ignoresCase, right: right)
    try check(comparison, at: rightRange)
    return comparison
  }

  private func missingOperator() -> FilterError {
    if case .field(let path) = token, path.names.count == 1 {
      switch path.names[0].lowercased() {
      case "like":
        return error("there is no operator like", "write matches and a pattern, as in name matches 'a.*'")
      case "between": return error("there is no operator between", "write 1 <= a && a <= 9")
      case "is": return error("there is no operator is", "write ==")
      default: break
      }
    }
    return error("an operator is missing", Self.operatorsSuggestion)
  }

  /// Reads `[c]` after an operator. A list may begin with a bracket too, but it holds no names.
  private mutating func parseOption() throws(FilterError) -> Bool {
    guard token == .leftBracket else { return false }
    var ahead = self
    try ahead.advance()
    guard case .field(let path) = ahead.token else { return false }
    guard path.names.count == 1, path.names[0].lowercased() == "c" else {
      throw ahead.error("there is no such option", "write [c] to ignore case")
    }
    try ahead.advance()
    guard ahead.token == .rightBracket else { throw ahead.error("the option does not end here", "write [c]") }
    try ahead.advance()
    self = ahead
    return true
  }
}

extension FilterParser {
  private mutating func parseOperand() throws(FilterError) -> FilterOperand {
    let operand: FilterOperand
    switch token {
    case .field(let path): operand = .field(path)
    case .value(let value): operand = .value(value)
    case .date(let instant): operand = .date(instant)
    case .leftBrace, .leftBracket, .list: throw error("a list is allowed only after in", "write a in {1, 2}")
    case .end: throw error("the filter ends too soon", "write a field or a literal here")
    default: throw error("a field or a literal is missing", Self.comparisonSuggestion)
    }
    try advance()
    return operand
  }

  /// A list, or a field that holds an array.
  private mutating func parseRightOfIn() throws(FilterError) -> FilterOperand {
    let closing: FilterToken
    switch token {
    case .leftBrace: closing = .rightBrace
    case .leftBracket: closing = .rightBracket
    case .list(let list):
      try advance()
      return list
    case .field: return try parseOperand()
    default: throw error("a list is missing", "write it as in {'High', 'Low'}")
    }
    let opening = range
    try advance()
    var elements: [FilterOperand] = []
    while token != closing {
      if !elements.isEmpty {
        if token == .end { throw error("this list is never closed", "write } or ] after it", at: opening) }
        guard token == .comma else {
          throw error("a comma is missing", "write , between the values of a list")
        }
        try advance()
      }
      switch token {
      case .value(let value): elements.append(.value(value))
      case .date(let instant): elements.append(.date(instant))
      case .field:
        throw error("a list holds literals only", "write strings in quotes, and compare fields with ==")
      case .end: throw error("this list is never closed", "write } or ] after it", at: opening)
      default: throw error("a literal is missing", "write values as in {'High', 1, null}")
      }
      try advance()
    }
    try advance()
    return .list(elements)
  }

  /// Rejects comparisons that are well-formed but meaningless.
  ///
  /// - Parameter range: the range of the right side's first token.
  private func check(_ comparison: FilterComparison, at range: Range<String.Index>) throws(FilterError) {
    switch comparison.comparator {
    case .matches:
      guard case .value(.string(let pattern)) = comparison.right else {
        throw error("matches needs a pattern", "write one in quotes, as in name matches 'a.*'", at: range)
      }
      do throws(PatternError) {
        _ = try Pattern(pattern, isWhole: true, ignoresCase: comparison.ignoresCase)
      } catch {
        throw self.error(
          "the pattern is malformed: \(error.message)", error.next,
          at: lexer.range(ofScalars: error.scalars, inString: range))
      }
    case .beginsWith, .endsWith:
      switch comparison.right {
      case .field, .value(.string): break
      default:
        let name = comparison.comparator.rawValue
        throw error("\(name) needs a string", "write one in quotes, as in name \(name) 'a'", at: range)
      }
    default: break
    }
  }
}
