// The leaves in memory that are on disk too, as many as a bound allows.

internal import CStrata
internal import StrataBase

/// Keeps the leaves of saved trees in memory that were read last, and drops others when there are too many of them. One
/// for all projections of a store. Safe to use from several threads.
///
/// Dropped is the page of a stub: the stub stays, and reads the page again when somebody next looks into it. All trees
/// that share the stub lose the page, also versions that somebody holds. Inner pages stay as long as a tree has them,
/// and with them the stubs, of some hundred bytes each; and so do leaves that are not on disk yet.
///
/// Which page is dropped is decided by CLOCK (F. Corbató, "A Paging Experiment with the Multics System", 1968): a hand
/// goes around the stubs, and drops pages that were not looked into since it last passed.
///
/// A page that was dropped may still be read by a thread that found it before. It is freed once every read that was
/// going on has ended: see `PageReads`.
package final class PageCache: Sendable {
  /// What a cache has done and holds.
  package struct Statistics: Sendable, Equatable {
    /// The leaves in the cache.
    package var pageCount = 0
    /// The bytes of these leaves.
    package var byteCount = 0
    /// The bytes of dropped leaves that are not freed yet.
    package var retiredByteCount = 0
    /// The leaves that were dropped since the cache exists.
    package var dropCount = 0
  }

  /// Leaves and other objects that no tree leads to any longer. Reads that found them before may still use them.
  private struct Retired {
    var objects: [Unmanaged<AnyObject>] = []
    var byteCount = 0
    /// The counters of reads that were not yet seen at rest.
    var busy = UInt64.max
  }

  private struct State {
    /// The stubs whose pages are in the cache. Each knows its index.
    var ring: [StubRef] = []
    var hand = 0
    var retired: [Retired] = []
    var statistics = Statistics()
  }

  /// The bound in bytes.
  package let limit: Int
  private let state = Lock(State())
  /// What told where pages were before they were moved. Such an object holds its cache, so a cache that held it would
  /// never end, and neither would the page files that the object has open.
  private static let moved = Lock<[Retired]>([])

  package init(limit: Int) {
    self.limit = limit
    strata_reads_matter()
  }

  deinit {
    // Every stub holds the cache. So no stub is left, and no read of one.
    for retired in state.withLock({ $0.retired }) { Self.release(retired.objects) }
  }

  package var statistics: Statistics { state.withLock { $0.statistics } }

  /// Adds the page of a stub, which must be held, and drops others if there are too many.
  package func add(_ stub: StubRef) {
    let free = state.withLock { state in
      if stub.cacheIndex == nil, let page = stub.loaded {
        stub.cacheIndex = state.ring.count
        state.ring.append(stub)
        state.statistics.pageCount += 1
        state.statistics.byteCount += page.allocatedBytes
      }
      if state.statistics.byteCount > limit { drop(&state) }
      return Self.takeFree(&state)
    }
    Self.release(free)
    Self.releaseMoved()
  }

  /// Takes the page of a stub out of the cache, and leaves it in the stub.
  func remove(_ stub: StubRef) { state.withLock { Self.remove(stub, &$0) } }

  private static func remove(_ stub: StubRef, _ state: inout State) {
    guard let index = stub.cacheIndex, let page = stub.loaded else { return }
    assert(state.ring[index] == stub, "a stub has another place in the cache than it says")
    stub.cacheIndex = nil
    state.statistics.pageCount -= 1
    state.statistics.byteCount -= page.allocatedBytes
    let last = state.ring.removeLast()
    guard last != stub else { return }
    state.ring[index] = last
    last.cacheIndex = index
  }

  /// Releases objects that told where pages were, once every read that is going on has ended. Nobody can reach them any
  /// longer.
  static func retire(_ objects: [Unmanaged<AnyObject>]) {
    moved.withLock { $0.append(Retired(objects: objects)) }
    releaseMoved()
  }

  /// Releases what was retired, and is used by no read any longer. Called whenever a cache of the process has something
  /// to do.
  static func releaseMoved() {
    release(moved.withLock { takeFree(&$0).flatMap(\.objects) })
  }

  /// Frees the leaves that were dropped, and are used by no read any longer.
  func releaseDropped() { Self.release(state.withLock { Self.takeFree(&$0) }) }

  /// Drops pages until a sixteenth of the bound is free.
  private func drop(_ state: inout State) {
    var dropped = Retired()
    let wanted = limit - limit / 16
    // In the second round every stub counts as not used.
    var steps = 2 * state.ring.count
    while state.statistics.byteCount > wanted, steps > 0, !state.ring.isEmpty {
      steps -= 1
      if state.hand >= state.ring.count { state.hand = 0 }
      let stub = state.ring[state.hand]
      guard !stub.unmark() else {
        state.hand += 1
        continue
      }
      Self.remove(stub, &state)
      guard let page = stub.unload() else { continue }
      dropped.objects.append(Unmanaged.fromOpaque(page.reference.toOpaque()))
      dropped.byteCount += page.allocatedBytes
    }
    guard !dropped.objects.isEmpty else { return }
    state.statistics.dropCount += dropped.objects.count
    state.statistics.retiredByteCount += dropped.byteCount
    state.retired.append(dropped)
  }

  private static func takeFree(_ state: inout State) -> [Unmanaged<AnyObject>] {
    let free = takeFree(&state.retired)
    for retired in free { state.statistics.retiredByteCount -= retired.byteCount }
    return free.flatMap(\.objects)
  }

  /// What was retired and nobody can be reading any longer.
  private static func takeFree(_ all: inout [Retired]) -> [Retired] {
    if all.isEmpty { return [] }
    let busy = strata_reads()
    var free: [Retired] = []
    all.removeAll { retired in
      assert(retired.busy != 0, "pages that are free were not taken")
      guard retired.busy & busy == 0 else { return false }
      free.append(retired)
      return true
    }
    for index in all.indices { all[index].busy &= busy }
    return free
  }

  private static func release(_ objects: [Unmanaged<AnyObject>]) {
    for object in objects { object.release() }
  }
}
