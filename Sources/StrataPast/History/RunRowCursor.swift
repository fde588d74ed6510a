// Walks over the rows of a run, and over the versions of each.

internal import StrataBase
internal import StrataTables

/// A position in the rows of a run. Belongs to one thread at a time, which is why no access to its state is checked.
final class RunRowCursor {
  let reader: RunReader
  private let origin: RunOrigin
  @exclusivity(unchecked) private var pages: RunTreeCursor
  @exclusivity(unchecked) private var page: RunRecord?
  @exclusivity(unchecked) private var cursor = ByteCursor(UnsafeRawPointer(bitPattern: 8)!, count: 0)
  @exclusivity(unchecked) private var pageTime: Int64 = 0
  /// The number of the next row in the page.
  @exclusivity(unchecked) private var nextNumber: UInt64 = 0
  /// The key and the number of the current row.
  @exclusivity(unchecked) private(set) var key: [UInt8] = []
  @exclusivity(unchecked) private(set) var number: UInt64 = 0
  /// The last version that was read of the row; nil before the first.
  @exclusivity(unchecked) private(set) var version: RunVersion?
  @exclusivity(unchecked) private var content = RunContent()
  @exclusivity(unchecked) private var problem = RunContent()
  /// The versions of the row in the page that were not read, and their bytes.
  @exclusivity(unchecked) private var versionsLeft: UInt64 = 0
  @exclusivity(unchecked) private var versions = ByteCursor(UnsafeRawPointer(bitPattern: 8)!, count: 0)
  @exclusivity(unchecked) private var continues = false
  /// Whether the part of the row that was met first is the rest of one that began in another page.
  @exclusivity(unchecked) private(set) var isRest = false
  /// The last version before these, in this page.
  @exclusivity(unchecked) private var lastInPage: RunVersion?
  @exclusivity(unchecked) private var hasDocumentInPage = false
  @exclusivity(unchecked) private var documentCreated: UInt64 = 0

  /// - Parameter length: see `RunTreeCursor`.
  init(_ reader: RunReader, sweeping length: Int? = nil) {
    self.reader = reader
    origin = reader.origin
    pages = RunTreeCursor(reader, reader.root.rows, sweeping: length)
  }

  // MARK: Rows

  /// Goes to the next row, in ascending order of keys. False at the end.
  func next() throws(PageDamage) -> Bool {
    while continues { try nextPart() }
    guard cursor.remaining == 0 else {
      try beginPart(isContinued: false)
      return true
    }
    let before = key
    guard let page = try pages.next() else {
      guard nextNumber == reader.root.rowCount else {
        throw PageDamage("a run has other rows than its root says")
      }
      return false
    }
    let number = nextNumber
    try begin(page)
    guard nextNumber == number else { throw PageDamage("the rows of a run are not numbered in order") }
    try beginPart(isContinued: false)
    guard before.withUnsafeBytes({ before in key.withUnsafeBytes { before.order($0) < 0 } }) else {
      throw PageDamage("the rows of a run do not ascend")
    }
    return true
  }

  /// Goes to a row, at the part that has the last version at or before a sequence. False if the run does not have it.
  /// The part may have no such version: then the run has none.
  func seek(_ key: UnsafeRawBufferPointer, through sequence: UInt64) throws(PageDamage) -> Bool {
    guard let page = try pages.seek(.key(key, sequence: sequence)) else { return false }
    return try find(in: page) { row in row.key.withUnsafeBytes { $0.order(key) } }
  }

  /// Goes to the first version of a row. False if the run does not have it.
  func seek(toRow key: UnsafeRawBufferPointer) throws(PageDamage) -> Bool {
    guard var page = try pages.seek(.key(key, sequence: 0)) else { return false }
    while true {
      if try find(in: page, { row in row.key.withUnsafeBytes { $0.order(key) } }) { return true }
      // The row may be the first one of the next page.
      guard cursor.remaining == 0, self.key.withUnsafeBytes({ $0.order(key) < 0 }),
        let next = try pages.next()
      else { return false }
      page = next
    }
  }

