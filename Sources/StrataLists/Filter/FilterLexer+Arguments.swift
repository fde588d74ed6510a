// The values of a filter's template, which are tokens as they are.

extension FilterLexer {
  /// Whether a value of the template comes where the readable text ends.
  var isBeforeArgument: Bool { argumentIndex < arguments.count }

  /// The index at an offset in UTF-8 bytes. O(1).
  private func index(atByte offset: Int) -> String.Index {
    text.utf8.index(text.startIndex, offsetBy: offset)
  }

  /// Sets the end of the text that can be read before the next value.
  mutating func limitToNextArgument() {
    end = isBeforeArgument ? index(atByte: arguments[argumentIndex].byteRange.lowerBound) : scalars.endIndex
  }

  /// Moves past the next value.
  private mutating func passArgument() {
    index = index(atByte: arguments[argumentIndex].byteRange.upperBound)
    argumentIndex += 1
    limitToNextArgument()
  }

  /// The value at the index as a token.
  mutating func readArgument() throws(FilterError) -> FilterToken {
    let start = index
    let argument = arguments[argumentIndex].value
    passArgument()
    switch argument.content {
    case .operand(.field(let path)): return .field(path)
    case .operand(.value(let value)): return .value(value)
    case .operand(.date(let instant)): return .date(instant)
    case .operand(.list(let elements)): return .list(.list(elements))
    case .operand(.set(let set)): return .list(.set(set))
    case .malformed(_, let message, let suggestion): throw error(message, suggestion, from: start)
    }
  }

  /// The error for a value inside another token, which begins at `start`.
  mutating func argumentInside(_ token: String, _ suggestion: String, from start: String.Index) -> FilterError
  {
    passArgument()
    return error("a value is inside \(token)", suggestion, from: start)
  }
}
