// One run, open for reading.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// A run's file and its root. What the file says is checked as it is read: a byte that is not as it was written makes
/// the read fail. The file may be closed between two reads, and is opened again by its name: see `RunFiles`. Safe to use
/// from several threads.
final class RunReader: Sendable {
  let number: UInt32
  let root: RunRoot
  /// The tables that the run's rows are of, and those that were first written to in it.
  let tables: [RunTable]
  /// The keys of each owner that the run has.
  let keys: [OwnerKeys]
  private let files: HistoryFiles
  private let address: RecordAddress
  /// The file as it was opened last, as long as something keeps it open.
  private let last = Lock(LastFile())
  /// The file, if it is to stay open for as long as this object is there.
  private let held = Lock<RunFiles.Open?>(nil)
  /// Why the file could not be opened again.
  private let loss = Lock<RunLoss?>(nil)
  /// The bytes of the file.
  let length: UInt64
  private let cache: RunCache
  /// Whose records these are in the cache.
  private let owner: UInt64
  private let filter = Lock<RunRecord?>(nil)
  private let directories = Lock<[UInt64: KeyDirectory]>([:])
  private let sections = Lock<[UInt64: SectionCounts]>([:])

  /// - Parameter address: where the root is.
  convenience init(
    _ files: HistoryFiles, _ number: UInt32, root address: RecordAddress, _ cache: RunCache
  ) throws(PageDamage) {
    let open: RunFiles.Open
    do throws(RunLoss) { open = try Self.open(number, files, cache) } catch {
      throw error.damage("the file of a run is missing, or is another one")
    }
    try self.init(open, files, number, root: address, cache)
    cache.files.use(open, of: owner)
  }

  /// A run in memory, which has no name among the files.
  ///
  /// - Parameter file: open for reading; this closes it.
  convenience init(
    inMemory file: any File, _ files: HistoryFiles, _ number: UInt32, root address: RecordAddress,
    _ cache: RunCache
  ) throws(PageDamage) {
    let open = RunFiles.Open(file)
    try self.init(open, files, number, root: address, cache)
    held.withLock { $0 = open }
  }

  private init(
    _ open: RunFiles.Open, _ files: HistoryFiles, _ number: UInt32, root address: RecordAddress,
    _ cache: RunCache
  ) throws(PageDamage) {
    let file = open.file
    guard let length = (try? file.size()).flatMap(UInt64.init(exactly:)) else {
      throw PageDamage("a run has no length")
    }
    (self.number, self.files, self.address) = (number, files, address)
    self.length = length
    self.cache = cache
    owner = cache.owner()
    let root = try RunRoot(decoding: Self.record(address, of: number, in: file, length))
    self.root = root
    tables = try RunRoot.tables(decoding: Self.record(root.tables, of: number, in: file, length))
    if let keys = root.keys {
      self.keys = try OwnerKeys.all(decoding: Self.record(keys, of: number, in: file, length))
    } else {
      keys = []
    }
    last.withLock { $0.open = open }
  }

  deinit { cache.files.remove(owner) }

  var origin: RunOrigin { RunOrigin(begin: root.begin, isBase: root.isBase) }

  /// The record at an address, from memory if it was read lately.
  ///
  /// - Parameter isInner: whether it is an inner page, of which entries are looked for.
  func record(at address: RecordAddress, isInner: Bool = false) throws(PageDamage) -> RunRecord {
    if let record = cache.record(of: owner, at: address.offset) { return record }
    let record = try unkept(at: address, isInner: isInner)
    cache.add(record, of: owner, at: address.offset)
    return record
  }

  /// The same, always from the file. It is not kept in memory.
  func unkept(at address: RecordAddress, isInner: Bool = false) throws(PageDamage) -> RunRecord {
    let open = try opened()
    defer { withExtendedLifetime(open) {} }
    return try Self.record(address, of: number, in: open.file, length, isInner: isInner)
  }

  /// What is made of a record, from memory if it was made lately. See `RunCache.made`.
  func made<Value: AnyObject & Sendable>(
    of address: RecordAddress, part: UInt64, byteCount: (Value) -> Int,
    _ make: () throws(PageDamage) -> Value
  ) throws(PageDamage) -> Value {
    try cache.made(of: owner, at: address.offset, part: part, byteCount: byteCount, make)
  }

