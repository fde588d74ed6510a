// Appends the pages of a state to its page files.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Writes pages that are not on disk yet, children first, and tells each where it is.
///
/// A child that was not read is where it was, and is not read unless its file is given up.
///
/// The trees must be held until the writer is done. A page that is on disk is only read; so other threads may read the
/// trees meanwhile, and change other trees that share their pages.
struct StateWriter: ~Copyable {
  /// Bytes after which a page file is followed by another one: live pages of an old file are copied from time to time.
  static let fileLengthMax: UInt64 = 64 << 20

  private let files: StateFiles
  /// Page files that are to be given up: their live pages are written again.
  private let condemned: Set<UInt32>
  /// Every file that is begun has a greater number.
  private let least: UInt32
  /// Called before the first byte is written to a new file: throws if nothing may be written any longer.
  private let check: () throws(StoreError) -> Void
  /// Called before each step: throws if the log needs the room.
  private let goesOn: () throws(StoreError) -> Void
  /// The last event of the log that is durable.
  private let durable: () -> UInt64
  private var step = SyncStep()
  /// The file that is appended to.
  private(set) var file: StateFiles.PageFile?
  private var buffer = RawBuffer(capacity: 1 << 16)
  private var raw = RawBuffer(capacity: 1 << 13)
  /// The pages whose places were set, and the places before. Held: the directory is changed while it is written.
  private var placed: [(page: Page, before: PageAddress)] = []
  /// What was written, for what follows once it is durable.
  private(set) var written = WrittenPages()
  /// The bytes of the tree that is being written.
  private var usage = PageUsage()
  /// The length of the file that was continued, before anything was appended to it.
  private let lengthBefore: UInt64?
  /// The numbers of the files that were begun.
  private(set) var begun: Set<UInt32> = []
  private(set) var bytesWritten: UInt64 = 0
  private(set) var pagesWritten = 0
  /// The bytes of all pages so far, also of those that are not written to their file yet.
  var bytesMade: UInt64 { bytesWritten + UInt64(buffer.count) }

  /// - Parameters:
  ///   - file: a file that this process began, to be continued.
  ///   - least: the greatest number in an address of the trees. Its file may be gone.
  ///   - goesOn: throws if the log needs the room; called before each step that takes some.
  ///   - durable: the last event of the log that is durable.
  ///   - check: throws if nothing may be written any longer; called when a file is begun.
  init(
    _ files: StateFiles, continuing file: StateFiles.PageFile?, givingUp condemned: Set<UInt32>,
    above least: UInt32, goesOn: @escaping () throws(StoreError) -> Void = {},
    durable: @escaping () -> UInt64 = { 0 }, check: @escaping () throws(StoreError) -> Void
  ) {
    (self.goesOn, self.durable) = (goesOn, durable)
    self.files = files
    self.least = least
    self.file = file
    lengthBefore = file?.length
    self.condemned = condemned
    self.check = check
    written.areFilesGivenUp = !condemned.isEmpty
  }

  /// Writes a tree. O(pages that are not on disk), or O(pages) if files are given up: then inner pages that were not
  /// read are read, and leaves if they are in such a file.
  ///
  /// - Parameter live: the bytes of its pages that are on disk already.
  mutating func write(_ tree: Tree, live: PageUsage) throws(StoreError) -> StateTree {
    guard let root = tree.root else { return StateTree() }
    usage = live
    let page = PageRef(root)
    _ = try write(page)
    let made = StateTreeRoot(
      total: UInt32(truncatingIfNeeded: page.total), height: UInt8(truncatingIfNeeded: page.height),
      address: page.address.pointee)
    withExtendedLifetime(root) {}
    return StateTree(root: made, usage: usage)
  }

  /// Returns whether the child has another address now.
  private mutating func write(child: PageRef) throws(StoreError) -> Bool {
    if child.isLeaf, child.isStub { return try write(stub: child) }
    if let page = child.loadedPage { return try write(page) }
    return condemned.isEmpty ? false : try write(try Self.loaded(child))
  }

