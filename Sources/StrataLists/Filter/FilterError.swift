// The error for malformed filter text: the position, and what to write instead.

/// Text that is not a filter.
///
/// ```
/// an operator is missing
///   impact 'High'
///          ^^^^^^
/// write one of == != < <= > >= in contains beginsWith endsWith matches
/// ```
public struct FilterError: Error, Hashable, Sendable {
  /// What is wrong.
  public let message: String
  /// What to write instead.
  public let suggestion: String
  /// The whole text.
  package let text: String
  /// The position, in bytes of the text's UTF-8. Empty at the end of the text.
  package let byteRange: Range<Int>

  init(_ message: String, _ suggestion: String, text: String, byteRange: Range<Int>) {
    self.message = message
    self.suggestion = suggestion
    self.text = text
    self.byteRange = byteRange
  }
}

extension FilterError {
  /// The position, in characters of the text: those that the bytes touch.
  public var characterRange: Range<Int> {
    var characterCount = 0
    var byteCount = 0
    var start: Int?
    for character in text {
      if byteCount >= byteRange.upperBound, start != nil || byteRange.isEmpty { break }
      byteCount += character.utf8.count
      if start == nil, byteCount > byteRange.lowerBound { start = characterCount }
      characterCount += 1
    }
    guard let start else { return characterCount..<characterCount }
    return start..<(byteRange.isEmpty ? start : characterCount)
  }
}

extension FilterError: CustomStringConvertible {
  /// The maximum number of characters shown on either side of the position.
  private static let contextMax = 60

  /// The message, the line of the expression with a caret under each character of the position, and what to write
  /// instead.
  public var description: String {
    let (line, carets) = excerpt
    return "\(message)\n  \(line)\n  \(carets)\n\(suggestion)"
  }

  /// The line with the position, and a line of carets for it. Characters that would move the cursor are shown as dots,
  /// except for tabs, which are repeated in the line of carets.
  private var excerpt: (line: String, carets: String) {
    let characters = Array(text)
    let range = characterRange
    let isLineEnd = { (index: Int) in characters[index].isNewline }
    let lineStart = (0..<range.lowerBound).last(where: isLineEnd).map { $0 + 1 } ?? 0
    let lineEnd = (range.lowerBound..<characters.count).first(where: isLineEnd) ?? characters.count
    let start = max(lineStart, range.lowerBound - Self.contextMax)
    let end = min(lineEnd, max(range.lowerBound, min(range.upperBound, lineEnd)) + Self.contextMax)
    let caretEnd = min(max(range.upperBound, range.lowerBound + 1), max(end, range.lowerBound + 1))
    let shownEnd = min(end, start + 3 * Self.contextMax)
    var line = start > lineStart ? "…" : ""
    var carets = start > lineStart ? " " : ""
    for index in start..<shownEnd {
      line.append(Self.shown(characters[index]))
      if index < range.lowerBound { carets.append(characters[index] == "\t" ? "\t" : " ") }
    }
    if shownEnd < lineEnd { line.append("…") }
    carets += String(
      repeating: "^", count: max(1, min(caretEnd, max(shownEnd, range.lowerBound + 1)) - range.lowerBound))
    return (line, carets)
  }

  private static func shown(_ character: Character) -> Character {
    if character == "\t" { return character }
    let isHarmless = character.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
      default: true
      }
    }
    return isHarmless ? character : "·"
  }
}
