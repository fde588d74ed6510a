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
  private var knownOrders: Orders?
  /// The manifest because of which everything was sealed.
  private var sealedFor: UInt64 = 0
  /// Whether everything that the last manifest takes the place of was removed.
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
  /// - Returns: whether there is more to put at once.
  /// - Throws: `carrierUnavailable`, after which it is tried again; what is wrong with the log or a manifest.
  package mutating func step(through end: UInt64, isStopped: () -> Bool) throws(StoreError) -> Bool {
    let count = try log.erasureCount()
    let orders = try orders(count)
    let current = try segments.latest()
    // What another writer has put since may lack an erasure again.
    if let current, current.writer != member || current.erasedThrough < orders.last {
      erasedCount = 0
    }
    var wanted = try sealed(through: end, count)
    if let current, current.last > wanted.last?.last ?? 0 {
      guard current.erasedThrough < orders.last else {
        return try adopt(current, count, orders, isStopped)
      }
      // Segments of another writer hold what is erased. They are not this one's, which has to have all of its own.
      if sealedFor != current.number {
        sealedFor = current.number
        _ = try log.seal()
        known = [:]
        wanted = try sealed(through: end, count)
      }
      guard current.last <= wanted.last?.last ?? 0 else { throw .unsealed(segments.files.name) }
    }
    guard let last = wanted.last?.last else {
      finish(count, orders)
      return false
    }
    if let current, isSame(current.entries, wanted), current.erasedThrough >= orders.last {
      return try adopt(current, count, orders, isStopped)
    }
    // An order that comes meanwhile is after the head that was read before.
    let erasedThrough = orders.hasOpen ? orders.last : orders.head
    guard let manifest = try put(wanted, after: current, erasedThrough, isStopped) else { return false }
    try clean(manifest)
    guard manifest.last == last else { return true }
    finish(count, orders)
    return false
  }

  /// Leaves a manifest as it is, and removes what it takes the place of. What another member has put is put again under
  /// the next number first: only who has won a number removes something.
  private mutating func adopt(
    _ current: CarrierManifest, _ count: UInt64, _ orders: Orders, _ isStopped: () -> Bool
  ) throws(StoreError) -> Bool {
    if current.writer != member {
      guard
        let manifest = try put(
          current.entries, after: current, current.erasedThrough, isStopped, isAdopted: true)
      else { return false }
      try clean(manifest)
    } else if !isClean || erasedCount != count {
      // One whose put had no answer may not be on disk, and nothing may be removed before it is.
      try replace(current.number, by: current.encoded())
      if current.number > 1 { try replace(current.number - 1, by: []) }
      // Also what a writer that was overtaken has put late.
      try clean(current)
    }
    finish(count, orders)
    return false
  }

  private func replace(_ number: UInt64, by bytes: [UInt8]) throws(StoreError) {
    try segments.asStoreError { () throws(CarrierError) in
      try segments.files.replaceFile(CarrierSegments.manifestName(number), bytes)
    }
  }

  /// The orders to erase that the log has carried out.
  private struct Orders {
    /// How many orders and notes there were.
    var count: UInt64
    /// The head before the orders were read.
    var head: UInt64
    /// The last one before the first that is open, 0 if there is none.
    var last: UInt64
    var hasOpen: Bool
  }

  private mutating func orders(_ count: UInt64) throws(StoreError) -> Orders {
    let head = log.mark.sequence
    if var known = knownOrders, known.count == count {
      known.head = head
      return known
    }
    let found = try EventStore(log: log).carriedOutOrders(after: 0)
    let orders = Orders(
      count: count, head: head, last: found.orders.last?.sequence ?? 0, hasOpen: found.hasOpen)
    knownOrders = orders
    return orders
  }

  private mutating func finish(_ count: UInt64, _ orders: Orders) {
    if !orders.hasOpen { erasedCount = count }
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
        entry.first == (entries.last?.last ?? 0) + 1, entries.count < CarrierManifest.countMax
      else { break }
      entries.append(entry)
    }
    return entries
  }

  private static func entry(_ header: SegmentHeader) -> CarrierManifest.Entry {
    CarrierManifest.Entry(
      since: 0, first: header.firstSequence, last: header.rewrittenLast, chain: header.rewrittenChain,
      size: header.rewrittenEnd, erasures: header.erasures, revision: header.revision, token: 0)
  }

  // MARK: Putting

  /// How many segments are put before a manifest names them, so that little is put again after an interruption.
  private static let uploadsMax = 16

  /// Puts segments that the carrier lacks, and then a manifest. Nil if another one has its number, or if it was stopped.
  ///
  /// - Parameter isAdopted: whether the segments are those of the last manifest.
  private mutating func put(
    _ wanted: [CarrierManifest.Entry], after current: CarrierManifest?, _ erasedThrough: UInt64,
    _ isStopped: () -> Bool, isAdopted: Bool = false
  ) throws(StoreError) -> CarrierManifest? {
    let number = (current?.number ?? 0) + 1
    var entries: [CarrierManifest.Entry] = []
    var uploads = 0
    var reused = current?.entries[...] ?? []
    var before: CarrierManifest.Entry?
    for entry in wanted {
      // A file names the segment before it, so it is the same only after the same one.
      while let first = reused.first, first.first < entry.first {
        before = first
        reused.removeFirst()
      }
      if let there = reused.first, there.holdsSame(as: entry), before?.first == entries.last?.first {
        entries.append(there)
        continue
      }
      if uploads == Self.uploadsMax, entries.last?.last ?? 0 >= current?.last ?? 0 { break }
      guard !isStopped(), let new = try log.sealedSegment(SegmentName(entry.first)) else { return nil }
      // Kept open for as long as it is read: an erasure gives its name to another file.
      guard Self.entry(new.header) == entry else {
        known = [:]
        return nil
      }
      var put = entry
      put.since = number
      put.token = .random(in: 0 ... .max)
      guard try upload(new, put, isStopped) else { return nil }
      uploads += 1
      entries.append(put)
    }
    let manifest = CarrierManifest(
      of: log.storeID, by: member, number: number,
      firstObject: try isAdopted ? current?.firstObject ?? 1 : firstObject(keeping: entries, after: current),
      erasedThrough: erasedThrough, entries)
    guard !isStopped() else { return nil }
    isClean = false
    switch segments.files.createFile(CarrierSegments.manifestName(number), manifest.encoded()) {
    case .stored:
      // The name stays, and the next reader need not read it.
      if let current { try replace(current.number, by: []) }
      return manifest
    case .stopped(_, .taken): return nil
    case .stopped(_, .unknown(let error)), .stopped(_, .refused(let error)):
      throw .carrier(error, segments.files.name)
    }
  }

  /// Returns false if it was stopped.
  private func upload(
    _ segment: SegmentHandle, _ entry: CarrierManifest.Entry, _ isStopped: () -> Bool
  ) throws(StoreError) -> Bool {
    let file = segment.file
    var wasStopped = false
    var failure: StoreError?
    do throws(CarrierError) {
      try segments.files.replaceFile(
        "\(CarrierSegments.segmentFolder)/\(entry.fileName)", size: Int64(clamping: entry.size)
      ) { buffer, offset throws(CarrierError) in
        guard !isStopped() else {
          wasStopped = true
          throw CarrierError(.unreachable, what: "the shipping has ended", next: "ship again")
        }
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
      if wasStopped { return false }
      throw failure ?? .carrier(error, segments.files.name)
    }
    return true
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

extension StoreError {
  /// What is erased is in segments of another writer, and this store cannot seal what it has in their place.
  fileprivate static func unsealed(_ place: String) -> StoreError {
    .replica(
      .carrierUnavailable, place: place,
      what: "segments there hold what is erased, and a segment of this store cannot be sealed in their place",
      next: "look at what sealing says: logreplay seal STORE")
  }
}
