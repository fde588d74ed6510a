// The state of a projection that halted: saved up to the event before the one that it cannot apply, so that the next
// process reads that one event and need not fold all those before it.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension Projector {
  /// Starts to save the state of a fold that halted, as `saveIfDue` does with one that is published. Other errors are no
  /// reason to save.
  func saveIfHalted(_ fold: Fold, _ error: StoreError, _ own: Exclusive) {
    guard let checkpoints, log.savesStates, !log.options.writesInStep else { return }
    guard own.work.takes(log.options.savedFoldingMin) || checkpoints.wasEvicted else { return }
    guard let halted = Halted(fold, error) else { return }
    saveIfDue(halted.state, halted.erasures, own)
  }

  /// Saves the state of a fold that halted, if folding again what is not on disk takes long, or if it must. A failure is
  /// kept in `checkpoints`: the caller reports the halt. Blocks.
  func saveHalted(_ fold: Fold, _ error: StoreError, isForced: Bool, _ own: Exclusive) {
    guard let checkpoints, isForced || own.work.takes(log.options.savedFoldingMin) && checkpoints.mayBeSaved,
      let halted = Halted(fold, error)
    else { return }
    guard (try? checkpoints.write(halted.state, halted.erasures)) != nil else { return }
    own.work.begin(after: halted.state)
  }
}

/// What a fold that halted can save. Its state may end inside an append, which is never published.
///
/// Where a fold halts while it folds the log again after an erasure, this is what it folded again: its own state holds
/// what was erased.
private struct Halted {
  let state: TableSet
  let erasures: SegmentErasures

  /// Nil if the fold ended with another error. Reads the last block.
  init?(_ fold: Fold, _ error: StoreError) {
    let fold = fold.anew ?? fold
    guard error.reason == .halted, let erasures = fold.erasures, (try? fold.findChain()) != nil,
      fold.state.chain != nil
    else { return nil }
    state = fold.state
    self.erasures = erasures
  }
}
