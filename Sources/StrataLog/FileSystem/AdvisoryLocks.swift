// What flock does, for files that the system knows nothing of.

/// Who holds the lock of one file. An owner is an open file, not a process, as with flock.
package struct AdvisoryLocks: Sendable {
  private var exclusiveOwner: UInt64?
  private var sharedOwners: Set<UInt64> = []

  package init() {}

  package var isEmpty: Bool { exclusiveOwner == nil && sharedOwners.isEmpty }

  /// Takes the lock for the owner, or changes the one it has. A change gives the old lock back first, and
  /// where the new one is refused, the old one is gone: so does Linux.
  package mutating func tryLock(_ kind: FileLockKind, owner: UInt64) -> Bool {
    switch kind {
    case .exclusive where exclusiveOwner == owner: return true
    case .shared where sharedOwners.contains(owner): return true
    default: break
    }
    unlock(owner: owner)
    guard exclusiveOwner == nil else { return false }
    switch kind {
    case .shared: sharedOwners.insert(owner)
    case .exclusive:
      guard sharedOwners.isEmpty else { return false }
      exclusiveOwner = owner
    }
    assert(exclusiveOwner == nil || sharedOwners.isEmpty, "a file is locked by one alone, or shared")
    return true
  }

  package mutating func unlock(owner: UInt64) {
    if exclusiveOwner == owner { exclusiveOwner = nil }
    sharedOwners.remove(owner)
  }
}
