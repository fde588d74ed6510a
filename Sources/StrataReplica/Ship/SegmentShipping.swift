// Puts the sealed segments of the writer beside its objects, and removes the objects that they take the place of.

internal import StrataBase
internal import StrataEvents
package import StrataLog

/// Keeps the whole segments of a carrier up to date. Used by one thread at a time, beside the one that ships objects.
///
/// What decides between two writers is the number of the manifest. A segment is put under a name that has the number of
/// the manifest that it is put for, and only the writer that has won a number removes files, and only those with that
/// number or a smaller one that its manifest does not name. So a writer that was overtaken, and does not know it, removes
/// nothing that others need.
package struct SegmentShipping {
  private let log: Log
  private let objects: CarrierLog
  private let segments: CarrierSegments
  private let member: StoreID
  /// How many orders to erase, and notes of them, the log had when no segment of the carrier last held what they erase.
  private(set) var erasedCount: UInt64 = 0
  /// What is known of closed segments by their names; nil for one that is not sealed yet.
  private var known: [SegmentName: CarrierManifest.Entry?] = [:]
  private var knownCount: UInt64 = 0
  /// Whether everything that no manifest names was removed since this began.
  private var isClean = false

  /// Nil if the carrier keeps no files.
  package init?(_ log: Log, _ carrier: any Carrier, as member: StoreID) {
    objects = CarrierLog(carrier, of: log.storeID)
    guard let segments = objects.segments else { return nil }
    self.segments = segments
    self.log = log
    self.member = member
  }

  /// Puts what was sealed or erased since the last call, and removes what is no longer needed. O(closed segments) if there
  /// is nothing to do.
  ///
  /// - Parameters:
  ///   - end: the last sequence that the carrier has.
  ///   - isStopped: asked now and then.
  /// - Throws: `carrierUnavailable`, after which it is tried again; what is wrong with the log or a manifest.
  package mutating func step(through end: UInt64, isStopped: () -> Bool) throws(StoreError) {
    let count = try log.erasureCount()
    let head = log.mark.sequence
    let carriedOut = try EventStore(log: log).carriedOutOrders(after: 0)
    let lastOrder = carriedOut.orders.last?.sequence ?? 0
    let current = try segments.latest()
    var wanted = try sealed(through: end, count)
    if let current, current.last > wanted.last?.last ?? 0 {
      guard current.erasedThrough < lastOrder else { return finish(count, carriedOut.hasOpen) }
      // Segments of another writer hold what is erased. They are not this one's, which has to have all of its own.
      _ = try log.seal()
      known = [:]
      wanted = try sealed(through: end, count)
      guard current.last <= wanted.last?.last ?? 0 else { return }
    }
    guard !wanted.isEmpty else { return finish(count, carriedOut.hasOpen) }
    if let current, isSame(current.entries, wanted), current.erasedThrough >= lastOrder {
      if !isClean, current.writer == member {
        // One whose put had no answer may not be on disk, and nothing may be removed before it is.
        try segments.asStoreError { () throws(CarrierError) in
          try segments.files.replaceFile(CarrierSegments.manifestName(current.number), current.encoded())
        }
        try clean(current)
      }
      return finish(count, carriedOut.hasOpen)
    }
    // An order that comes meanwhile is after the head that was read before.
    let erasedThrough = carriedOut.hasOpen ? lastOrder : min(head, wanted[wanted.count - 1].last)
    guard let manifest = try put(wanted, after: current, erasedThrough, isStopped) else { return }
    try clean(manifest)
    finish(count, carriedOut.hasOpen)
  }

  private mutating func finish(_ count: UInt64, _ hasOpen: Bool) {
    if !hasOpen { erasedCount = count }
  }

  private func isSame(_ a: [CarrierManifest.Entry], _ b: [CarrierManifest.Entry]) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { $0.holdsSame(as: $1) }
  }

  /// The sealed segments from the beginning of the log, without a gap, up to a sequence.
  private mutating func sealed(
    through end: UInt64, _ count: UInt64
  ) throws(StoreError) -> [CarrierManifest.Entry] {
    // An erasure rewrites segments that were known.
    if count != knownCount { known = [:] }
    knownCount = count
    var entries: [CarrierManifest.Entry] = []
    for name in log.closedSegments {
      if known[name] ?? nil == nil { known[name] = try log.sealedSegment(name).map { Self.entry($0.header) } }
      guard let found = known[name], let entry = found, entry.last <= end,
        entry.first == (entries.last?.last ?? 0) + 1
      else { break }
      entries.append(entry)
    }
    return entries
  }

  private static func entry(_ header: SegmentHeader) -> CarrierManifest.Entry {
    CarrierManifest.Entry(
      since: 0, first: header.firstSequence, last: header.rewrittenLast, chain: header.rewrittenChain,
      size: header.rewrittenEnd, erasures: header.erasures, revision: header.revision)
  }

  // MARK: Putting

  /// Puts segments that the carrier lacks, and then a manifest. Nil if another one has its number, or if it was stopped.
  private mutating func put(
    _ wanted: [CarrierManifest.Entry], after current: CarrierManifest?, _ erasedThrough: UInt64,
    _ isStopped: () -> Bool
  ) throws(StoreError) -> CarrierManifest? {
    let number = (current?.number ?? 0) + 1
    var entries: [CarrierManifest.Entry] = []
    for entry in wanted {
      if let there = current?.entries.first(where: { $0.holdsSame(as: entry) }) {
        entries.append(there)
        continue
      }
      guard !isStopped() else { return nil }
      guard let new = try log.sealedSegment(SegmentName(entry.first)) else { return nil }
      // Kept open for as long as it is read: an erasure gives its name to another file.
      guard Self.entry(new.header) == entry else {
        known = [:]
        return nil
      }
      var put = entry
      put.since = number
      try upload(new, put)
      entries.append(put)
    }
    let manifest = CarrierManifest(
      of: log.storeID, by: member, number: number,
      firstObject: try firstObject(keeping: entries, after: current), erasedThrough: erasedThrough, entries)
    let name = CarrierSegments.manifestName(number)
    switch segments.files.createFile(name, manifest.encoded()) {
    case .stored:
      // The name stays, and the next reader need not read it.
      if let current {
        let old = CarrierSegments.manifestName(current.number)
        try segments.asStoreError { () throws(CarrierError) in try segments.files.replaceFile(old, []) }
      }
      return manifest
    case .stopped(_, .taken): return nil
    case .stopped(_, .unknown(let error)), .stopped(_, .refused(let error)):
      throw .carrier(error, segments.files.name)
    }
  }

  private func upload(_ segment: SegmentHandle, _ entry: CarrierManifest.Entry) throws(StoreError) {
    let file = segment.file
    var failure: StoreError?
    do throws(CarrierError) {
      try segments.files.replaceFile(
        "\(CarrierSegments.segmentFolder)/\(entry.fileName)", size: Int64(clamping: entry.size)
      ) { buffer, offset throws(CarrierError) in
        do throws(StoreError) {
          guard try file.read(into: buffer, at: offset) == buffer.count else {
            throw .damaged(
              StoreFinding(
                .missing, file: file.path, offset: UInt64(offset), first: entry.first, last: entry.last,
                what: "the segment is shorter than its header says"))
          }
        } catch {
          failure = error
          throw CarrierError(.refused, what: error.what, next: error.next)
        }
      }
    } catch {
      throw failure ?? .carrier(error, segments.files.name)
    }
  }

  /// Where objects go on being kept: those of the last segment too, for members that lag a little.
  private func firstObject(
    keeping entries: [CarrierManifest.Entry], after current: CarrierManifest?
  ) throws(StoreError) -> UInt64 {
    let known = current?.firstObject ?? 1
    guard entries.count > 1 else { return known }
    let number = try objects.number(
      holding: entries[entries.count - 2].last + 1, upTo: try objects.lastNumber())
    return max(known, number)
  }

  // MARK: Removing

  /// Removes what a manifest that this member has won takes the place of.
  private mutating func clean(_ manifest: CarrierManifest) throws(StoreError) {
    isClean = false
    let named = Set(manifest.entries.map(\.fileName))
    try segments.asStoreError { () throws(CarrierError) in
      let files = segments.files
      let unnamed = try files.fileNames(in: CarrierSegments.segmentFolder).filter { name in
        guard let since = SegmentName(digits: name.prefix { $0 != "-" }) else { return false }
        return since.firstSequence <= manifest.number && !named.contains(name)
      }
      try files.removeFiles(unnamed, in: CarrierSegments.segmentFolder)
      let removed = try files.fileNames(in: CarrierLog.folder).filter { name in
        SegmentName(digits: name).map { $0.firstSequence < manifest.firstObject } ?? false
      }
      try files.removeFiles(removed, in: CarrierLog.folder)
    }
    isClean = true
  }
}
