// The index of a run's pages: which page begins with which key, and with which number.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The position in a run at which a page begins.
struct RunPosition {
  /// The row's key in pages of rows; empty in pages of changes.
  var key: [UInt8] = []
  /// The sequence of the version or event.
  var sequence: UInt64
  /// The number of the row, or of the change.
  var number: UInt64

  /// Below, equal to or above zero by key, then by sequence.
  static func order(
    _ key: UnsafeRawBufferPointer, _ sequence: UInt64, _ other: UnsafeRawBufferPointer,
    _ otherSequence: UInt64
  ) -> Int {
    let order = key.order(other)
    if order != 0 { return order }
    return sequence == otherSequence ? 0 : sequence < otherSequence ? -1 : 1
  }
}

/// The root of an index: a page, or an inner page above others.
struct RunTreeRoot: Equatable, Sendable {
  /// 0 if the root is the only page.
  var height: UInt8
  var address: RecordAddress

  /// More levels than any file has room for.
  static let heightMax: UInt8 = 40

  func append(to bytes: inout RawBuffer) {
    bytes.append(byte: height)
    address.append(to: &bytes)
  }

  init(height: UInt8, address: RecordAddress) {
    self.height = height
    self.address = address
  }

  init?(_ cursor: inout ByteCursor) {
    guard let height = cursor.integer(UInt8.self), height <= Self.heightMax,
      let address = RecordAddress(&cursor)
    else { return nil }
    self.init(height: height, address: address)
  }
}

/// One entry of an inner page. The key is valid as long as the page.
struct RunTreeEntry {
  var key: UnsafeRawBufferPointer
  var sequence: UInt64
  var number: UInt64
  var address: RecordAddress

  init?(_ cursor: inout ByteCursor) {
    guard let key = cursor.lengthPrefixed(), let sequence = cursor.varint(), let number = cursor.varint(),
      let address = RecordAddress(&cursor)
    else { return nil }
    (self.key, self.sequence, self.number, self.address) = (key, sequence, number, address)
  }
}

/// Builds the index while pages are written: a list of entries for each level, written when it is as long as a page.
struct RunTreeWriter: ~Copyable {
  private struct Level {
    var first: RunPosition
    var entries: [(position: RunPosition, address: RecordAddress)] = []
    var length = 0
  }

  private let pageLength: Int
  private var levels: [Level] = []
  private var buffer = RawBuffer(capacity: 1 << 13)

  init(pageLength: Int) { self.pageLength = pageLength }

  /// Adds a page. Pages are added in ascending order of their positions.
  mutating func add(
    _ position: RunPosition, _ address: RecordAddress, _ output: RunOutput
  ) throws(StoreError) {
    try add(position, address, level: 0, output)
  }

  private mutating func add(
    _ position: RunPosition, _ address: RecordAddress, level: Int, _ output: RunOutput
  ) throws(StoreError) {
    assert(level <= levels.count, "a level of an index has the one below it")
    if level == levels.count { levels.append(Level(first: position)) }
    if levels[level].entries.count > 1, levels[level].length >= pageLength { try flush(level, output) }
    if levels[level].entries.isEmpty { levels[level].first = position }
    assert(
      levels[level].entries.last.map { $0.position.number <= position.number } ?? true,
      "pages are added in the order of what they begin with")
    levels[level].entries.append((position, address))
    levels[level].length += position.key.count + 20
  }

  private mutating func flush(_ level: Int, _ output: RunOutput) throws(StoreError) {
    buffer.removeAll()
    buffer.append(byte: UInt8(truncatingIfNeeded: level + 1))
    for (position, address) in levels[level].entries {
      buffer.append(varint: UInt64(position.key.count))
      position.key.withUnsafeBytes { buffer.append($0) }
      buffer.append(varint: position.sequence)
      buffer.append(varint: position.number)
      address.append(to: &buffer)
    }
    let first = levels[level].first
    levels[level].entries.removeAll(keepingCapacity: true)
    levels[level].length = 0
    try add(first, try output.append(buffer.bytes), level: level + 1, output)
  }

  /// The root; nil if there was no page.
  mutating func finish(_ output: RunOutput) throws(StoreError) -> RunTreeRoot? {
    guard !levels.isEmpty else { return nil }
    var level = 0
    while level < levels.count - 1 || levels[level].entries.count > 1 {
      try flush(level, output)
      level += 1
    }
    assert(level <= RunTreeRoot.heightMax, "an index is higher than a reader accepts")
    return RunTreeRoot(height: UInt8(truncatingIfNeeded: level), address: levels[level].entries[0].address)
  }
}

/// Walks over the pages of a run in order, from any position.
struct RunTreeCursor {
  private struct Level {
    var page: RunRecord
    var cursor: ByteCursor
  }