  /// Goes to the first row at or after a key, before its versions. False if there is none.
  func seek(toFirst key: [UInt8]) throws(PageDamage) -> Bool {
    let found = try key.lendBytes { key throws(PageDamage) in
      try pages.seek(.key(key, sequence: 0))
    }
    guard let page = found else {
      guard reader.root.rowCount == 0 else { throw PageDamage("a run lacks its rows") }
      return false
    }
    try begin(page)
    // The page may begin with the rest of a row, which is one before the key.
    try beginPart(isContinued: nil)
    guard self.key.isBefore(key) || number == 0 && !isRest else {
      throw PageDamage("the index of a run leads past rows")
    }
    while self.key.isBefore(key) { guard try next() else { return false } }
    return true
  }

  /// The number of the first row at or after a key; the number of rows if there is none.
  func number(ofFirst key: [UInt8]) throws(PageDamage) -> UInt64 {
    try seek(toFirst: key) ? number : reader.root.rowCount
  }

  /// Goes to the row with a number. False if the run does not have it.
  func seek(number: UInt64) throws(PageDamage) -> Bool {
    guard let page = try pages.seek(.number(number)) else { return false }
    return try find(in: page) { row in row.number == number ? 0 : row.number < number ? -1 : 1 }
  }

  private func find(
    in page: RunRecord, _ order: (RunRowCursor) -> Int
  ) throws(PageDamage) -> Bool {
    try begin(page)
    var isFirst = true
    while cursor.remaining > 0 {
      try beginPart(isContinued: isFirst ? nil : false)
      isFirst = false
      let order = order(self)
      if order == 0 { return true }
      if order > 0 { return false }
    }
    return false
  }

  // MARK: Versions

  /// Reads the next version of the row; nil at the end of the row.
  func nextVersion() throws(PageDamage) -> RunVersion? {
    while versionsLeft == 0 {
      guard continues else { return nil }
      try nextPart()
    }
    let (flags, next) = try head(&versions)
    try take(flags, next)
    return next
  }

  /// Reads on to the last version at or before a sequence; nil if there is none.
  func version(through sequence: UInt64) throws(PageDamage) -> RunVersion? {
    var last: RunVersion?
    while true {
      while versionsLeft == 0 {
        guard continues else { return last }
        // What the next page says does not make the document, unless it has a version at or before the sequence.
        try keepContent()
        try nextPart()
      }
      var ahead = versions
      let (flags, next) = try head(&ahead)
      guard next.sequence <= sequence else { return last }
      versions = ahead
      try take(flags, next)
      last = next
    }
  }

  /// The bytes of the version that was read last: its document, or why there is none. Valid until the cursor moves.
  func bytes() throws(PageDamage) -> UnsafeRawBufferPointer {
    switch version?.kind {
    case .document: try content.bytes(reader)
    case .problem: try problem.bytes(reader)
    case .gone, nil: UnsafeRawBufferPointer(start: nil, count: 0)
    }
  }

  private func keepContent() throws(PageDamage) {
    switch version?.kind {
    case .document: try content.own(reader)
    case .problem: try problem.own(reader)
    case .gone, nil: break
    }
  }

  // MARK: Pages

  private func begin(_ page: RunRecord) throws(PageDamage) {
    var cursor = page.cursor
    guard let number = cursor.varint(), let time = cursor.integer(Int64.self), cursor.remaining > 0,
      number < reader.root.rowCount
    else { throw PageDamage("a page of rows is broken") }
    self.page = page
    self.cursor = cursor
    pageTime = time
    nextNumber = number
    key.removeAll(keepingCapacity: true)
    continues = false
    versionsLeft = 0
  }

  /// Goes on with the row in the next page.
  private func nextPart() throws(PageDamage) {
    // The page is replaced: what is left of the document in it is not needed, or was kept.
    let (before, number, last) = (key, number, version)
    guard let page = try pages.next() else { throw PageDamage("a row does not end") }
    try begin(page)
    try beginPart(isContinued: true)
    guard key == before, self.number == number else { throw PageDamage("a row goes on as another") }
    version = last
  }

