// The mark of the erased events of a segment: a function of their sequences.

internal import StrataBase

/// Folds the sequences of erased events, ascending, into 64 bits. Two stores that erased the same events of a segment
/// get the same mark, in whatever order and by however many erasures. The header of a rewritten segment holds it.
package struct ErasureMark: Equatable, Sendable {
  /// The mark of a file that was rewritten by a version without marks: only its events say what is erased.
  package static let unknown: UInt64 = 0
  /// The mark of a segment in which nothing is erased.
  package static let none = ErasureMark()

  package private(set) var value = XXH64.of([])

  package init() {}

  /// Adds the next erased event, whose sequence is greater than all before it.
  package mutating func add(_ sequence: UInt64) {
    value = Chain.next(erased: sequence, after: value)
  }
}
