// Why a text is not a point, a range or a time.

/// What is wrong with the text of a point, where, and what to write instead.
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