  /// Reads the head of a row in the page.
  ///
  /// - Parameter isContinued: whether it must continue a row of the page before; nil if it may.
  private func beginPart(isContinued: Bool?) throws(PageDamage) {
    try AscendingKeys.next(&cursor, &key, isFirst: key.isEmpty, lengthMax: .max)
    guard let head = cursor.varint(), let bytes = cursor.lengthPrefixed(), head >> 2 > 0,
      isContinued == nil || isContinued == (head & RunRowsWriter.continuedFlag != 0),
      key.count >= RunKey.tableLength
    else { throw PageDamage("a row of a page is broken") }
    continues = head & RunRowsWriter.continuesFlag != 0
    guard !continues || cursor.remaining == 0, nextNumber < reader.root.rowCount else {
      throw PageDamage("a row of a page is broken")
    }
    number = nextNumber
    nextNumber += 1
    versionsLeft = head >> 2
    versions = ByteCursor(bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!, count: bytes.count)
    if isContinued != true {
      isRest = head & RunRowsWriter.continuedFlag != 0
      version = nil
      content.reset()
      problem.reset()
    }
    lastInPage = nil
    hasDocumentInPage = false
  }

  /// Reads a version up to its bytes.
  private func head(
    _ ahead: inout ByteCursor
  ) throws(PageDamage) -> (flags: UInt8, version: RunVersion) {
    guard let flags = ahead.integer(UInt8.self), flags & ~VersionFlags.known == 0,
      let kind = RunVersion.Kind(rawValue: flags & VersionFlags.kindMask), let distance = ahead.varint(),
      let time = ahead.varint()
    else { throw PageDamage("a version is broken") }
    let (sequence, isOverflow) = (lastInPage?.sequence ?? origin.sequence).addingReportingOverflow(distance)
    guard !isOverflow, sequence <= reader.root.end, sequence > (version?.sequence ?? origin.sequence),
      // A row has at most one version from before its run.
      version == nil || sequence > reader.root.begin
    else { throw PageDamage("the versions of a row do not ascend") }
    var next = RunVersion(
      kind: kind, sequence: sequence, created: 0,
      time: (lastInPage?.time ?? pageTime) &+ ZigZag.decode(time))
    let created = flags & (VersionFlags.createdBySelf | VersionFlags.createdFollows)
    if kind == .document {
      switch created {
      case VersionFlags.createdBySelf: next.created = sequence
      case VersionFlags.createdFollows:
        guard let distance = ahead.varint(), distance > 0, distance <= sequence else {
          throw PageDamage("a version is older than its row")
        }
        next.created = sequence - distance
      case 0 where hasDocumentInPage: next.created = documentCreated
      default: throw PageDamage("a version does not say when its row was created")
      }
    } else if created != 0 {
      throw PageDamage("a version has flags of another kind")
    }
    return (flags, next)
  }

  /// Reads the bytes of a version after its head.
  private func take(_ flags: UInt8, _ next: RunVersion) throws(PageDamage) {
    switch flags & (VersionFlags.difference | VersionFlags.outside) {
    case 0 where next.kind == .gone: break
    case 0:
      guard let bytes = versions.lengthPrefixed() else { throw PageDamage("a version is cut short") }
      if next.kind == .document { content.set(bytes) } else { problem.set(bytes) }
    case VersionFlags.difference where next.kind == .document && hasDocumentInPage:
      guard let prefix = versions.varint().flatMap(Int.init(exactly:)),
        let suffix = versions.varint().flatMap(Int.init(exactly:)), let middle = versions.lengthPrefixed()
      else { throw PageDamage("a difference is cut short") }
      content.change(prefix: prefix, suffix: suffix, middle)
    case VersionFlags.outside where next.kind != .gone:
      guard let address = RecordAddress(&versions) else { throw PageDamage("a document has no address") }
      if next.kind == .document { content.set(address) } else { problem.set(address) }
    default: throw PageDamage("a version has flags of another kind")
    }
    if next.kind == .document {
      hasDocumentInPage = true
      documentCreated = next.created
    }
    lastInPage = next
    version = next
    versionsLeft -= 1
    guard versionsLeft > 0 || versions.remaining == 0 else {
      throw PageDamage("a row is longer than its versions")
    }
  }
}
