// What is in memory of the files of a store, as much as a bound allows.

internal import CStrata
internal import StrataBase

/// Keeps in memory what was read of the files of one store last, and drops other parts of it when they are more than a
/// bound: the leaves of saved trees, and *records*, what was read of histories. One for all projections of a store. Safe
/// to use from several threads. What is dropped is decided by `CacheRing`.
///
/// Dropped is the page of a stub: the stub stays, and reads the page again when somebody next looks into it. All trees
/// that share the stub lose the page, also versions that somebody holds. Inner pages stay as long as a tree has them,
/// and with them the stubs, of some hundred bytes each; and so do leaves that are not on disk yet.
///
/// A record belongs to those who found it, also after it was dropped.
///
/// A page that was dropped may still be read by a thread that found it before. It is freed once every read that was
/// going on has ended: see `PageReads`.
package final class PageCache: Sendable {
  /// What a cache has done and holds.
  package struct Statistics: Sendable, Equatable {
    /// The leaves in the cache.
    package var pageCount = 0
    /// The bytes of these leaves, and of the records.
    package var byteCount = 0
    /// The bytes of dropped leaves that are not freed yet.
    package var retiredByteCount = 0
    /// The leaves and records that were dropped since the cache exists.
    package var dropCount = 0
  }

  /// Leaves and other objects that no tree leads to any longer. Reads that found them before may still use them.
  private struct Retired {
    var objects: [Unmanaged<AnyObject>] = []
    var byteCount = 0
    /// The counters of reads that were not yet seen at rest.
    var busy = UInt64.max
  }

  /// What tells a record from all others.
  package struct RecordKey: Hashable, Sendable {
    private let owner: UInt64
    private let offset: UInt64
    private let part: UInt64

    /// - Parameters:
    ///   - owner: whose it is.
    ///   - offset: where the owner has it in a file.
    ///   - part: tells what was made of the same bytes.
    package init(_ owner: UInt64, _ offset: UInt64, part: UInt64 = 0) {
      (self.owner, self.offset, self.part) = (owner, offset, part)
    }
  }

  /// The stub of a leaf, which knows its index, or a record.
  private enum Entry: CacheEntry {
    case leaf(StubRef)
    case record(Record)

    var byteCount: Int {
      switch self {
      case .leaf(let stub): stub.loaded?.allocatedBytes ?? 0
      case .record(let record): record.byteCount
      }
    }

    var cacheIndex: Int? {
      get {
        switch self {
        case .leaf(let stub): stub.cacheIndex
        case .record(let record): record.cacheIndex
        }
      }
      nonmutating set {
        switch self {
        case .leaf(let stub): stub.cacheIndex = newValue
        case .record(let record): record.cacheIndex = newValue
        }
      }
    }

    func unmark() -> Bool {
      switch self {
      case .leaf(let stub): return stub.unmark()
      case .record(let record):
        defer { record.wasUsed = false }
        return record.wasUsed
      }
    }
  }

  private final class Record {
    let key: RecordKey
    let object: any AnyObject & Sendable
    let byteCount: Int
    var cacheIndex: Int?
    var wasUsed = false

    init(_ key: RecordKey, _ object: any AnyObject & Sendable, _ byteCount: Int) {
      // With what the cache itself takes for it.
      (self.key, self.object, self.byteCount) = (key, object, byteCount + 128)
    }
  }

  private struct State {
    var ring: CacheRing<Entry>
    var records: [RecordKey: Record] = [:]
    var retired: [Retired] = []
    var retiredByteCount = 0
    var dropCount = 0
  }

  /// The bound in bytes.
  package let limit: Int
  private let state: Lock<State>
  /// What told where pages were before they were moved. Such an object holds its cache, so a cache that held it would
  /// never end, and neither would the page files that the object has open.
  private static let moved = Lock<[Retired]>([])

  package init(limit: Int) {
    self.limit = limit
    state = Lock(State(ring: CacheRing(limit: limit)))
    strata_reads_matter()
  }

  deinit {
    // Every stub holds the cache. So no stub is left, and no read of one.
    for retired in state.withLock({ $0.retired }) { Self.release(retired.objects) }
  }

  package var statistics: Statistics {
    state.withLock { state in
      Statistics(
        pageCount: state.ring.entries.count - state.records.count, byteCount: state.ring.byteCount,
        retiredByteCount: state.retiredByteCount, dropCount: state.dropCount)
    }
  }

  /// Adds the page of a stub, which must be held, and drops others if there are too many.
  package func add(_ stub: StubRef) {
    add { state in
      if stub.cacheIndex == nil, stub.loaded != nil { state.ring.add(.leaf(stub)) }
    }
  }

  /// Takes the page of a stub out of the cache, and leaves it in the stub.
  func remove(_ stub: StubRef) {
    state.withLock { if stub.cacheIndex != nil { $0.ring.remove(.leaf(stub)) } }
  }

  /// A record; nil if it is not in memory.
  package func record(_ key: RecordKey) -> (any AnyObject & Sendable)? {
    state.withLock { state in
      guard let record = state.records[key] else { return nil }
      record.wasUsed = true
      return record.object
    }
  }

  /// Adds a record unless there is one with its key, and drops others if there are too many. One that would take more
  /// than a sixteenth of the bound is not kept.
  package func add(_ object: any AnyObject & Sendable, _ key: RecordKey, byteCount: Int) {
    guard byteCount <= limit / 16 else { return }
    add { state in
      guard state.records[key] == nil else { return }
      let record = Record(key, object, byteCount)
      state.records[key] = record
      state.ring.add(.record(record))
    }
  }

  /// Drops all records.
  package func removeRecords() {
    let records = state.withLock { state in
      for record in state.records.values { state.ring.remove(.record(record)) }
      defer { state.records = [:] }
      return state.records
    }
    withExtendedLifetime(records) {}
  }

  private func add(_ body: (inout State) -> Void) {
    let (free, records) = state.withLock { state in
      body(&state)
      let records = Self.drop(&state)
      return (Self.takeFree(&state), records)
    }
    Self.release(free)
    Self.releaseMoved()
    // Outside of the lock.
    withExtendedLifetime(records) {}
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

  /// Drops what is beyond the bound. Returns the records, which are released when nobody uses them.
  private static func drop(_ state: inout State) -> [Record] {
    var dropped = Retired()
    var records: [Record] = []
    for entry in state.ring.evict() {
      state.dropCount += 1
      switch entry {
      case .leaf(let stub):
        guard let page = stub.unload() else { continue }
        dropped.objects.append(Unmanaged.fromOpaque(page.reference.toOpaque()))
        dropped.byteCount += page.allocatedBytes
      case .record(let record):
        state.records[record.key] = nil
        records.append(record)
      }
    }
    if !dropped.objects.isEmpty {
      state.retiredByteCount += dropped.byteCount
      state.retired.append(dropped)
    }
    return records
  }

  private static func takeFree(_ state: inout State) -> [Unmanaged<AnyObject>] {
    let free = takeFree(&state.retired)
    for retired in free { state.retiredByteCount -= retired.byteCount }
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
