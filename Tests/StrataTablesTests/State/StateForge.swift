// States with forged pages, of which every checksum is right.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation

/// Writes pages of any content into the state of the documents, and makes the state name them.
struct StateForge {
  /// A page of the state as it was.
  struct Page {
    var raw: [UInt8]
    var place: PageAddress
    /// The pages above it in its tree, the root last.
    var above: [Int]
    /// The index of its table, and which of its trees it is in.
    var table: Int
    var isProblem = false
  }

  let disk: SimulatedDisk
  /// Open for reading, so that the files can be written to beside it.
  let reader: EventStore
  let files: StateFiles
  let slot: StateSlot
  let entries: StateEntries
  let directory: [UInt8]
  private(set) var pages: [Page] = []
  private let good: [(path: String, bytes: [UInt8])]

  init(_ disk: SimulatedDisk) throws {
    self.disk = disk
    reader = try StateStore.open(disk, .readOnly)
    files = StateFiles(reader.log, StateName(StateStore.documents)!)
    slot = files.slots()[0]
    good = disk.statePaths.map { ($0, disk.contents($0)!) }
    directory = Self.raw(of: slot.root.address, disk)
    var tree = Tree(pageSize: StateDirectory.pageSize)
    let content = try directory.withUnsafeBytes { raw in
      try StatePage.decode(raw, height: 0, tree.layout) { _, _ in true }
    }
    guard case .leaf(let page) = content else { preconditionFailure("the directory is one page") }
    tree = Tree(pageSize: StateDirectory.pageSize, owned: page)
    entries = try StateEntries(tree)
    for (number, table) in entries.tables.enumerated() {
      collect(table.rows.root, Int(table.rows.root.height), number, [])
      let first = pages.count
      collect(table.problems.root, Int(table.problems.root.height), number, [])
      for index in first..<pages.count { pages[index].isProblem = true }
    }
  }

  private static func raw(of place: PageAddress, _ disk: SimulatedDisk) -> [UInt8] {
    let path = "\(StateStore.folder())/\(StoreLayout.pageFileName(place.file))"
    let record = disk.contents(path)![Int(place.offset)..<Int(place.offset) + Int(place.length)]
    return Array(record).withUnsafeBytes { record in
      (try? StatePage.withRaw(record, of: place) { Array($0) }) ?? []
    }
  }

  private mutating func collect(_ root: StateTreeRoot, _ height: Int, _ table: Int, _ above: [Int]) {
    guard root.total > 0 else { return }
    let raw = Self.raw(of: root.address, disk)
    let index = pages.count
    pages.append(Page(raw: raw, place: root.address, above: above.reversed(), table: table))
    guard height > 0 else { return }
    let layout = Tree(pageSize: TreePages.table).layout
    let content = raw.withUnsafeBytes { raw in
      try? StatePage.decode(raw, height: height, layout) { _, _ in true }
    }
    guard case .inner(let children) = content else { preconditionFailure("an inner page has no children") }
    for child in children {
      let root = StateTreeRoot(total: child.total, height: UInt8(height - 1), address: child.address)
      collect(root, height - 1, table, above + [index])
    }
  }

  /// Puts the files back as they were.
  func repair() {
    for path in disk.statePaths where !good.contains(where: { $0.path == path }) { disk.delete(path) }
    for (path, bytes) in good { disk.replace(path, bytes) }
  }

  // MARK: Writing

  /// A new page file, to which pages can be appended.
  func begin() throws -> StateFiles.PageFile {
    let page = try files.beginPageFile(above: 0)
    try files.writeHeader(of: page)
    return page
  }

  /// Appends a record of raw bytes, and returns its place.
  func append(_ raw: [UInt8], to page: inout StateFiles.PageFile) throws -> PageAddress {
    var record = RawBuffer(capacity: raw.count + 64)
    let checksum = raw.withUnsafeBytes { StatePage.appendRecord($0, to: &record) }
    return try append(record: Array(record.bytes), checksum, to: &page)
  }

