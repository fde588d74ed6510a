// The words and signs of the filter language.

package import StrataDocuments
package import StrataTables

/// One word, sign or literal of a filter's text.
package enum FilterToken: Hashable, Sendable {
  case comparator(FilterComparator)
  case and, or, not
  case leftParenthesis, rightParenthesis
  case leftBrace, rightBrace
  case leftBracket, rightBracket
  case comma
  case field(FieldPath)
  /// Null, a boolean, a number, or a string.
  case value(DocumentValue)
  case date(Instant)
  /// A list or a set: an array of a template.
  case list(FilterOperand)
  case end
}

/// The words that are not field names, unless in backquotes. Their case does not matter.
package enum FilterKeyword: String, CaseIterable, Sendable {
  case and, or, not, `in`, contains
  case beginsWith = "beginswith"
  case endsWith = "endswith"
  case matches
  case null, `true`, `false`

  /// The keyword with a name, ignoring case.
  package init?(_ name: String) {
    guard name.utf8.count <= 10 else { return nil }
    self.init(rawValue: name.lowercased())
  }

  package var token: FilterToken {
    switch self {
    case .and: .and
    case .or: .or
    case .not: .not
    case .in: .comparator(.in)
    case .contains: .comparator(.contains)
    case .beginsWith: .comparator(.beginsWith)
    case .endsWith: .comparator(.endsWith)
    case .matches: .comparator(.matches)
    case .null: .value(.null)
    case .true: .value(.bool(true))
    case .false: .value(.bool(false))
    }
  }
}
