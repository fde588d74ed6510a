// The public type of the filter language: which rows to select, as text.

package import StrataDocuments
package import StrataTables

/// A condition on rows, written for example as `impact == 'High' && $time > @'2026-11-20T18:00+01:00'`.
///
/// | | |
/// |---|---|
/// | operators | `==` (also `=`) `!=` `<` `<=` `>` `>=` `in` `contains` `beginsWith` `endsWith` `matches` |
/// | options | `[c]` after an operator ignores case |
/// | combination | `!` `&&` `\|\|` (also `NOT` `AND` `OR`, in that order of precedence), parentheses |
/// | fields | `a.b.c`, other names in backquotes, the row's `$id` `$revision` `$time` `$section` (a UUID as its text) |
/// | literals | `'text'` `"text"` `1` `-1.5e3` `true` `false` `null` |
/// | dates | `@'2026-11-20T18:00+01:00'`; in UTC `@'2026-11-20 17:00:16.5'` `@'2026-11-20'` `@'2026-11'` |
/// | lists | `{1, 'a'}` or `[1, 'a']`, after `in`; a field that holds an array is allowed there too |
///
/// Semantics:
///
/// - A missing field is null. `==`, `!=` and `in` are true or false for all values: `null != 'X'` is true. Every other
///   operator is false if a side is null or the types differ.
/// - Numbers are compared exactly: 1 equals 1.0, and 2⁵³ + 1 equals no double. NaN equals itself and comes last.
/// - Strings are compared by their UTF-8; with `[c]`, by the UTF-8 of their case folding: `Straße` equals `STRASSE`.
/// - Next to a date, the other side is read as a date: a string in RFC 3339 (the seconds may be left out), and an
///   integer as nanoseconds since 1970, as which documents hold a `Timestamp`. A string that is not a date is of
///   another type. `$time` is a date; for string operators and for strings that are not dates, it is its UTC text.
/// - `contains` looks for a part of a string or for an element of an array. `matches` compares a whole string with a
///   regular expression of at most 4096 bytes, in a time that is proportional to the string's length. The page on
///   requests has its grammar.
/// - Arrays, objects and tagged values are not equal to anything, not even to themselves.
public struct RowFilter: Hashable, Sendable {
  /// The longest filter, in UTF-8 bytes.
  package static let byteCountMax = 65_536
  /// The maximum nesting depth of parentheses and `!`.
  package static let depthMax = 64

  package let expression: FilterExpression

  package init(_ expression: FilterExpression) { self.expression = expression }

  /// Parses a filter, written as a string literal: `try RowFilter("impact == \(impact)")`. Interpolated values are
  /// literals of the filter and are not parsed. Filters whose texts differ only in spaces, quotes or superfluous
  /// parentheses are equal. O(length of the text).
  ///
  /// Throws `FilterError` with the position of the first error.
  public init(_ template: FilterTemplate) throws(FilterError) {
    expression = try FilterParser.parse(template) { InstantText.named($0) }
  }

  /// Parses a filter from a text that a person wrote, all of which is text of the language. O(length of the text).
  ///
  /// Throws `FilterError` with the position of the first error.
  public init(parsing text: some StringProtocol) throws(FilterError) {
    try self.init(FilterTemplate(parsing: text))
  }

  /// Parses a text with another grammar for dates, such as one that knows a time zone and the current time.
  ///
  /// - Parameter date: parses the text of a date; nil if it is not a date.
  package init(_ text: String, date: @escaping (String) -> Instant?) throws(FilterError) {
    expression = try FilterParser.parse(FilterTemplate(parsing: text), date: date)
  }

  /// The paths that the filter reads.
  package var fields: Set<FieldPath> { expression.fields }
}

extension RowFilter: CustomStringConvertible {
  /// The filter as canonical text, which parses back to an equal filter if it is not longer than `byteCountMax` and no
  /// list in it is too long to be written.
  public var description: String { expression.description }
}
