// Compares each derived index file byte by byte with the index that the log gives.

internal import StrataBase

/// A read-only check of `derived/`. A missing file is not a finding: it may be deleted at any moment.
package struct IndexVerifier {
  private let fileSystem: any FileSystem
  private let layout: StoreLayout

  package init(_ fileSystem: any FileSystem, path: String) {
    self.fileSystem = fileSystem
    layout = StoreLayout(root: path)
  }

  /// One finding for each index file that differs, and for each segment with an index whose events do not continue their
  /// streams. Segments in `damaged` (names as in findings) are skipped: they already have a finding.
  ///
  /// An index may be of the beginning of its segment: a close saved it while the segment was active.
  package func run(skipping damaged: Set<String>) throws(StoreError) -> [StoreFinding] {
    let names = try SegmentCatalog.names(fileSystem, layout)
    var findings: [StoreFinding] = []
    for (number, segment) in names.enumerated() {
      let next = number + 1 < names.count ? names[number + 1] : nil
      guard !damaged.contains(segment.path), next.map({ !damaged.contains($0.path) }) ?? true else {
        continue
      }
      do throws(StoreError) {
        if let finding = try check(segment, next: next) { findings.append(finding) }
      } catch {
        guard let finding = error.finding else { throw error }
        findings.append(finding)
      }
    }
    return findings
  }

  private func check(_ name: SegmentName, next: SegmentName?) throws(StoreError) -> StoreFinding? {
    let path = layout.index(name)
    let kind = try fileSystem.kind(of: path)
    guard kind == .file else { return nil }
    let segment = try SegmentHandle.open(fileSystem, layout, first: name, storeID: nil)
    let claimed = IndexFile.identity(fileSystem, path: path)
    var whole: IndexIdentity?
    if let next {
      let header = try SegmentHandle.open(fileSystem, layout, first: next, storeID: segment.header.storeID)
        .header
      whole = IndexIdentity(
        store: header.storeID, firstSequence: name.firstSequence, lastSequence: header.previousLast,
        chain: header.previousChain)
    }
    let (tables, chain) = try tables(of: segment, through: claimed?.lastSequence ?? whole?.lastSequence ?? 0)
    let reached = IndexIdentity(
      store: segment.header.storeID, firstSequence: name.firstSequence,
      lastSequence: tables.nextSequence &- 1, chain: chain)
    // What the log has: the whole closed segment, or as much of it as the file says that it covers.
    let identity = claimed == reached ? reached : whole
    let actual = try fileSystem.open(path, .read)
    defer { actual.close() }
    var offset: UInt64? = 0
    if let identity, identity.lastSequence == reached.lastSequence, tables.eventCount > 0 {
      offset = try Self.firstDifference(try expected(tables, identity), actual)
    }
    guard let offset else { return nil }
    return StoreFinding(
      .index, file: "\(StoreLayout.derivedName)/\(path.dropFirst(layout.derived.count + 1))",
      offset: offset, first: name.firstSequence, last: name.lastBefore,
      what: "the derived index differs from the one that the log gives")
  }

  /// The file that tables give.
  private func expected(
    _ tables: SegmentIndex, _ identity: IndexIdentity
  ) throws(StoreError) -> any File {
    let memory = MemoryFileSystem()
    try memory.createDirectory("/derived")
    try ClosedIndex.write(tables, identity: identity, memory, path: "/derived/index")
    return try memory.open("/derived/index", .read)
  }

  /// The tables of a segment's events up to a sequence, or to its end, and the chain after the last of them.
  private func tables(
    of segment: SegmentHandle, through last: UInt64
  ) throws(StoreError) -> (SegmentIndex, chain: UInt64) {
    let size = try UInt64(segment.file.size())
    let tables = SegmentIndex(of: segment.header.segment)
    var chain = segment.header.previousChain
    var walk = BlockWalk(file: segment.file, segment: segment.header, limit: size)
    while !walk.isAtLimit, tables.nextSequence <= last {
      let place = walk.link
      let verdict = try walk.next()
      switch verdict {
      case .invalid(let problem):
        throw .damaged(
          problem.finding(
            in: segment.name, at: place.offset, first: place.nextSequence, last: place.lastSequence))
      case .valid(let block, let payload):
        guard block.kind == BlockKind.events else { continue }
        do throws(ContentProblem) {
          let decoded = try DecodedBlock(header: block, stored: payload)
          try tables.add(decoded, through: last)
          chain = try decoded.chain(after: tables.nextSequence - 1)
        } catch {
          throw error.storeError(
            in: segment.name, at: place.offset, first: place.nextSequence, last: block.nextSequence - 1)
        }
      }
    }
    return (tables, chain)
  }

  /// The first offset at which two files differ; if one is a prefix of the other, the length of the shorter.
  private static func firstDifference(_ a: any File, _ b: any File) throws(StoreError) -> UInt64? {
    let sizes = (UInt64(try a.size()), UInt64(try b.size()))
    var window = SegmentWindow(file: a)
    var otherWindow = SegmentWindow(file: b)
    let common = min(sizes.0, sizes.1)
    var offset: UInt64 = 0
    while offset < common {
      let length = Int(min(1 << 16, common - offset))
      let left = try window.bytes(at: offset, length: length, limit: common)
      let right = try otherWindow.bytes(at: offset, length: length, limit: common)
      guard left.count == length, right.count == length else { return offset }
      if let place = zip(left, right).enumerated().first(where: { $1.0 != $1.1 })?.offset {
        return offset + UInt64(place)
      }
      offset += UInt64(length)
    }
    return sizes.0 == sizes.1 ? nil : common
  }
}
