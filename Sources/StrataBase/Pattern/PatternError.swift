// Why a text is not a pattern, and where.

/// What a pattern has that patterns do not: a mistake, or more than an automaton can match in linear time.
package struct PatternError: Error, Hashable, Sendable {
  /// What is wrong.
  package let message: String
  /// What to write instead.
  package let next: String
  /// The position, in Unicode scalars of the pattern.
  package let scalars: Range<Int>

  init(_ message: String, _ next: String, at scalars: Range<Int>) {
    (self.message, self.next, self.scalars) = (message, next, scalars)
  }
}
