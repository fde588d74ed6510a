// Appends that are not framed yet because their look-up needs an index that must be built first.

internal import StrataBase

extension CommitQueue {
  /// Keeps appends that were taken until `release`. They count for what may be pending, and can be taken back.
  func setAside(_ appends: [PendingAppend]) {
    gate.withLock { state in
      state.aside += appends
      state.asideBytes += appends.reduce(0) { $0 + $1.draft.byteCount }
    }
  }

  /// The drafts that are set aside, in their order.
  var draftsAside: [AppendDraft] { gate.withLock { $0.aside.map(\.draft) } }

  /// Hands appends that were set aside to the committer again, before all that wait, to be framed whatever has to be
  /// built. One whose order binds it to an earlier one stays until that one goes.
  ///
  /// - Returns: how many were handed over.
  @discardableResult
  func release(_ isReady: (AppendDraft) -> Bool) -> Int {
    let count = gate.withLock { state in
      var released: [PendingAppend] = []
      var kept: [PendingAppend] = []
      var held: Set<ObjectIdentifier> = []
      for var append in state.aside {
        let isHeld = append.order.map { held.contains($0) } ?? false
        if isHeld || !isReady(append.draft) {
          if let order = append.order { held.insert(order) }
          kept.append(append)
        } else {
          append.isLookedUp = true
          released.append(append)
        }
      }
      let bytes = released.reduce(0) { $0 + $1.draft.byteCount }
      state.aside = kept
      state.asideBytes -= bytes
      // After those that were handed over before and still wait: their orders may be the same.
      state.pending.insert(contentsOf: released, at: state.pending.prefix { $0.isLookedUp }.count)
      state.bytes += bytes
      return released.count
    }
    if count > 0 { gate.signalAll() }
    return count
  }
}

extension CommitQueue.State {
  /// Sets those of a group aside that may not be framed before one that is. None that was aside already: those that
  /// bind it have been handed over before it.
  mutating func holdBack(_ group: [PendingAppend]) -> [PendingAppend] {
    guard !aside.isEmpty else { return group }
    let held = Set(aside.compactMap(\.order))
    guard !held.isEmpty else { return group }
    return group.filter { append in
      guard !append.isLookedUp, let order = append.order, held.contains(order) else { return true }
      aside.append(append)
      asideBytes += append.draft.byteCount
      return false
    }
  }
}