  /// Writes a leaf that a stub is for, if its file is given up. The stub has the new address when everything is durable.
  private mutating func write(stub: PageRef) throws(StoreError) -> Bool {
    let before = stub.addressOnDisk
    guard condemned.contains(before.file) else { return false }
    // The cache may drop the leaf meanwhile.
    let reads = PageReads()
    defer { withExtendedLifetime(reads) {} }
    assert(written.moved[stub.reference.toOpaque()] == nil, "a leaf is moved once")
    written.moved[stub.reference.toOpaque()] = try append(try Self.loaded(stub), before: before)
    return true
  }

  private static func loaded(_ stub: PageRef) throws(StoreError) -> PageRef {
    do throws(PageLoss) { return try stub.loadedOrLoss() } catch { throw StoreError(error) }
  }

  /// Appends a page, and returns its address.
  private mutating func append(_ page: PageRef, before: PageAddress) throws(StoreError) -> PageAddress {
    raw.removeAll()
    let written = written
    StatePage.encode(page, to: &raw) { written.address(of: $0) }
    let address = try append(raw.bytes)
    usage.remove(before)
    usage.add(address)
    pagesWritten += 1
    return address
  }

  private mutating func write(_ page: PageRef) throws(StoreError) -> Bool {
    var isDue = page.address.pointee.isNone || condemned.contains(page.address.pointee.file)
    guard isDue || !condemned.isEmpty else { return false }
    if !page.isLeaf {
      for index in 0..<page.count where try write(child: page.link(index)) { isDue = true }
    }
    guard isDue else { return false }
    let before = page.address.pointee
    let address = try append(page, before: before)
    assert(!address.isNone && address != before, "a page that was written has another address than before")
    placed.append((page.reference.takeUnretainedValue(), before))
    if !page.isLeaf { written.inner.insert(page.reference.toOpaque()) }
    page.address.pointee = address
    return true
  }

  private mutating func append(_ raw: UnsafeRawBufferPointer) throws(StoreError) -> PageAddress {
    if buffer.count >= step.length { try flush() }
    let file = try current()
    let start = buffer.count
    let checksum = StatePage.appendRecord(raw, to: &buffer)
    return PageAddress(
      file: file.number, offset: file.length + UInt64(start),
      length: UInt32(truncatingIfNeeded: buffer.count - start), checksum: checksum)
  }

  private mutating func current() throws(StoreError) -> StateFiles.PageFile {
    if let file, file.length + UInt64(buffer.count) < Self.fileLengthMax { return file }
    try flush()
    file?.file.close()
    let new = try files.beginPageFile(above: least)
    assert(new.number > least, "a new file has a number that no page of the trees names")
    begun.insert(new.number)
    file = new
    try check()
    try files.writeHeader(of: new)
    return new
  }

  private mutating func flush() throws(StoreError) {
    guard let file, buffer.count > 0 else { return }
    try goesOn()
    try file.file.write(buffer.bytes, at: Int64(file.length))
    try file.file.syncData()
    step.end(durable: durable())
    bytesWritten += UInt64(buffer.count)
    self.file?.length += UInt64(buffer.count)
    buffer.removeAll()
  }

  /// Makes everything durable that was written.
  mutating func finish() throws(StoreError) {
    try flush()
    assert(buffer.bytes.isEmpty, "a page is not written")
    if !begun.isEmpty { try files.syncFolder() }
  }

  /// Takes back what was written: the pages are as if nothing had been tried, the files that were begun are gone, and
  /// the one that was continued is as long as before, so that the log has the room.
  mutating func abandon() {
    for (page, before) in placed.reversed() { PageRef(page).address.pointee = before }
    placed = []
    if begun.isEmpty, let file, let lengthBefore { try? file.file.truncate(to: Int64(lengthBefore)) }
    file?.file.close()
    file = nil
    for number in begun { files.removePageFile(number) }
  }
}

extension StoreError {
  /// A state that cannot be written, because a page of it cannot be read.
  init(_ loss: PageLoss) { self = .invalid(what: loss.what, next: "delete derived/, which is made again") }
}
