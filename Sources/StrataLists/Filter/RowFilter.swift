// The filter language's public face: which rows, as text.

package import StrataDocuments
package import StrataTables

/// Which rows to take, written as in `impact == 'High' && $time > @'2026-11-20T18:00+01:00'`.
///
/// | | |
/// |---|---|
/// | operators | `==` (also `=`) `!=` `<` `<=` `>` `>=` `in` `contains` `beginsWith` `endsWith` `matches` |
/// | options | `[c]` behind an operator ignores case |
/// | between them | `!` `&&` `\|\|` (also `NOT` `AND` `OR`, in that order of precedence), parentheses |
/// | fields | `a.b.c`, odd names in backquotes, the row's own `$id` `$revision` `$time` `$section` (a UUID as its text) |
/// | literals | `'text'` `"text"` `1` `-1.5e3` `true` `false` `null` |
/// | dates | `@'2026-11-20T18:00+01:00'`; in UTC `@'2026-11-20 17:00:16.5'` `@'2026-11-20'` `@'2026-11'` |
/// | lists | `{1, 'a'}` or `[1, 'a']`, behind `in`; a field that holds an array can stand there too |
///
/// What it means:
///
/// - A missing field is null. `==`, `!=` and `in` are true or false for all values: `null != 'X'` is true.
///   Every other operator is false where a side is null or the two are of different types.
/// - Numbers are compared exactly: 1 is 1.0, and 2⁵³ + 1 is no double. NaN equals itself and comes last.
/// - Strings are compared by their UTF-8; with `[c]` by the UTF-8 of what `lowercased()` makes of them.
/// - Next to a date, the other side is read as one: a string in RFC 3339 (the seconds may be left out). One
///   that is no date is of another type. `$time` is a date, and its UTC text to string operators and to
///   strings that are no dates.
/// - `contains` looks for a part of a string or for an element of an array. `matches` takes a whole string,
///   and a regular expression of Swift of at most 4096 bytes with at most 32 groups and classes. Its time is
///   the pattern's: do not match patterns from strangers.
/// - Arrays, objects and tagged values are equal to nothing, not even to themselves.
public struct RowFilter: Hashable, Sendable {
  /// The longest filter, in UTF-8 bytes.
  public static let byteCountMax = 65_536
  /// How many parentheses and `!` may stand inside each other.
  public static let depthMax = 64

  package let expression: FilterExpression

  package init(_ expression: FilterExpression) { self.expression = expression }

  /// The filter that a text says. Filters whose texts differ in spaces, quotes or superfluous parentheses are
  /// equal. O(length of the text).
  public init(_ text: String) throws(FilterError) {
    try self.init(text) { InstantText.named($0) }
  }

  /// The same with dates in another grammar, such as one that knows a zone and the current time.
  ///
  /// - Parameter date: what the text of a date says; nil where it is none.
  package init(_ text: String, date: @escaping (String) -> Instant?) throws(FilterError) {
    expression = try FilterParser.parse(text, date: date)
  }

  /// The paths that the filter reads.
  package var fields: Set<FieldPath> { expression.fields }
}

extension RowFilter: CustomStringConvertible {
  /// The filter in one form, which reads back as an equal filter where it is not longer than `byteCountMax`.
  public var description: String { expression.description }
}
