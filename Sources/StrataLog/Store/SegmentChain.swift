// The segments of a store as a whole: do their headers link, and does HEAD name one of them?

internal import StrataBase

/// The headers of all segments, checked against each other and against HEAD. No block has been read.
struct SegmentChain {
  private(set) var storeID: StoreID
  private(set) var headers: [SegmentHeader]
  /// The damage at which the headers end before the last segment; only if the caller continues up to the damage.
  private(set) var damage: StoreFinding?

  /// Reads and checks the header of every segment. `names` is not empty.
  ///
  /// - Parameter stopsAtDamage: keeps the segments before the first damaged or missing one, if there are any,
  ///   instead of throwing.
  init(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, names: [SegmentName], head: HeadSlot?,
    stopsAtDamage: Bool = false
  ) throws(StoreError) {
    storeID = head?.storeID ?? StoreID(low: 0, high: 0)
    headers = []
    do throws(StoreError) {
      try read(fileSystem, layout, names: names, head: head)
    } catch {
      guard stopsAtDamage, case .damaged(let finding) = error, !headers.isEmpty else { throw error }
      damage = finding
    }
    assert(damage != nil || headers.count == names.count, "every segment is linked unless one is damaged")
  }

  private mutating func read(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, names: [SegmentName], head: HeadSlot?
  ) throws(StoreError) {
    var storeID = head?.storeID
    var rest = names[...]
    while !rest.isEmpty {
      let files = try Self.openAhead(fileSystem, layout, rest.prefix(Self.aheadCount))
      defer { for file in files { file.close() } }
      for (file, first) in zip(files, rest) {
        let header = try SegmentHandle.readHeader(of: file, first: first, storeID: storeID)
        storeID = header.storeID
        self.storeID = header.storeID
        if let gap = Self.gap(before: header, after: headers.last, logBegin: head?.logBegin) {
          throw .damaged(gap)
        }
        headers.append(header)
      }
      rest = rest.dropFirst(files.count)
    }
    if let head, !names.contains(head.segment) {
      throw .damaged(Self.missing(head.segment, before: head.durable.sequence &+ 1))
    }
    if headers.isEmpty { throw .notFound(path: layout.root, what: "the store has no segment") }
  }

  /// The number of files whose headers the disk may read at the same time.
  private static let aheadCount = 16

  /// Opens files, and asks for their headers. Ends before one that cannot be opened, unless that is the first: what is
  /// before it counts, and a process may have no descriptor left.
  private static func openAhead(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ names: ArraySlice<SegmentName>
  ) throws(StoreError) -> [any File] {
    var files: [any File] = []
    for name in names {
      do throws(StoreError) {
        let file = try fileSystem.open(layout.segment(name), .read)
        files.append(file)
        file.willRead(at: 0, count: SegmentHeader.length)
      } catch {
        if files.isEmpty { throw error }
        break
      }
    }
    return files
  }

  /// What is missing, or wrong, between a segment and the previous file; nil if they link.
  static func gap(
    before header: SegmentHeader, after previous: SegmentHeader?, logBegin: UInt64?
  ) -> StoreFinding? {
    guard let previous else {
      guard let logBegin, logBegin < header.firstSequence else { return nil }
      return missing(SegmentName(logBegin), before: header.firstSequence)
    }
    if header.previousFirst == previous.firstSequence { return nil }
    if header.previousFirst > 0 {
      return missing(SegmentName(header.previousFirst), before: header.firstSequence)
    }
    return StoreFinding(
      .corrupt, file: header.segment.path, offset: 0, first: header.firstSequence,
      last: header.firstSequence - 1, what: "the header names no segment before this one, but there is one")
  }

  static func missing(_ segment: SegmentName, before next: UInt64) -> StoreFinding {
    StoreFinding(
      .missing, file: segment.path, offset: 0, first: segment.firstSequence,
      last: max(segment.lastBefore, max(next, 1) - 1),
      what: "the segment is missing")
  }

  /// The feature that forbids writing, or nil.
  var readOnlyFeature: String? {
    guard let header = headers.first(where: { $0.readOnlyFeatures != 0 }) else { return nil }
    return "feature bit \(header.readOnlyFeatures.trailingZeroBitCount), which this version can only read"
  }
}
