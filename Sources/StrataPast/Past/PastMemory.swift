// The memory that states of the past take which no file has, and its bound.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables
internal import Synchronization

/// Counts the pages that states of the past of one store have in memory only, and moves those beyond a bound to files
/// without a name, from which it is read again through the cache of the store.
///
/// That are the pages which events changed that were folded for such a state, the lists that were built for it, and what
/// scrubbers keep. What comes from saved states or from runs is not counted: it is in the cache, which has a bound of its
/// own. What trees have is in `PastTreeBytes`. Safe to use from several threads.
final class PastMemory: StoreAttachment, Sendable {
  private struct Share {
    weak var share: PastShare?
  }

  /// A file that was made, and that somebody may hold.
  private struct Made {
    weak var lineage: StateLineage?
  }

  private struct State {
    var trees = PastTreeBytes()
    var shares: [Share] = []
    /// How many shares there ever were.
    var shareCount = 0
    var files: [Made] = []
    /// How often events began or ended to be erased.
    var erasureCount = 0
  }

  /// The bound in bytes.
  let limit: Int
  /// Who makes states now.
  let slots = PastSlots()
  private let log: Log
  private let state = Lock(State())

  init(_ log: Log) {
    self.log = log
    limit = log.options.unsavedSize ?? log.options.pageCacheSize
    log.derivedSpace?.add(self)
  }

  func storeWillClose() -> @Sendable () -> Void { {} }

  /// How many bytes are in memory only.
  var byteCount: Int {
    state.withLock { state in
      state.shares.reduce(state.trees.byteCount()) { $0 + ($1.share?.byteCount ?? 0) }
    }
  }

  var isOver: Bool { byteCount > limit }

  /// A part of the bound that work which goes on may take before it is looked at. However many states are being made, they
  /// take no more than a quarter of the bound together, or 64 KiB each.
  var step: Int {
    max(min(limit / 16, limit / 4 / max(1, readerCount)), 1 << 16)
  }

  /// How many readers of the past there are.
  var readerCount: Int { state.withLock { $0.shares.count { $0.share != nil } } }

  /// Counts the bytes that are kept elsewhere, and names the trees of one fold.
  func share(in slot: PastSlots.Slot? = nil) -> PastShare {
    state.withLock { state in
      state.shareCount += 1
      let share = PastShare(number: state.shareCount, slot)
      state.shares.removeAll { $0.share == nil }
      state.shares.append(Share(share: share))
      return share
    }
  }

  /// Counts what only a state of a fold has. Returns its bytes. O(inner pages in memory).
  ///
  /// - Parameter isSettled: whether others may hold the state from now on. Then it costs O(pages in memory).
  @discardableResult
  func count(_ set: inout TableSet, of share: PastShare, isSettled: Bool = false) -> Int {
    var sum = 0
    var line = PastTreeBytes.Line(fold: share.number, table: "", index: 0)
    set.forEachTree { tree, table, _ in
      line = PastTreeBytes.Line(
        fold: line.fold, table: table, index: line.table == table ? line.index + 1 : 0)
      // What another state has too was counted when that one was made.
      guard let bytes = tree.bytesIfOwn() else { return }
      sum += bytes
      guard let root = tree.root else { return }
      let shared = isSettled ? tree.unstoredLeafBytes - bytes : .max
      state.withLock { $0.trees.note(root, bytes: bytes, shared: shared, in: line) }
    }
    return sum
  }

  /// Counts what only a tree has that is counted nowhere else from now on, for as long as something holds the tree.
  ///
  /// - Parameter index: its index among the trees of its state.
  func count(_ tree: Tree, bytes: Int, of share: PastShare, _ index: Int) {
    guard let root = tree.root else { return }
    let line = PastTreeBytes.Line(fold: share.number, table: "", index: index)
    assert(bytes >= 0, "a tree is counted with the bytes that only it has")
    state.withLock { $0.trees.note(root, bytes: bytes, shared: 0, in: line) }
  }

  // MARK: Files

  /// How often events began or ended to be erased: what a fold notes before it reads anything.
  var erasureCount: Int { state.withLock { $0.erasureCount } }

  /// Whether states of a fold may be written: this process writes derived files, nothing that they may have was erased,
  /// and the disk was not full a short time ago.
  ///
  /// - Parameter erasureCount: the one before the fold read anything.
  func mayWrite(since erasureCount: Int) -> Bool {
    guard self.erasureCount == erasureCount else { return false }
    guard let space = log.derivedSpace else { return log.options.pastFolder != nil }
    return (log.savesStates || log.options.history.isKept) && space.allowsWriting
  }

