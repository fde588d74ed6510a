// // Advisory locks with the behaviour of flock, for files that the system does not know.

/// The holders of one file's lock. As with flock, a holder is an open file, not a process.
package struct AdvisoryLocks: Sendable {
  private var exclusiveOwner: UInt64?
  private var sharedOwners: Set<UInt64> = []

  package init() {}

  package var isEmpty: Bool { exclusiveOwner == nil && sharedOwners.isEmpty }

  /// Takes the lock for the owner, or changes the kind that it holds. As on Linux, a change releases the old lock
  /// first, so if the new one is refused, the owner holds neither.
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
    assert(
      exclusiveOwner == nil || sharedOwners.isEmpty,
      "a file has one exclusive owner or shared owners, not both")
    return true
  }

  package mutating func unlock(owner: UInt64) {
    if exclusiveOwner == owner { exclusiveOwner = nil }
    sharedOwners.remove(owner)
  }
}
