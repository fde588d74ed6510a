// Sums of lengths that files say of themselves, and that may be anything.

extension UInt64 {
  /// The sum, or the highest number where the sum needs more than 64 bits.
  @inlinable
  package func addingSaturated(_ other: UInt64) -> UInt64 {
    let (sum, isOverflow) = addingReportingOverflow(other)
    return isOverflow ? .max : sum
  }
}
