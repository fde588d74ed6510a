// A filter as a program writes it: text, with the program's values in it.

/// The text of a filter in which interpolated values are literals.
///
/// ```swift
/// request.filtered(by: "name contains[c] \(text) && size > \(limit)")
/// ```
///
/// Whatever a value is, it is one literal of the filter: it is not parsed, so it needs no quotes and cannot change the
/// meaning of the text around it. Values conform to ``FilterLiteral``; after `in`, arrays and sets of them are lists. A
/// field is interpolated as a path: `\(field: path) == \(value)`.
///
/// A string literal becomes a template where a template is expected, as in a call of `filtered(by:)`. A `String` does
/// not: all of it would be parsed, so that the text `x' || name != '` between two quotes would accept all rows. Where
/// that is meant, because a person wrote the filter, the label `parsing` says so:
///
/// ```swift
/// let filter: FilterTemplate = "name == \(text)"
/// request.filtered(by: filter)
/// request.filtered(parsing: text)
/// ```
///
/// A template can be malformed: the error is thrown when it becomes a ``RowFilter``, or by the fetch of a request. The
/// limits of filters hold for the text in which each value is written as a literal, except that arrays and sets of up
/// to 100,000 values are taken where they alone are too long: such a filter has no text that could be parsed, and a
/// list with it cannot be kept. O(length of the text).
public struct FilterTemplate: Sendable {
  /// A value, and the bytes of the text that show it.
  struct Argument: Hashable, Sendable {
    var byteRange: Range<Int>
    var value: FilterArgument
  }

  /// The text, in which each value is written as its literal.
  let text: String
  /// The values, in the order of the text.
  let arguments: [Argument]

  init(_ text: String, _ arguments: [Argument]) {
    var text = text
    text.makeContiguousUTF8()
    self.text = text
    self.arguments = arguments
  }

  /// The same template, in which lists of values are no text.
  func withoutTextOfLists() -> FilterTemplate {
    var parts = StringInterpolation(literalCapacity: 0, interpolationCount: 0)
    let bytes = Array(text.utf8)
    var end = 0
    for argument in arguments {
      parts.appendLiteral(String(decoding: bytes[end..<argument.byteRange.lowerBound], as: UTF8.self))
      parts.append(argument.value.withoutText)
      end = argument.byteRange.upperBound
    }
    parts.appendLiteral(String(decoding: bytes[end...], as: UTF8.self))
    return FilterTemplate(parts.text, parts.arguments)
  }

  /// A template without values: all of the text is parsed.
  public init(parsing text: some StringProtocol) { self.init(String(text), []) }
}

extension FilterTemplate: Hashable {
  /// Whether the texts and the values are the same. Requests compare the parsed filters instead.
  public static func == (a: Self, b: Self) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8) && a.arguments == b.arguments
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

extension FilterTemplate: CustomStringConvertible {
  /// The canonical text of the filter, which parses as text to an equal filter; of a malformed template, its text.
  /// O(length of the text).
  public var description: String {
    do throws(FilterError) { return try RowFilter(self).description } catch { return text }
  }
}
