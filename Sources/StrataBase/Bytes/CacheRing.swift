// Which entries of a cache stay in memory: a policy that knows bytes and uses, and no lock, file or thread.

/// An entry of a cache whose bytes have a bound.
package protocol CacheEntry {
  /// The bytes that it takes, which do not change while it is in a ring.
  var byteCount: Int { get }
  /// Its index in the ring; nil while it is in none. Only the ring sets it.
  var cacheIndex: Int? { get nonmutating set }
  /// Whether it was used since the last call.
  func unmark() -> Bool
}

/// The entries of a cache, and which of them are evicted.
///
/// That is decided by CLOCK (F. Corbató, "A Paging Experiment with the Multics System", 1968): a hand goes around the
/// entries, and evicts those that were not used since it last passed. So a use only marks the entry, what is used again
/// and again stays, and one walk through everything evicts what was read for it. An eviction goes on until a sixteenth
/// of the bound is free, so that most additions evict nothing.
package struct CacheRing<Entry: CacheEntry> {
  /// The bound in bytes.
  package let limit: Int
  package private(set) var byteCount = 0
  package private(set) var entries: [Entry] = []
  private var hand = 0

  package init(limit: Int) { self.limit = limit }

  /// Adds an entry that is in no ring. O(1).
  package mutating func add(_ entry: Entry) {
    assert(entry.cacheIndex == nil, "an entry is in a cache twice")
    entry.cacheIndex = entries.count
    entries.append(entry)
    byteCount += entry.byteCount
  }

  /// Takes an entry out, if it is in the ring. O(1).
  package mutating func remove(_ entry: Entry) {
    guard let index = entry.cacheIndex else { return }
    assert(index < entries.count, "an entry has an index that the ring does not")
    entry.cacheIndex = nil
    byteCount -= entry.byteCount
    assert(byteCount >= 0, "an entry takes fewer bytes than when it was added")
    let last = entries.removeLast()
    guard index < entries.count else { return }
    entries[index] = last
    last.cacheIndex = index
  }

  /// Takes out what is beyond the bound, and returns it. O(1) as a rule, and O(entries) at most.
  ///
  /// - Parameters:
  ///   - new: the bytes of an entry that is about to be added.
  ///   - room: the bound for now, if something else has a part of it.
  package mutating func evict(for new: Int = 0, within room: Int? = nil) -> [Entry] {
    let limit = room ?? limit
    guard byteCount > limit - new else { return [] }
    var evicted: [Entry] = []
    let wanted = limit - limit / 16 - new
    // In the second round every entry counts as not used.
    var steps = 2 * entries.count
    while byteCount > wanted, steps > 0, !entries.isEmpty {
      steps -= 1
      if hand >= entries.count { hand = 0 }
      let entry = entries[hand]
      if entry.unmark() {
        hand += 1
      } else {
        remove(entry)
        evicted.append(entry)
      }
    }
    return evicted
  }
}
