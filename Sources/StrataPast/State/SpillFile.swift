// Pages of a fold that need not stay in memory, in a file without a name.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Where a fold puts leaves of its trees when there are too many of them for memory. Belongs to one thread at a time.
///
/// Its name is removed when it is created, so nothing is left of it: neither a crash nor an erasure has to know it. A leaf
/// that a tree replaces leaves its bytes in the file, which only grows; the owner begins another one when most of it is of
/// no use. Leaves are read again through the cache of all saved tables, and one that cannot be read is made
/// from the log, as a page of a saved state is.
final class SpillFile {
  private static let number: UInt32 = 1

  private let cache: PageCache
  private let makeFile: () throws(StoreError) -> any File
  fileprivate let write:
    (_ file: any File, _ bytes: UnsafeRawBufferPointer, _ offset: Int64) throws(StoreError) -> Void
  /// The states whose leaves it has.
  let lineage = StateLineage()
  private var reader: StateReader?
  private let faults = Lock(StateFaults())
  fileprivate(set) var length: UInt64 = 0
  /// How long it is when it is next looked at how much of it is of use.
  private var lengthAtLook: UInt64 = 0

  /// - Parameters:
  ///   - makeFile: creates a file without a name; called when the first leaf is written.
  ///   - write: writes to it, unless nothing may be written any longer.
  init(
    _ cache: PageCache, makeFile: @escaping () throws(StoreError) -> any File,
    write: @escaping (any File, UnsafeRawBufferPointer, Int64) throws(StoreError) -> Void
  ) {
    (self.cache, self.makeFile, self.write) = (cache, makeFile, write)
  }

  /// Whether the file gave way: it takes nothing more.
  var isClosed: Bool { lineage.isClosed }

  /// Whether a leaf could not be read.
  var isDamaged: Bool { faults.withLock { $0.count > 0 } }

  /// Whether three quarters of the file or more are of no use, beyond a number of bytes that do not matter. It is looked
  /// at when the file has doubled.
  ///
  /// - Parameter trees: all trees that have leaves in the file.
  func isMostlyUnused(by trees: () -> [Tree], besides limit: Int) -> Bool {
    let least = UInt64(limit)
    guard length > max(least, lengthAtLook) else { return false }
    lengthAtLook = length * 2
    let used = trees().reduce(UInt64(0)) { $0.addingSaturated(byteCount(of: $1)) }
    return (length - least) / 4 > used
  }

  /// The bytes of a tree's leaves that are in the file. O(pages in memory).
  func byteCount(of tree: Tree) -> UInt64 { tree.byteCount(in: lineage) }

  /// What makes the pages of a state again that are in the file.
  func healing(_ log: Log, _ folding: Folding, sequence: UInt64) -> StateHealing {
    let healing = StateHealing(
      log, folding, sequence: sequence, chain: nil, folder: "a file without a name", faults: faults)
    lineage.add(healing)
    return healing
  }

  /// Writes the leaves of a table that are in memory only, and that no other tree has: see `Tree.forEachOwnLeaf`.
  ///
  /// - Parameter healing: what makes pages of the table, as it is now.
  package func spill(
    _ rows: inout Tree, _ problems: inout Tree, of table: String, _ healing: StateHealing
  ) throws(StoreError) {
    try spill(&rows, healing.healing(table, .rows), .rows)
    try spill(&problems, healing.healing(table, .problems), .problems)
  }

  func spill(
    _ tree: inout Tree, _ healing: TreeHealing, _ part: TablePart
  ) throws(StoreError) {
    guard !tree.isEmpty else { return }
    let writer = try writer(of: tree, healing, part)
    try tree.forEachOwnLeaf { leaf throws(StoreError) in try writer.append(leaf) }
    try writer.flush()
  }

  /// Takes over the leaves of a tree that are in other files.
  func move(
    _ tree: Tree, from lineages: [StateLineage], _ healing: TreeHealing, _ part: TablePart
  ) throws(StoreError) {
    guard !tree.isEmpty else { return }
    let writer = try writer(of: tree, healing, part)
    try tree.forEachStoredLeaf(in: lineages) { stub throws(StoreError) in try writer.append(moved: stub) }
    try writer.flush()
  }

