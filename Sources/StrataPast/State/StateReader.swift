// The page files of a state, open for reading.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// States of one folder, each written by adding to the one before it. A page file of one is the same file
/// in each of them.
final class StateLineage: Sendable {
  private struct Entry {
    weak var reader: StateReader?
  }

  private struct Healing {
    weak var healing: StateHealing?
  }

  let counts: Lock<StateReader.Loaded>
  private let readers = Lock<[Entry]>([])
  private let healings = Lock<[Healing]>([])
  private let mayBeEvicted = Lock(true)
  private let closed = Lock(false)

  init(counts: Lock<StateReader.Loaded>? = nil) { self.counts = counts ?? Lock(StateReader.Loaded()) }

  fileprivate func add(_ reader: StateReader) {
    readers.withLock { readers in
      readers.removeAll { $0.reader == nil }
      readers.append(Entry(reader: reader))
    }
  }

  /// Notes what makes pages of the files again.
  func add(_ healing: StateHealing) {
    healings.withLock { healings in
      healings.removeAll { $0.healing == nil }
      healings.append(Healing(healing: healing))
    }
  }

  private var liveHealings: [StateHealing] { healings.withLock { $0.compactMap(\.healing) } }

  /// Whether the files gave way.
  var isClosed: Bool { closed.withLock { $0 } }

  var isEvictable: Bool { mayBeEvicted.withLock { $0 } }

  /// Closes the files of all states, so that the disk has their room. Pages that are read from them later are folded
  /// again.
  func evict() {
    guard isEvictable else { return }
    // Before they are closed: an erasure that begins now must know.
    for healing in liveHealings { healing.noteFilesGone() }
    closed.withLock { $0 = true }
    for reader in readers.withLock({ $0.compactMap(\.reader) }) { reader.evict() }
  }

  /// From now on, the files give way to nothing: the log will not have their contents.
  func staysOpen() { mayBeEvicted.withLock { $0 = false } }

  /// What has given way is folded for those that still hold it, and what has not stays open from now on.
  func willErase() {
    staysOpen()
    for healing in liveHealings { healing.makeIfFilesGone() }
  }
}

/// The page files of one state. Removing them takes only their names: they stay open for as long as a tree may
/// have pages in them that were not read yet. Safe to use from several threads.
final class StateReader: Sendable {
  /// What was read since the state was opened, without what was read at once.
  struct Loaded: Sendable, Equatable {
    var pages = 0
    /// The bytes of the pages in memory.
    var bytes = 0
  }

  private struct OpenFile {
    let file: any File
    /// The length that it was last seen to have; files only grow.
    var size: Int64 = 0
  }

  /// Nil once they gave way.
  private let open: Lock<[UInt32: OpenFile]?>
  let lineage: StateLineage
  let cache: PageCache

  init(_ files: [UInt32: any File], _ lineage: StateLineage, _ cache: PageCache) {
    open = Lock(files.mapValues { OpenFile(file: $0) })
    self.lineage = lineage
    self.cache = cache
    lineage.add(self)
  }

  func file(_ number: UInt32) -> (any File)? { open.withLock { $0?[number]?.file } }

  fileprivate func evict() {
    // The files are closed when the last read of them has ended.
    let old = open.withLock { open in
      defer { open = nil }
      return open
    }
    withExtendedLifetime(old) {}
  }

  var loaded: Loaded { lineage.counts.withLock { $0 } }

  func count(_ page: PageRef) {
    lineage.counts.withLock { counts in
      counts.pages += 1
      counts.bytes += page.allocatedBytes
    }
  }

  /// The tree with a root. Only the root is read. The other pages are read when they are first looked into,
  /// and checked as the root is. O(1).
  ///
  /// - Parameter healing: what makes pages that cannot be read.
  func tree(
    _ root: StateTreeRoot, pageSize: Int, healing: TreeHealing, _ isValid: @escaping EntryCheck
  ) throws(PageDamage) -> Tree {
    let reader = StateTreeReader(self, pageSize: pageSize, healing: healing, isValid)
    let source = reader.source
    return try tree(root, pageSize: pageSize) { (part) throws(PageDamage) in
      try reader.read(part, source)
    }
  }

  /// What reads pages of a tree that is in memory.
  func source(of tree: Tree, _ healing: TreeHealing, _ isValid: @escaping EntryCheck) -> PageSource {
    StateTreeReader(self, pageSize: tree.pageSize, healing: healing, isValid).source
  }

  /// The tree with a root. Every page is read. O(bytes).
  func wholeTree(
    _ root: StateTreeRoot, pageSize: Int, _ isValid: @escaping EntryCheck
  ) throws(PageDamage) -> Tree {
    let reader = StateTreeReader(self, pageSize: pageSize, healing: nil, isValid)
    return try tree(root, pageSize: pageSize) { (part) throws(PageDamage) in try reader.readAll(part) }
  }

  private func tree(
    _ root: StateTreeRoot, pageSize: Int, _ read: (PagePart) throws(PageDamage) -> PageRef
  ) throws(PageDamage) -> Tree {
    guard root.total > 0 else { return Tree(pageSize: pageSize) }
    guard root.height <= StateTreeRoot.heightMax else { throw PageDamage("a tree is too high") }
    let page = try read(
      PagePart(address: root.address, height: Int(root.height), total: root.total, low: nil, high: nil))
    guard page.isLeaf || page.count > 1 else {
      page.release()
      throw PageDamage("a root has only one child")
    }
    return Tree(pageSize: pageSize, owned: page)
  }

  /// Asks the disk for a record that will be read soon.
  @Sendable
  func willRead(_ address: PageAddress) {
    file(address.file)?.willRead(at: Int64(address.offset), count: Int(address.length))
  }

  /// Lends the raw bytes of a record, after its checks.
  func withRaw<Result>(
    of address: PageAddress, _ body: (UnsafeRawBufferPointer) throws(PageDamage) -> Result
  ) throws(PageDamage) -> Result {
    guard let file = file(address.file) else {
      throw open.withLock({ $0 == nil })
        ? .wasEvicted : PageDamage("a page is in a file that is missing, or is another one")
    }
    // Nothing is allocated for a record that the file cannot hold.
    guard isWithinFile(address, file) else { throw PageDamage("a page is past the end of its file") }
    let record = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(address.length), alignment: 16)
    defer { record.deallocate() }
    guard (try? file.read(into: record, at: Int64(address.offset))) == record.count else {
      throw PageDamage("a page cannot be read")
    }
    return try StatePage.withRaw(UnsafeRawBufferPointer(record), of: address, body)
  }

  /// Whether a file is known to be, or is now, long enough for a record.
  private func isWithinFile(_ address: PageAddress, _ file: any File) -> Bool {
    let end = Int64(address.offset) + Int64(address.length)
    if end <= open.withLock({ $0?[address.file]?.size ?? 0 }) { return true }
    let size = (try? file.size()) ?? 0
    open.withLock { $0?[address.file]?.size = size }
    return end <= size
  }
}
