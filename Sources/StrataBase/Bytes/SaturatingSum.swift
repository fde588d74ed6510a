// Saturating addition, for lengths read from files, which may be any number.

extension UInt64 {
  /// Returns the sum, or the maximum if the sum needs more than 64 bits.
  @inlinable
  package func addingSaturated(_ other: UInt64) -> UInt64 {
    let (sum, isOverflow) = addingReportingOverflow(other)
    return isOverflow ? .max : sum
  }
}
