// Writes the keys of one kind of one owner: pages and groups in the order of the keys, and tallies of groups and sections.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Keys are given in ascending order. When they were there is in a record of each group of keys, beside its pages: of a
/// page one key is looked for, and of a group all keys before it are counted, with a bit for each.
///
/// ```
/// page  a bit for each key that was there at the run's begin, one for each that was at its end, keys
/// key   shared bytes, rest, length of the section, length of the id
/// ```
struct KeySetWriter: ~Copyable {
  private let output: RunOutput
  private let kind: KeyOwner.Kind
  private let isBase: Bool
  private let limits: RunLimits
  private var page = RawBuffer(capacity: 1 << 13)
  private var keysInPage = 0
  private var lives = PageLives()
  private var stored = RawBuffer(capacity: 1 << 13)
  private var directory: KeyDirectoryWriter
  private var group: KeyGroupWriter
  private var tally: KeyTallyWriter
  private var sections = AscendingKeysWriter()
  private var sectionTally: KeyTallyWriter
  /// The section of the last key, and how many of its keys are there at the run's end.
  private var section: (name: [UInt8], count: Int64)?
  private var first: [UInt8] = []
  private var lastKey: [UInt8] = []
  private var count: UInt64 = 0

  init(_ output: RunOutput, _ kind: KeyOwner.Kind, begin: UInt64, isBase: Bool, _ limits: RunLimits) {
    (self.output, self.kind, self.isBase, self.limits) = (output, kind, isBase, limits)
    directory = KeyDirectoryWriter(output, pageCountMin: limits.directoryPageCountMin)
    group = KeyGroupWriter(begin: begin)
    tally = KeyTallyWriter(begin: begin, isBase: isBase, limits)
    sectionTally = KeyTallyWriter(begin: begin, isBase: isBase, limits)
  }

  mutating func add(_ record: KeyRecord) throws(StoreError) {
    assert(record.isAlive || !record.moments.isEmpty, "a key of a run was never there")
    if group.keyCount == max(1, min(limits.groupKeyCountMax, KeyBits.countMax)) {
      try flush(endsGroup: true)
    } else if keysInPage >= max(1, limits.keyCountMax) || page.count >= limits.pageLength {
      try flush(endsGroup: false)
    }
    if group.keyCount == 0 { tally.beginUnit() }
    group.add(record)
    tally.add(record)
    if keysInPage == 0 {
      first.removeAll(keepingCapacity: true)
      first.append(contentsOf: record.key)
      lastKey.removeAll(keepingCapacity: true)
    }
    if kind.hasSections { addSection(of: record) }
    page.append(record.key, after: lastKey)
    page.append(varint: UInt64(record.sectionLength))
    page.append(varint: UInt64(record.idLength))
    lastKey.removeAll(keepingCapacity: true)
    lastKey.append(contentsOf: record.key)
    lives.add(record, keysInPage)
    keysInPage += 1
    count += 1
  }

  private mutating func addSection(of record: KeyRecord) {
    let isKnown = record.key.withUnsafeBytes { key in
      section?.name.withUnsafeBytes {
        $0.hasSameBytes(as: .init(rebasing: key[..<record.sectionLength]))
      } ?? false
    }
    if !isKnown {
      endSection()
      section = (Array(record.key[..<record.sectionLength]), 0)
      sectionTally.beginUnit()
    }
    section?.count += record.countAtEnd(isBase: isBase)
    sectionTally.add(record)
  }

  private mutating func endSection() {
    guard let section else { return }
    sections.append(section.name)
    sections.bytes.append(varint: ZigZag.encode(section.count))
  }

  private mutating func flush(endsGroup: Bool) throws(StoreError) {
    stored.removeAll()
    lives.append(keysInPage, to: &stored)
    stored.append(page.bytes)
    directory.add(
      .init(
        address: try output.append(stored.bytes), keyCount: keysInPage,
        count: lives.atEnd(isBase: isBase).count(below: keysInPage)),
      first: first, endsGroup: endsGroup)
    lives = PageLives()
    if endsGroup {
      try directory.endGroup(group.finish(output, changeCountMin: limits.chunkChangeCountMin))
    }
    page.removeAll()
    keysInPage = 0
  }

  mutating func finish() throws(StoreError) -> KeySetRoot {
    guard count > 0 else { return KeySetRoot(kind: kind) }
    assert(keysInPage > 0, "a page is written when the next key is there")
    try flush(endsGroup: true)
    endSection()
    // What is read of a run that ends before the event that is asked about is in one place of the file.
    let pages = try directory.finish()
    let names = kind.hasSections ? try output.append(sections.bytes.bytes) : nil
    var root = KeySetRoot(kind: kind, count: count)
    root.addresses = .init(pages: pages, tally: try tally.finish(output))
    if let names { root.sections = .init(pages: names, tally: try sectionTally.finish(output)) }
    return root
  }
}