  private func writer(
    of tree: Tree, _ healing: TreeHealing, _ part: TablePart
  ) throws(StoreError) -> SpillWriter {
    let reader: StateReader
    if let known = self.reader {
      reader = known
    } else {
      reader = StateReader([Self.number: try makeFile()], lineage, cache)
      self.reader = reader
    }
    guard !isClosed, let file = reader.file(Self.number) else { throw .closed }
    let source = reader.source(of: tree, healing, part.check)
    return SpillWriter(self, file, Self.number, source, staysOpen: part.isOfProgram)
  }
}

/// Appends leaves to a spill file, and puts stubs in their place.
final class SpillWriter {
  private static let stepLength = 1 << 18

  private let owner: SpillFile
  private let file: any File
  private let number: UInt32
  private let source: PageSource
  /// Whether the file stays open where a full disk would close it, since the log does not say what the leaves are.
  private let staysOpen: Bool
  private var raw = RawBuffer(capacity: 1 << 13)
  private var buffer = RawBuffer(capacity: 1 << 16)
  /// The leaves whose bytes are in the buffer, with the page that has them.
  private var waiting: [(parent: PageRef, index: Int, part: PagePart)] = []
  /// The stubs of leaves whose bytes are in the buffer, with their new address.
  private var moved: [(stub: PageRef, address: PageAddress)] = []

  fileprivate init(
    _ owner: SpillFile, _ file: any File, _ number: UInt32, _ source: PageSource, staysOpen: Bool
  ) {
    (self.owner, self.file, self.number, self.source) = (owner, file, number, source)
    self.staysOpen = staysOpen
  }

  /// Appends a leaf. Once its bytes are in the file, a stub takes its place.
  func append(_ own: Tree.OwnLeaf) throws(StoreError) {
    let leaf = own.leaf
    assert(leaf.count > 0, "a leaf that says where its keys begin has one")
    let address = appendRecord(of: leaf)
    // A tree may be a part of the one that pages are made from again, so a leaf at its edge says what its keys are.
    var key = KeyBuffer()
    let part = PagePart(
      address: address, height: 0, total: UInt32(truncatingIfNeeded: leaf.total),
      low: own.low ?? Array(key.key(of: leaf, 0).buffer),
      high: own.high ?? Array(key.key(of: leaf, leaf.count - 1).buffer) + [0])
    waiting.append((own.parent, own.index, part))
    if buffer.count >= Self.stepLength { try flush() }
  }

  /// Appends a leaf that is in another file, unless it is lost there.
  func append(moved stub: PageRef) throws(StoreError) {
    do {
      let reads = PageReads()
      defer { withExtendedLifetime(reads) {} }
      guard let leaf = try? stub.loadedOrLoss() else { return }
      moved.append((stub, appendRecord(of: leaf)))
    }
    if buffer.count >= Self.stepLength { try flush() }
  }

  private func appendRecord(of leaf: PageRef) -> PageAddress {
    raw.removeAll()
    StatePage.encode(leaf, to: &raw)
    let start = buffer.count
    let checksum = StatePage.appendRecord(raw.bytes, to: &buffer)
    return PageAddress(
      file: number, offset: owner.length + UInt64(start),
      length: UInt32(truncatingIfNeeded: buffer.count - start), checksum: checksum)
  }

  /// Writes the buffer. If that fails, its leaves stay where they are.
  func flush() throws(StoreError) {
    guard !buffer.bytes.isEmpty else { return }
    if staysOpen { owner.lineage.staysOpen() }
    try owner.write(file, buffer.bytes, Int64(owner.length))
    owner.length += UInt64(buffer.count)
    buffer.removeAll()
    for (parent, index, part) in waiting {
      let leaf = parent.link(index)
      assert(leaf.isLeaf && !leaf.isStub, "a stub takes the place of a leaf in memory")
      leaf.address.pointee = .none
      // The stub takes over the reference to the leaf that the page had.
      let stub = PageRef(stubFor: part, in: source, loaded: leaf)
      _ = parent.exchange(index, with: stub)
      source.cache.add(PageStub.of(stub.header))
    }
    waiting.removeAll()
    for (stub, address) in moved { stub.move(to: address, source) }
    moved.removeAll()
  }
}