  /// Appends the bytes of a record as they are.
  func append(record: [UInt8], _ checksum: UInt32, to page: inout StateFiles.PageFile) throws -> PageAddress {
    let place = PageAddress(
      file: page.number, offset: page.length, length: UInt32(record.count), checksum: checksum)
    try record.withUnsafeBytes { try page.file.write($0, at: Int64(page.length)) }
    page.length += UInt64(record.count)
    return place
  }

  /// Makes STATE name a directory of these entries.
  func finish(_ entries: StateEntries, _ page: StateFiles.PageFile) throws {
    var directory = Tree(pageSize: StateDirectory.pageSize)
    var named = entries
    named.pageFiles.insert(page.number)
    named.write(to: &directory)
    var writer = StateWriter(files, continuing: page, givingUp: [], above: 0) {}
    let root = try writer.write(directory, live: PageUsage()).root
    try writer.finish()
    try finish(root)
  }

  /// Makes STATE name a directory.
  func finish(_ root: StateTreeRoot) throws {
    var slot = slot
    slot.root = root
    let file = try files.openState()
    defer { file.close() }
    // Both slots, so that the state before is not used instead.
    try files.write(slot, to: file)
    try files.write(slot, to: file)
  }

  /// A state in which one page has other bytes.
  func forge(_ number: Int, _ raw: [UInt8]) throws {
    var file = try begin()
    let page = pages[number]
    var (old, new) = (page.place, try append(raw, to: &file))
    for index in page.above {
      let changed = Self.replace(old, new, in: pages[index].raw)
      (old, new) = (pages[index].place, try append(changed, to: &file))
    }
    var entries = entries
    if page.isProblem {
      entries.tables[page.table].problems.root.address = new
    } else {
      entries.tables[page.table].rows.root.address = new
    }
    try finish(entries, file)
  }

  private static func bytes(of place: PageAddress) -> [UInt8] {
    var buffer = RawBuffer(capacity: 64)
    StatePage.append(place, to: &buffer)
    return Array(buffer.bytes)
  }

  private static func replace(_ old: PageAddress, _ new: PageAddress, in raw: [UInt8]) -> [UInt8] {
    let wanted = bytes(of: old)
    guard let index = raw.indices.first(where: { raw[$0...].starts(with: wanted) }) else {
      preconditionFailure("a page does not name its child")
    }
    var raw = raw
    raw.replaceSubrange(index..<index + wanted.count, with: bytes(of: new))
    return raw
  }
}

/// The raw bytes of forged pages.
enum ForgedPage {
  static func varint(_ number: UInt64) -> [UInt8] {
    var buffer = RawBuffer(capacity: 16)
    buffer.append(varint: number)
    return Array(buffer.bytes)
  }

  static func text(_ bytes: [UInt8]) -> [UInt8] { varint(UInt64(bytes.count)) + bytes }

  /// A leaf, whatever its entries are.
  static func leaf(
    _ entries: [(key: [UInt8], value: [UInt8])], height: UInt8 = 0, count: UInt64? = nil, prefix: [UInt8] = []
  ) -> [UInt8] {
    var raw = [height] + varint(count ?? UInt64(entries.count)) + text(prefix)
    for (key, value) in entries {
      raw += varint(UInt64(key.count)) + varint(UInt64(value.count)) + key + value
    }
    return raw
  }

  /// An inner page, whatever its children are.
  static func inner(
    _ children: [(total: UInt64, place: PageAddress)], height: UInt8, separators: [[UInt8]],
    count: UInt64? = nil
  ) -> [UInt8] {
    var raw = [height] + varint(count ?? UInt64(children.count))
    for (total, place) in children {
      raw += varint(total)
      var buffer = RawBuffer(capacity: 64)
      StatePage.append(place, to: &buffer)
      raw += Array(buffer.bytes)
    }
    for separator in separators { raw += text(separator) }
    return raw
  }
}