  /// A file for pages of states of one fold; nil where none may be written. It takes no more once an append has needed
  /// room, or events were erased.
  func makeFile(_ folding: Folding, _ cache: PageCache, since erasureCount: Int) -> SpillFile? {
    guard let space = log.derivedSpace else {
      return log.options.pastFolder.map { scratchFile(in: $0, cache) }
    }
    guard let name = StateName(folding.withoutTouches.kept) else { return nil }
    let files = StateFiles(log, name)
    let removalCount = space.removalCount
    let check = { [log, self] () throws(StoreError) in
      try log.checkWrites()
      try space.checkRoom(since: removalCount)
      guard self.erasureCount == erasureCount else { throw .closed }
    }
    let file = SpillFile(
      cache,
      makeFile: { () throws(StoreError) in
        try check()
        try files.createFolder()
        return try files.scratchFile()
      },
      write: { (file, bytes, offset) throws(StoreError) in
        try space.write { () throws(StoreError) in
          try check()
          try file.write(bytes, at: offset)
        }
      })
    // Before it has a page: the log may need its room while the first ones are written.
    state.withLock { state in
      state.files.removeAll { $0.lineage == nil }
      state.files.append(Made(lineage: file.lineage))
    }
    return file
  }

  /// A file of a process that only reads, in a folder that is not the store's.
  private func scratchFile(in folder: String, _ cache: PageCache) -> SpillFile {
    let fileSystem = log.source.catalog.fileSystem
    return SpillFile(
      cache,
      makeFile: { () throws(StoreError) in
        let path = "\(folder)/.strata-past-\(String(fileSystem.freshToken(), radix: 16))"
        let file = try fileSystem.open(path, .createNew)
        do throws(StoreError) { try fileSystem.remove(path) } catch {
          file.close()
          throw error
        }
        return file
      },
      write: { (file, bytes, offset) throws(StoreError) in try file.write(bytes, at: offset) })
  }

  /// Runs a body that moves pages to a file. What cannot be written stays where it is.
  func spill(_ body: () throws(StoreError) -> Void) {
    do throws(StoreError) { try body() } catch {
      if case .full = error { log.derivedSpace?.lacksRoom(for: UInt64(limit)) }
    }
  }
}

/// The bytes that one scrubber keeps, or one fold has in addition to its state.
final class PastShare: Sendable {
  /// Tells it from all others of the store.
  let number: Int
  private let bytes = Atomic<Int>(0)

  /// For as long as this is there, also where a step goes on after its task was cancelled.
  private let slot: PastSlots.Slot?

  init(number: Int, _ slot: PastSlots.Slot?) { (self.number, self.slot) = (number, slot) }

  var byteCount: Int {
    get { bytes.load(ordering: .relaxed) }
    set {
      assert(newValue >= 0, "more bytes were released than were kept")
      bytes.store(newValue, ordering: .relaxed)
    }
  }
}

extension PastMemory: DerivedFileUser {
  var derivedFolder: String { log.layout.states }

  /// Closes the files, as those of a saved state are: see `Checkpoints`. Pages that are needed of them are folded
  /// again.
  func evict(isErasing: Bool) {
    if !isErasing { for lineage in lineages { lineage.evict() } }
  }

  func willErase() {
    state.withLock { $0.erasureCount += 1 }
    for lineage in lineages { lineage.willErase() }
  }

  func didErase() { state.withLock { $0.erasureCount += 1 } }

  private var lineages: [StateLineage] { state.withLock { $0.files.compactMap(\.lineage) } }
}

/// When it is looked at how much memory a fold of the past takes: after about as many events as fill a step, by what the
/// last ones took. At first, each event may change another page. Rows that are together as large are a reason, too.
struct PastPace {
  private static let leastBytes = 64

  /// The event after which to look.
  private(set) var next: UInt64
  private var last: (sequence: UInt64, bytes: Int)

  init(at sequence: UInt64, step: Int) {
    last = (sequence, 0)
    next = sequence.addingSaturated(UInt64(step / TreePages.table))
  }

  /// Notes how many bytes there are after an event.
  mutating func look(at sequence: UInt64, bytes: Int, left: Int, step: Int) {
    let events = max(1, sequence - min(last.sequence, sequence))
    let rate = max(Self.leastBytes, max(0, bytes - last.bytes) / Int(clamping: events))
    last = (sequence, left)
    next = sequence.addingSaturated(UInt64(max(1, step / rate)))
  }
}

extension EventStore {
  /// Counts what states of the past have in memory.
  var pastMemory: PastMemory {
    let log = log
    return attachment { PastMemory(log) }
  }
}