  private static func record(
    _ address: RecordAddress, of number: UInt32, in file: any File, _ length: UInt64, isInner: Bool = false
  ) throws(PageDamage) -> RunRecord {
    try PageDamage.inRecord(of: StoreLayout.runFileName(number), at: address.offset) {
      () throws(PageDamage) in
      // Nothing is allocated for a record that the file cannot hold.
      guard address.offset.addingSaturated(UInt64(address.length)) <= length else {
        throw PageDamage("a record is past the end of its run")
      }
      let stored = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(address.length), alignment: 16)
      defer { stored.deallocate() }
      try read(stored, at: address.offset, in: file)
      return try record(address, of: number, from: UnsafeRawBufferPointer(stored), isInner: isInner)
    }
  }

  private static func record(
    _ address: RecordAddress, of number: UInt32, from stored: UnsafeRawBufferPointer, isInner: Bool
  ) throws(PageDamage) -> RunRecord {
    let known = PageAddress(
      file: number, offset: address.offset, length: address.length, checksum: address.checksum)
    let raw = try StatePage.raw(stored, of: known)
    return RunRecord(taking: raw.bytes, count: raw.count, isInner: isInner)
  }

  /// The record at an address, from its bytes in the file. It is not kept in memory.
  func record(
    at address: RecordAddress, from stored: UnsafeRawBufferPointer
  ) throws(PageDamage) -> RunRecord {
    try PageDamage.inRecord(of: StoreLayout.runFileName(number), at: address.offset) {
      () throws(PageDamage) in try Self.record(address, of: number, from: stored, isInner: false)
    }
  }

  /// Reads a part of the file.
  func read(_ target: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(PageDamage) {
    let open = try opened()
    defer { withExtendedLifetime(open) {} }
    try Self.read(target, at: offset, in: open.file)
  }

  private static func read(
    _ target: UnsafeMutableRawBufferPointer, at offset: UInt64, in file: any File
  ) throws(PageDamage) {
    guard (try? file.read(into: target, at: Int64(offset))) == target.count else {
      throw PageDamage("a record of a run cannot be read")
    }
  }

  /// False if the run certainly has no version of a row.
  ///
  /// - Parameter hash: the XXH64 of the row's key.
  func mayContain(_ hash: UInt64) throws(PageDamage) -> Bool {
    guard let address = root.filter else { return true }
    let known = filter.withLock { $0 }
    let record: RunRecord
    if let known { record = known } else { record = try self.record(at: address) }
    if known == nil { filter.withLock { $0 = record } }
    guard record.bytes.count == KeyFilter.length(forKeys: Int(root.rowCount)) else {
      throw PageDamage("the filter of a run has another length than its rows need")
    }
    return KeyFilter.mayContain(hash, in: record.bytes)
  }

  /// Whether the run has the keys of an owner.
  func hasKeys(of owner: KeyOwner) -> Bool { keys.contains { $0.owner == owner.number } }

  /// The keys of a kind; nil if the run does not have those of the owner.
  func keySet(_ kind: KeyOwner.Kind, of owner: KeyOwner) throws(PageDamage) -> KeySet? {
    guard let sets = keys.first(where: { $0.owner == owner.number })?.sets else { return nil }
    guard let root = sets.first(where: { $0.kind == kind }) else {
      throw PageDamage("a run lacks keys of an owner")
    }
    return KeySet(reader: self, root: root, directory: try directory(of: root))
  }

  /// Stays in memory as long as the run is open.
  private func directory(of root: KeySetRoot) throws(PageDamage) -> KeyDirectory {
    guard let address = root.addresses?.pages else { return .empty }
    if let known = directories.withLock({ $0[address.offset] }) { return known }
    let directory = try KeyDirectory(decoding: unkept(at: address), keys: root.count)
    return directories.withLock {
      let kept = $0[address.offset] ?? directory
      $0[address.offset] = kept
      return kept
    }
  }

  /// Asks the system for what is read when a process first looks at the keys of a kind: of several runs, before any of it
  /// is waited for.
  func willRead(_ kind: KeyOwner.Kind, of owner: KeyOwner) {
    guard let sets = keys.first(where: { $0.owner == owner.number })?.sets,
      let root = sets.first(where: { $0.kind == kind }), let address = root.addresses?.pages,
      directories.withLock({ $0[address.offset] == nil })
    else { return }
    willRead([address, root.sections?.pages].compactMap { $0 })
  }

  /// Asks the system to have some records in memory by the time that they are read. Best effort.
  func willRead(_ addresses: some Sequence<RecordAddress>) {
    guard let open = try? opened() else { return }
    for address in addresses { open.file.willRead(at: Int64(address.offset), count: Int(address.length)) }
  }

  /// The same for the records that are not in memory.
  func willRead(unknown addresses: [RecordAddress]) {
    willRead(Set(addresses).filter { cache.record(of: owner, at: $0.offset) == nil })
  }

  /// The sections of keys with their counts at the run's end, which stay in memory as well.
  ///
  /// - Parameter keyCount: the number of the keys.
  func sections(of address: RecordAddress, keys keyCount: UInt64) throws(PageDamage) -> SectionCounts {
    if let known = sections.withLock({ $0[address.offset] }) { return known }
    let counts = try SectionCounts(decoding: unkept(at: address), keys: keyCount)
    sections.withLock { $0[address.offset] = counts }
    return counts
  }

  /// The failures that are listed with the run.
  func failures() throws(PageDamage) -> [ProjectionFailures.Failure] {
    try RunRoot.failures(decoding: record(at: root.listedFailures))
  }
}