  /// What the search is for: the last page that begins at or before it.
  enum Target {
    case begin
    case key(UnsafeRawBufferPointer, sequence: UInt64)
    case number(UInt64)

    func isBefore(_ entry: RunTreeEntry) -> Bool {
      switch self {
      case .begin: true
      case .key(let key, let sequence): RunPosition.order(key, sequence, entry.key, entry.sequence) < 0
      case .number(let number): number < entry.number
      }
    }
  }

  private let reader: RunReader
  private let root: RunTreeRoot?
  /// What reads the pages below the index; nil to read them as pages that others look at too.
  private let sweep: RunSweep?
  private var stack: [Level] = []
  private var isAtBegin = true

  /// - Parameter length: as many bytes are read together, and not kept in memory: for a walk over many pages. Nil for
  ///   looks at a few.
  init(_ reader: RunReader, _ root: RunTreeRoot?, sweeping length: Int?) {
    self.reader = reader
    self.root = root
    sweep = length.map { RunSweep(reader, length: $0) }
  }

  /// The last page that begins at or before the target, or the first page; nil if there is none.
  mutating func seek(_ target: Target) throws(PageDamage) -> RunRecord? {
    stack.removeAll(keepingCapacity: true)
    isAtBegin = false
    guard let root else { return nil }
    return try descend(root.address, root.height, target)
  }

  /// The page after the one that was returned last; the first one at the beginning.
  mutating func next() throws(PageDamage) -> RunRecord? {
    if isAtBegin { return try seek(.begin) }
    while let top = stack.indices.last {
      guard stack[top].cursor.remaining > 0 else {
        stack.removeLast()
        continue
      }
      guard let entry = RunTreeEntry(&stack[top].cursor) else {
        throw PageDamage("an index page has a broken entry")
      }
      let height = try Self.height(of: stack[top].page)
      return try descend(entry.address, height - 1, .begin)
    }
    return nil
  }

  /// Asks the system for the pages that have some versions, from the root on: for those of a height before the first of
  /// them is waited for. O(keys · height).
  static func willRead(
    _ keys: [[UInt8]], through sequence: UInt64, _ reader: RunReader
  ) throws(PageDamage) {
    guard let root = reader.root.rows else { return }
    var (addresses, height) = ([RecordAddress](repeating: root.address, count: keys.count), root.height)
    while height > 0 {
      reader.willRead(unknown: addresses)
      for (index, key) in keys.enumerated() {
        let page = try page(reader, at: addresses[index], height)
        addresses[index] = try key.lendBytes { key throws(PageDamage) in
          try last(in: page, .key(key, sequence: sequence)).entry.address
        }
      }
      height -= 1
    }
    reader.willRead(unknown: addresses)
  }

  /// An inner page.
  private static func page(
    _ reader: RunReader, at address: RecordAddress, _ height: UInt8
  ) throws(PageDamage) -> RunRecord {
    let page = try reader.record(at: address, isInner: true)
    guard try Self.height(of: page) == height, !page.entries.isEmpty else {
      throw PageDamage("an index page is broken, or of another height than the page above says")
    }
    return page
  }

  private static func height(of page: RunRecord) throws(PageDamage) -> UInt8 {
    guard let height = page.bytes.first, height > 0 else {
      throw PageDamage("an index page has no height")
    }
    return height
  }

  /// The last entry at or before the target, or the first one, and the position after it.
  private static func last(
    in page: RunRecord, _ target: Target
  ) throws(PageDamage) -> (entry: RunTreeEntry, after: ByteCursor) {
    var (low, high) = (1, page.entries.count)
    while low < high {
      let middle = (low + high) / 2
      var cursor = page.cursor(at: page.entries[middle])
      guard let entry = RunTreeEntry(&cursor) else { throw PageDamage("an index page is broken") }
      if target.isBefore(entry) { high = middle } else { low = middle + 1 }
    }
    var cursor = page.cursor(at: page.entries[low - 1])
    guard let entry = RunTreeEntry(&cursor) else { throw PageDamage("an index page is broken") }
    return (entry, cursor)
  }

  private mutating func descend(
    _ first: RecordAddress, _ firstHeight: UInt8, _ target: Target
  ) throws(PageDamage) -> RunRecord {
    var (address, height) = (first, firstHeight)
    while height > 0 {
      let page = try Self.page(reader, at: address, height)
      let (chosen, cursor) = try Self.last(in: page, target)
      stack.append(Level(page: page, cursor: cursor))
      (address, height) = (chosen.address, height - 1)
    }
    guard let sweep else { return try reader.record(at: address) }
    return try sweep.record(at: address)
  }
}
