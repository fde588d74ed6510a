// States that another build of the program saved: used at once, and folded again meanwhile.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
package import StrataTables

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
    /// Those who hold tables of the other build, and what they do when those of this one are published.
    private var watchers: [ObjectIdentifier: @Sendable () -> Void] = [:]

    /// Whether the tables of a state may still give way to others.
    func mayReplace(_ set: TableSet) -> Bool {
      other != nil || isVersionNotRaised && set.generation == 0
    }

    mutating func watch(_ owner: ObjectIdentifier, _ body: @escaping @Sendable () -> Void) {
      watchers[owner] = body
    }

    mutating func takeWatchers() -> [@Sendable () -> Void] {
      defer { watchers = [:] }
      return Array(watchers.values)
    }

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
    if begins { start(Work(pass: exclusive)) }
    return false
  }

  /// Takes over what a confirmation has found out, at the beginning of a pass. The fold has begun: without one, what was
  /// found out would be lost.
  func takeConfirmation(_ own: Exclusive) {
    let confirmation = state.withLock { $0.origin.isCompared ? $0.origin.takeConfirmation() : nil }
    guard let confirmation, let old = own.fold, old.headAtBegin == confirmation.heads.restored else {
      return
    }
    switch confirmation.outcome {
    case .same: tablesAreOfThisBuild()
    case .other:
      replace(old, by: confirmation.fold, own)
      makeAgain(viewsOf: old.state, confirmation.fold)
    case .incomparable, nil: break
    }
  }

  /// Puts a fold with tables of this build in the place of one with tables of another build.
  private func replace(_ old: Fold, by new: Fold, _ own: Exclusive) {
    new.state.generation = old.state.generation + 1
    use(new, own)
    state.withLock { $0.origin.isVersionNotRaised = true }
    tablesAreOfThisBuild()
  }

  /// Begins to fold from the start if a list that callers wait for could show none of the rows that another build made:
  /// the row type has changed. Returns true if it did; then the pass begins again.
  func giveUpUnreadable(_ fold: Fold, _ own: Exclusive) -> Bool {
    let isUnreadable = state.withLock { state in
      defer { state.isUnreadable = false }
      return state.isUnreadable && state.origin.other != nil
    }
    guard isUnreadable else { return false }
    replace(fold, by: Fold(log, folding, marksErasures: checkpoints != nil && log.savesStates), own)
    return true
  }

  /// Notes that a fold that began again from the start has tables of this build.
  func noteOrigin(_ fold: Fold) {
    guard let other = state.withLock({ $0.origin.other }), fold.headAtBegin != other.head else { return }
    tablesAreOfThisBuild()
  }

  private func tablesAreOfThisBuild() {
    let watchers = state.withLock { state in
      state.origin.other = nil
      // Where tables give way, their watchers are called when that is published.
      return state.origin.isVersionNotRaised ? [] : state.origin.takeWatchers()
    }
    // What they keep alive is released outside the lock.
    withExtendedLifetime(watchers) {}
    endConfirmation()
    checkpoints?.areFilesNeeded.withLock { $0 = false }
  }

  /// Calls a closure once if the tables of a state are those of another build and give way to those of this one: at once
  /// if they have, otherwise when that is published.
  ///
  /// - Parameter owner: has one closure at a time.
  package func whenReplaced(
    _ set: TableSet, for owner: ObjectIdentifier, _ body: @escaping @Sendable () -> Void
  ) {
    let isReplaced = state.withLock { state in
      if state.published.generation > set.generation { return true }
      if state.origin.mayReplace(set) { state.origin.watch(owner, body) }
      return false
    }
    if isReplaced { body() }
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
