// Whether the state of a projection is saved: the decision alone, which knows no file and no thread.

internal import StrataLog
internal import StrataTables

/// What is known when a state may be saved that nobody asked for.
///
/// | | in the background | at a close |
/// |---|---|---|
/// | the disk was full a short time ago, or a reader could not write | no | no |
/// | the state was removed from a full disk | yes | yes |
/// | a kept view is in no state, or a page of the state could not be read | yes, after a failure only if folding takes long | yes |
/// | folding again what is not on disk takes long | yes, in proportion to the log | yes |
/// | otherwise | no | no |
struct SaveDecision: Equatable {
  enum Moment: CaseIterable { case background, close }

  /// Whether a state may be written now: see `Checkpoints.mayBeSaved`.
  var mayBeSaved = true
  /// Whether the state was removed from a full disk, and no other one was written since.
  var wasEvicted = false
  /// Whether the state on disk lacks something that folding does not give.
  var isWanting = false
  /// Whether the last attempt to save it failed.
  var hasFailed = false
  /// Whether folding again what is not on disk takes long.
  var takesLong = false
  /// Whether no more is written than some times what the log has grown.
  var isInProportion = true

  func isDue(_ moment: Moment) -> Bool {
    guard mayBeSaved else { return false }
    switch moment {
    // After a failure a view waits, as the rest does, until there is more to save.
    case .background:
      return wasEvicted || isWanting && (takesLong || !hasFailed) || takesLong && isInProportion
    case .close: return wasEvicted || isWanting || takesLong
    }
  }
}

extension Projector {
  /// The bytes written for states are at most this many times the growth of the log, as far as `StateWrites` can tell
  /// what the next one takes.
  private static let growthFactorMax: UInt64 = 8

  func saveDecision(_ checkpoints: Checkpoints, _ set: TableSet, _ own: Exclusive) -> SaveDecision {
    SaveDecision(
      mayBeSaved: checkpoints.mayBeSaved, wasEvicted: checkpoints.wasEvicted,
      // A reader leaves it to the writer.
      isWanting: !log.isReadOnly && (checkpoints.lacksView(of: set) || checkpoints.isDamaged),
      hasFailed: checkpoints.failure != nil, takesLong: own.work.takes(log.options.savedFoldingMin),
      isInProportion: checkpoints.bytesWritten(saving: set) / Self.growthFactorMax <= own.work.totalBytes)
  }
}
