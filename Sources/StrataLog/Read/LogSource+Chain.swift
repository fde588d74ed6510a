// Lookups by sequence: the block that holds it, and the chain after it.

extension LogSource {
  /// The visible block that holds a sequence, or nil if the log does not have it.
  package func block(holding sequence: UInt64) throws(StoreError) -> DecodedBlock? {
    let mark = tail.mark
    guard sequence >= mark.logBegin, sequence <= mark.sequence else { return nil }
    var cursor = LogCursor(self, after: sequence - 1, step: 1 << 16)
    return try cursor.next()
  }

  /// The chain after a sequence. Sequence 0 is before all events.
  package func chain(after sequence: UInt64) throws(StoreError) -> UInt64? {
    let mark = tail.mark
    if sequence == mark.sequence { return mark.visible.chain }
    if sequence == mark.logBegin - 1 {
      return try catalog.segment(SegmentName(mark.logBegin)).header.previousChain
    }
    guard let block = try block(holding: sequence) else { return nil }
    do throws(ContentProblem) { return try block.chain(after: sequence) } catch {
      throw error.storeError(of: block.header, through: sequence)
    }
  }
}
