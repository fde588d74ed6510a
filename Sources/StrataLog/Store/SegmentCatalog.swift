// The segments of a store, and which of them are open.

internal import StrataBase

/// The names in `log/`, and a bounded number of open segments. Reading a closed segment may reopen it.
///
/// If the process has no descriptor left for any file of the store, half of the open segments are closed, and from then
/// on no more than that stay open.
package final class SegmentCatalog: Sendable {
  /// The most closed segments that are kept open.
  package static let openSegmentsMax = 64

  /// An open segment, and when it was asked for last. Only while the state is locked.
  fileprivate final class OpenSegment {
    let handle: SegmentHandle
    var used: UInt64

    init(_ handle: SegmentHandle, used: UInt64) {
      self.handle = handle
      self.used = used
    }
  }

  fileprivate struct State {
    /// Ascending.
    var names: [SegmentName]
    var open: [SegmentName: OpenSegment] = [:]
    /// What the headers say is erased, of segments that were opened and not replaced since.
    var erasures: [SegmentName: UInt64] = [:]
    /// The numbers of segments that were opened and not replaced since, and how often their files had been rewritten.
    var numbers: [SegmentName: (number: UInt64, revision: UInt32)] = [:]
    var openMax = SegmentCatalog.openSegmentsMax
    var clock: UInt64 = 0
    /// How often a segment was rewritten by this process.
    var replacements: UInt64 = 0
    /// How often open files were dropped because another writer may have replaced them.
    var takeovers: UInt64 = 0
  }

  /// The file system of the store's files, for everything that opens one besides the catalog.
  package let fileSystem: any FileSystem
  package let layout: StoreLayout
  package let storeID: StoreID
  /// What reads of single events decoded.
  package let parts: PartCache
  /// Whether another process may rewrite closed segments: an open file is reused only while it still has its name.
  private let isShared: Bool
  private let state: Lock<State>

  package init(
    fileSystem: any FileSystem, layout: StoreLayout, storeID: StoreID, names: [SegmentName],
    isShared: Bool = false, cacheSize: Int = 0
  ) {
    assert(zip(names, names.dropFirst()).allSatisfy { $0 < $1 }, "segments are listed in ascending order")
    let state = Lock(State(names: names))
    self.state = state
    self.fileSystem = SparingFileSystem(base: fileSystem) { state.withLock { $0.giveBack() } }
    self.layout = layout
    self.storeID = storeID
    self.isShared = isShared
    parts = PartCache(limit: cacheSize)
  }

  /// The segments in a folder, ascending. Other names are ignored.
  ///
  /// A listing is not a snapshot. If a writer creates two segments during it, the listing may contain only the later
  /// one. So the result ends at a segment that existed before the listing began; all earlier ones existed then too,
  /// since one writer at a time creates segments in order. And a name that another file takes during the listing may be
  /// missing, or appear twice. So the folder is listed twice, and a name that only one of the two listings has counts
  /// if a file has it.
  ///
  /// - Parameter known: a segment that is known to exist, or nil for the last one of the first listing.
  package static func names(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, through known: SegmentName? = nil
  ) throws(StoreError) -> [SegmentName] {
    guard try fileSystem.kind(of: layout.log) == .directory else { return [] }
    func listed() throws(StoreError) -> Set<SegmentName> {
      let names = try fileSystem.contents(ofDirectory: layout.log)
      return Set(names.compactMap { SegmentName(fileName: $0) })
    }
    let before = try listed()
    guard let last = known ?? before.max() else { return [] }
    let after = try listed()
    var names = before.intersection(after).filter { $0 <= last }
    for first in before.symmetricDifference(after) where first <= last {
      if try fileSystem.kind(of: layout.segment(first)) != nil { names.insert(first) }
    }
    return names.sorted()
  }

  package var names: [SegmentName] { state.withLock { $0.names } }

  /// Lists the folder again, after a roll in another process.
  ///
  /// - Parameter known: a segment that is known to exist, or nil for the last one of the first listing.
  package func refresh(through known: SegmentName? = nil) throws(StoreError) {
    let names = try Self.names(fileSystem, layout, through: known)
    state.withLock { $0.names = names }
  }

  /// Adds the segment that a roll created.
  package func add(_ handle: SegmentHandle) {
    state.withLock { state in
      let name = handle.header.segment
      if state.names.last ?? 0 < name { state.names.append(name) }
      state.keep(handle)
    }
  }

  /// Drops every open file: another writer may have rewritten some.
  func forgetOpen() {
    state.withLock {
      $0.open = [:]
      $0.erasures = [:]
      $0.numbers = [:]
      $0.replacements += 1
      $0.takeovers += 1
    }
    parts.dropAll()
  }

  /// Drops the open file of a segment that was rewritten. A reader that still has the old one reads the same events.
  func replaced(_ name: SegmentName) {
    let number = state.withLock { state in
      state.replacements += 1
      return state.drop(name)
    }
    if let number { parts.drop(file: number) }
  }

  /// The segment with this name.
  package func segment(_ name: SegmentName) throws(StoreError) -> SegmentHandle {
    if let handle = state.withLock({ $0.use(name) }) {
      guard isShared else { return handle }
      let isCurrent = try handle.file.isStillAtItsPath()
      if isCurrent { return handle }
      parts.drop(file: handle.number)
    }
    while true {
      // Another process may replace a file while it is not open here, also that of a store that is suspended or closed, and
      // is read all the same. Each rewrite raises the revision.
      let (replacements, known) = state.withLock { ($0.replacements, $0.numbers[name]) }
      let handle = try SegmentHandle.open(fileSystem, layout, first: name, storeID: storeID) { header in
        known.flatMap { $0.revision == header.revision ? $0.number : nil }
      }
      // A file that lost its name while it was being opened is not kept: reads would return erased content from it for
      // a long time.
      let isCurrent = state.withLock { state in
        guard state.replacements == replacements else { return false }
        state.keep(handle)
        return true
      }
      guard isCurrent else { continue }
      if let known, known.number != handle.number { parts.drop(file: known.number) }
      return handle
    }
  }

  /// The mark of what is erased in a segment, `ErasureMark.unknown` where its header has none. A header is read again
  /// only where its file may have been replaced.
  func erasures(in name: SegmentName) throws(StoreError) -> UInt64 {
    if !isShared, let mark = state.withLock({ $0.erasures[name] }) { return mark }
    return try segment(name).header.erasureMark ?? ErasureMark.unknown
  }

  /// Makes the next request for the segment open it again, also for readers that have it open.
  func forget(_ name: SegmentName) {
    let number = state.withLock { state in
      state.takeovers += 1
      return state.drop(name)
    }
    if let number { parts.drop(file: number) }
  }

  /// Changes when another writer may have given the active segment's name to another file.
  var takeovers: UInt64 { state.withLock { $0.takeovers } }

  /// The segment in which a sequence is or would be; nil if it precedes the log.
  package func segment(containing sequence: UInt64) throws(StoreError) -> SegmentHandle? {
    guard let name = state.withLock({ $0.name(containing: sequence) }) else { return nil }
    return try segment(name)
  }

  /// The same if it is open, and its file still has its name.
  func openSegment(containing sequence: UInt64) -> SegmentHandle? {
    let handle = state.withLock { state in state.name(containing: sequence).flatMap { state.use($0) } }
    guard let handle, isShared else { return handle }
    return (try? handle.file.isStillAtItsPath()) == true ? handle : nil
  }

  /// Whether the segment of that name is still this one, as far as this process knows.
  func isCurrent(_ handle: SegmentHandle) -> Bool {
    state.withLock { $0.numbers[handle.header.segment]?.number == handle.number }
  }

  /// The segment after one, or nil for the last.
  package func name(after name: SegmentName) -> SegmentName? {
    state.withLock { state in state.names.first { $0 > name } }
  }
}

