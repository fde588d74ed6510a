// Why a text is no point, no range and no time.

/// What is wrong with a point as it was typed, where, and what would be right.
package struct PointProblem: Error, Hashable, Sendable {
  package var what: String
  /// The text that was typed.
  package var place: String
  /// What to give instead.
  package var next: String

  init(_ what: String, at place: String, next: String) {
    self.what = what
    self.place = place
    self.next = next
  }
}
