// Writes the rows of a run: pages in order of keys, and large documents outside them.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Where the fields of a page are counted from.
struct RunOrigin: Sendable {
  /// The sequence that the sequences of versions are distances from: a base has versions from before its begin.
  var sequence: UInt64

  init(begin: UInt64, isBase: Bool) { sequence = isBase ? 0 : begin }
}

/// Rows are given in ascending order of their keys, and the versions of each in order of their sequences.
///
/// ```
/// page     number of the first row, time of the first version, then rows
/// row      shared key bytes, rest of the key, versions × 4 + flags, bytes of the versions, versions
/// version  flags, sequence, time, created, and the document: whole, a difference, or where it is
/// ```
struct RunRowsWriter: ~Copyable {
  static let continuedFlag: UInt64 = 1
  static let continuesFlag: UInt64 = 2

  private let origin: RunOrigin
  private let limits: RunLimits
  private let output: RunOutput
  private var tree: RunTreeWriter
  private var page = RawBuffer(capacity: 1 << 13)
  /// The versions of the current row in the current page.
  private var row = RawBuffer(capacity: 1 << 12)
  private var rowVersionCount: UInt64 = 0
  private var isContinued = false
  private var key: [UInt8] = []
  /// The last key in the page.
  private var lastKey: [UInt8] = []
  /// Where the page begins; nil while it is empty.
  private var position: RunPosition?
  /// The time of its first version.
  private var pageTime: Int64 = 0
  private var last: RunVersion?
  /// The last document of the row in the page.
  private var document: [UInt8] = []
  private var documentCreated: UInt64 = 0
  /// The documents of the row in the page, 0 before the first.
  private var documentCount = 0
  private(set) var rowCount: UInt64 = 0
  private(set) var versionCount: UInt64 = 0

  init(_ output: RunOutput, _ origin: RunOrigin, _ limits: RunLimits) {
    self.output = output
    self.origin = origin
    self.limits = limits
    tree = RunTreeWriter(pageLength: limits.pageLength)
  }

  /// Begins a row. Its number is the number of rows before it.
  mutating func begin(_ key: UnsafeRawBufferPointer) throws(StoreError) {
    if page.count >= limits.pageLength { try flush() }
    assert(position == nil || lastKey.withUnsafeBytes { $0.order(key) < 0 }, "the rows of a run ascend")
    self.key.removeAll(keepingCapacity: true)
    self.key.append(contentsOf: key)
    (isContinued, rowVersionCount, documentCount, last) = (false, 0, 0, nil)
    row.removeAll()
  }

  /// Adds a version of the row.
  mutating func add(_ version: RunVersion, _ content: UnsafeRawBufferPointer) throws(StoreError) {
    assert(last.map { $0.sequence < version.sequence } ?? true, "the versions of a row ascend")
    assert(version.created <= version.sequence, "a version is older than its row")
    if rowVersionCount > 0, page.count + row.count >= limits.pageLength {
      endPart(continues: true)
      try flush()
      (isContinued, rowVersionCount, documentCount, last) = (true, 0, 0, nil)
      row.removeAll()
    }
    if position == nil {
      position = RunPosition(key: key, sequence: version.sequence, number: rowCount)
      page.append(varint: rowCount)
      page.append(integer: version.time)
      pageTime = version.time
      lastKey = []
    }
    try append(version, content)
    rowVersionCount += 1
    versionCount += 1
    last = version
  }

  /// Ends the row.
  mutating func end() {
    assert(rowVersionCount > 0, "a row of a run has a version")
    endPart(continues: false)
    rowCount += 1
  }

  /// The index of all pages; nil if there is no row.
  mutating func finish() throws(StoreError) -> RunTreeRoot? {
    if position != nil { try flush() }
    return try tree.finish(output)
  }

  private mutating func endPart(continues: Bool) {
    page.append(key, after: lastKey)
    let flags = (isContinued ? Self.continuedFlag : 0) | (continues ? Self.continuesFlag : 0)
    page.append(varint: rowVersionCount << 2 | flags)
    page.append(varint: UInt64(row.count))
    page.append(row.bytes)
    swap(&lastKey, &key)
    if continues { key = lastKey }
  }

  private mutating func flush() throws(StoreError) {
    guard let position else { return }
    let address = try output.append(page.bytes)
    try tree.add(position, address, output)
    self.position = nil
    page.removeAll()
  }

  private mutating func append(
    _ version: RunVersion, _ content: UnsafeRawBufferPointer
  ) throws(StoreError) {
    let isOutside: Bool
    var difference: (prefix: Int, suffix: Int)?
    switch version.kind {
    case .gone: isOutside = false
    case .problem: isOutside = content.count >= limits.largeLength
    case .document:
      if documentCount % limits.wholeInterval > 0 { difference = self.difference(to: content) }
      isOutside = difference == nil && content.count >= limits.largeLength
    }
    var flags = version.kind.rawValue
    if difference != nil { flags |= VersionFlags.difference }
    if isOutside { flags |= VersionFlags.outside }
    if version.kind == .document {
      if version.created == version.sequence {
        flags |= VersionFlags.createdBySelf
      } else if documentCount == 0 || version.created != documentCreated {
        flags |= VersionFlags.createdFollows
      }
    }
    let address = isOutside ? try output.append(content) : nil
    row.append(byte: flags)
    row.append(varint: version.sequence &- (last?.sequence ?? origin.sequence))
    row.append(varint: ZigZag.encode(version.time &- (last?.time ?? pageTime)))
    if flags & VersionFlags.createdFollows != 0 { row.append(varint: version.sequence &- version.created) }
    if let address {
      address.append(to: &row)
    } else if let difference {
      let middle = content.count - difference.prefix - difference.suffix
      row.append(varint: UInt64(difference.prefix))
      row.append(varint: UInt64(difference.suffix))
      row.append(varint: UInt64(middle))
      row.append(UnsafeRawBufferPointer(rebasing: content[difference.prefix..<difference.prefix + middle]))
    } else if version.kind != .gone {
      row.append(varint: UInt64(content.count))
      row.append(content)
    }
    guard version.kind == .document else { return }
    document.removeAll(keepingCapacity: true)
    document.append(contentsOf: content)
    documentCreated = version.created
    documentCount += 1
  }

  /// How long the common beginning and end of a document and the one before it are; nil if what is between is so long
  /// that it should be outside.
  private func difference(to content: UnsafeRawBufferPointer) -> (prefix: Int, suffix: Int)? {
    let (prefix, suffix) = document.withUnsafeBytes { old in
      let prefix = ByteRun(old).commonPrefixLength(ByteRun(content))
      let room = min(old.count, content.count) - prefix
      return (prefix, ByteRun(old).commonSuffixLength(ByteRun(content), atMost: room))
    }
    return content.count - prefix - suffix < limits.largeLength ? (prefix, suffix) : nil
  }
}