// MARK: The file

private struct LastFile {
  weak var open: RunFiles.Open?
}

extension RunReader {
  /// The file, which is open for as long as the result is held.
  func opened() throws(PageDamage) -> RunFiles.Open {
    if let open = last.withLock({ $0.open }) {
      cache.files.use(open, of: owner)
      return open
    }
    do throws(RunLoss) {
      let open = try Self.open(number, files, cache)
      // A history that was made again may have another run of the same number. All that a run holds is named with its
      // checksum, from the root on: a file with the same root has the same content.
      guard (try? open.file.size()).flatMap(UInt64.init(exactly:)) == length,
        let record = try? Self.record(address, of: number, in: open.file, length),
        (try? RunRoot(decoding: record)) == root
      else { throw RunLoss.gone }
      last.withLock { $0.open = open }
      cache.files.use(open, of: owner)
      loss.withLock { $0 = nil }
      return open
    } catch {
      // Another thread may have seen to it that it stays open, and the name was taken since.
      if let open = last.withLock({ $0.open }) { return open }
      loss.withLock { $0 = error }
      throw error.damage("the file of a run cannot be opened again")
    }
  }

  private static func open(
    _ number: UInt32, _ files: HistoryFiles, _ cache: RunCache
  ) throws(RunLoss) -> RunFiles.Open {
    do throws(RunLoss) { return RunFiles.Open(try files.openRun(number)) } catch {
      guard error.isRefusal, cache.files.makeRoom() else { throw error }
      return RunFiles.Open(try files.openRun(number))
    }
  }

  /// Whether the file of this run still has its name.
  var isStillAtItsPath: Bool {
    guard let open = last.withLock({ $0.open }) else { return (try? opened()) != nil }
    return (try? open.file.isStillAtItsPath()) == true
  }

  /// Keeps the file open from now on: its name is about to be taken. A run that cannot be opened now cannot be read any
  /// longer.
  func stayOpen() {
    guard let open = try? opened() else { return }
    held.withLock { $0 = open }
    cache.files.remove(owner)
  }

  /// Whether the run cannot be read although nothing is wrong with the runs that are used now.
  fileprivate func isLost(to known: RunSet) -> Bool {
    switch loss.withLock({ $0 }) {
    case nil: false
    case .refused: true
    case .gone: !known.runs.contains { $0 === self }
    }
  }
}

extension RunSet {
  /// Whether damage to these runs is damage to those that are used now.
  func isDamage(to known: RunSet) -> Bool {
    known.shares(with: self) && !runs.contains { $0.isLost(to: known) }
  }
}
