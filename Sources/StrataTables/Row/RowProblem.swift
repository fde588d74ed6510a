// Why a list does not show a row.

/// Why a row is left out of a list.
package struct RowProblem: Error, Sendable, Hashable {
  package var what: String
  package init(what: String) { self.what = what }
}