extension SegmentCatalog.State {
  fileprivate func name(containing sequence: UInt64) -> SegmentName? {
    let index = names.countAhead { $0.firstSequence <= sequence }
    return index > 0 ? names[index - 1] : nil
  }

  /// Forgets a segment, whose file may be another one. Returns the number by which its parts are cached.
  fileprivate mutating func drop(_ name: SegmentName) -> UInt64? {
    open[name] = nil
    erasures[name] = nil
    return numbers.removeValue(forKey: name)?.number
  }

  fileprivate mutating func use(_ name: SegmentName) -> SegmentHandle? {
    guard let entry = open[name] else { return nil }
    clock += 1
    entry.used = clock
    return entry.handle
  }

  fileprivate mutating func keep(_ handle: SegmentHandle) {
    clock += 1
    open[handle.header.segment] = SegmentCatalog.OpenSegment(handle, used: clock)
    numbers[handle.header.segment] = (handle.number, handle.header.revision)
    erasures[handle.header.segment] = handle.header.erasureMark ?? ErasureMark.unknown
    if open.count > openMax { closeOldest() }
    assert(open.count <= openMax, "at most openMax segments are open")
  }

  /// Drops half of the open segments; a file closes once no reader uses it. False if none is open.
  fileprivate mutating func giveBack() -> Bool {
    guard !open.isEmpty else { return false }
    openMax = max(1, open.count / 2)
    repeat { closeOldest() } while open.count > openMax
    return true
  }

  private mutating func closeOldest() {
    guard let oldest = open.min(by: { $0.value.used < $1.value.used })?.key else { return }
    open[oldest] = nil
  }
}
