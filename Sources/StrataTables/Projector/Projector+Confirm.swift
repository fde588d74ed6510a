// States that another build of the program saved: used at once, and folded again meanwhile.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// A second fold of what a state holds that another build of the program saved under the same version.
final class Confirmation: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices. After `outcome` it belongs to the
  // folding thread.
  enum Outcome {
    /// This build makes the same tables.
    case same
    /// It makes others, although the version is the same. The fold has come to the end of the log, or halts.
    case other
    /// Something was erased in the meantime, so the two cannot be compared.
    case incomparable
  }

  let restored: TableSet
  let fold: Fold
  /// `headAtBegin` of the two folds. Another one says that a fold began again, because events were erased.
  let heads: (restored: UInt64, fold: UInt64)
  let slice = TimeSlice()
  private(set) var outcome: Outcome?

  init(_ restored: TableSet, head: UInt64, _ fold: Fold) {
    self.restored = restored
    self.fold = fold
    heads = (head, fold.headAtBegin)
  }

  /// Goes on for one slice, and says whether the outcome is known.
  func goOn(_ end: () -> UInt64) throws(StoreError) -> Bool {
    do throws(StoreError) {
      if outcome == nil {
        guard try fold.run(through: restored.sequence, slice) else { return false }
        guard fold.state.sequence == restored.sequence else { throw .closed }
        outcome =
          fold.headAtBegin != heads.fold
          ? .incomparable : fold.state.hasSameContent(as: restored) ? .same : .other
      }
      guard outcome == .other else { return true }
      return try fold.run(through: end(), slice)
    } catch {
      // The fold of the tables halts there, too, when it has taken over.
      guard error.reason == .halted else { throw error }
      outcome = fold.headAtBegin != heads.fold ? .incomparable : .other
      return true
    }
  }
}

extension Projector {
  /// What is known of the code that made the tables.
  struct Origin {
    /// The build whose state the fold began with, if that is not this one, and `headAtBegin` of the fold then.
    var other: (build: UInt64, head: UInt64)?
    /// The fold that is made to compare, and whether its outcome is known.
    var confirmation: Confirmation?
    var isCompared = false
    /// Whether this build made other tables than the one before it, with the same version.
    var isVersionNotRaised = false

    mutating func takeConfirmation() -> Confirmation? {
      defer { (confirmation, isCompared) = (nil, false) }
      return confirmation
    }
  }

  /// Begins to fold again what another build saved.
  func confirm(_ restored: Checkpoints.Restored) {
    guard let build = restored.otherBuild else { return }
    let fold = Fold(log, folding, marksErasures: log.savesStates)
    let confirmation = Confirmation(restored.tables, head: restored.head, fold)
    state.withLock { state in
      state.origin.other = (build, restored.head)
      state.origin.confirmation = confirmation
    }
    threads.start(confirmation.slice) { [weak self] in self?.goOn(confirmation) ?? false }
  }

  /// Runs one slice of a confirmation. Returns true if there is more to do.
  private func goOn(_ confirmation: Confirmation) -> Bool {
    guard state.withLock({ $0.origin.confirmation === confirmation }) else { return false }
    do throws(StoreError) {
      guard try confirmation.goOn({ log.mark.visible.sequence }) else { return true }
    } catch {
      // The store was closed, or the log cannot be read. The next process compares.
      endConfirmation()
      return false
    }
    let begins = state.withLock { state in
      guard state.origin.confirmation === confirmation else { return false }
      state.origin.isCompared = true
      defer { state.isFolding = true }
      return !state.isFolding
    }
    if begins { threads.start(slice) { [self] in foldOn() } }
    return false
  }

  /// Takes over what a confirmation has found out, at the beginning of a pass.
  func takeConfirmation() {
    let confirmation = state.withLock { $0.origin.isCompared ? $0.origin.takeConfirmation() : nil }
    guard let confirmation, let old = exclusive.fold, old.headAtBegin == confirmation.heads.restored else {
      return
    }
    switch confirmation.outcome {
    case .same: tablesAreOfThisBuild()
    case .other:
      for table in old.state.tables {
        for view in table.views { confirmation.fold.addView(view.definition, of: table.name) }
      }
      exclusive.fold = confirmation.fold
      tablesAreOfThisBuild()
      state.withLock { state in
        state.origin.isVersionNotRaised = true
        state.reached = confirmation.fold.reached
      }
    case .incomparable, nil: break
    }
  }

  /// Notes that a fold that began again from the start has tables of this build.
  func noteOrigin(_ fold: Fold) {
    guard let other = state.withLock({ $0.origin.other }), fold.headAtBegin != other.head else { return }
    tablesAreOfThisBuild()
  }

  private func tablesAreOfThisBuild() {
    state.withLock { $0.origin.other = nil }
    endConfirmation()
    checkpoints?.areFilesNeeded.withLock { $0 = false }
  }

  /// Ends a confirmation that runs.
  func endConfirmation() {
    state.withLock { $0.origin.takeConfirmation() }?.slice.setWanted(false)
    state.signalAll()
  }

  /// Whether the state on disk is one of another build, and the tables are of this one, so that saving them spares the
  /// next start of this build the comparison.
  var isSavedByOtherBuild: Bool { otherBuild == nil && checkpoints?.isSavedByOther ?? false }

  /// The build that made the tables; nil for this one.
  var otherBuild: UInt64? { state.withLock { $0.origin.other?.build } }
}

extension TableSet {
  /// Whether both have the same tables in the same order, with the same rows, problems and failures. O(bytes) if they
  /// share nothing.
  func hasSameContent(as other: TableSet) -> Bool {
    let (mine, its) = (tables.filter(\.isWritten), other.tables.filter(\.isWritten))
    return failures == other.failures && mine.map(\.nameBytes) == its.map(\.nameBytes)
      && zip(mine, its).allSatisfy {
        $0.rows.hasSameEntries(as: $1.rows) && $0.problems.hasSameEntries(as: $1.problems)
      }
  }
}

extension Tree {
  /// Whether both trees have the same keys with the same values. O(bytes) if they share nothing.
  fileprivate func hasSameEntries(as other: Tree) -> Bool {
    struct Difference: Error {}
    guard count == other.count else { return false }
    do throws(Difference) {
      try Tree.forEachDifference(from: self, to: other) { (_) throws(Difference) in throw Difference() }
    } catch { return false }
    return true
  }
}
