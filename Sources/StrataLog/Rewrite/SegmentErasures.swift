// What is erased in a log, as the headers of its segments say.

internal import StrataBase

/// The erased events of a log at some moment: the marks of the segments that have any. What was made from the log
/// earlier holds erased content if these are not the same.
package struct SegmentErasures: Sendable, Equatable {
  /// The segments with erased events and their marks, ascending.
  private let marks: [(segment: SegmentName, mark: UInt64)]

  package static func == (a: SegmentErasures, b: SegmentErasures) -> Bool {
    a.marks.elementsEqual(b.marks, by: ==)
  }

  fileprivate init(_ headers: [SegmentHeader]) {
    marks = headers.compactMap { header in
      // Without a mark only the events say what is erased: 0, which no mark is.
      let mark = header.erasureMark ?? ErasureMark.unknown
      return mark == ErasureMark.none.value ? nil : (header.segment, mark)
    }
  }

  /// The hash of what is erased in the segments that begin at or before a sequence.
  package func hash(through sequence: UInt64) -> UInt64 {
    var bytes: [UInt8] = []
    for (segment, mark) in marks where segment.firstSequence <= sequence {
      withUnsafeBytes(of: segment.firstSequence.littleEndian) { bytes.append(contentsOf: $0) }
      withUnsafeBytes(of: mark.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return XXH64.of(bytes)
  }
}

extension Log {
  /// What is erased in the files that this log reads from now on. O(segments).
  package func erasures() throws(StoreError) -> SegmentErasures {
    var headers: [SegmentHeader] = []
    for name in source.catalog.names { headers.append(try source.catalog.segment(name).header) }
    return SegmentErasures(headers)
  }

  /// What is erased in the files that now have the segments' names, whichever process renamed them. O(segments).
  package func erasuresOnDisk() throws(StoreError) -> SegmentErasures {
    let fileSystem = source.catalog.fileSystem
    var headers: [SegmentHeader] = []
    for name in try SegmentCatalog.names(fileSystem, layout) {
      headers.append(try SegmentHandle.open(fileSystem, layout, first: name, storeID: storeID).header)
    }
    return SegmentErasures(headers)
  }

  /// Throws unless this log may write into the store's folder now: it is open for writing, not suspended, and LOCK is
  /// still the file that it locked.
  package func checkWrites() throws(StoreError) {
    guard case .writer(_, _, let sealer) = role else { throw .readOnly }
    try checkOpen()
    try sealer.checkLock()
  }

  /// Removes the files of all states, of whatever projection: they may hold content that was erased. What another
  /// thread or process is writing to one of them is without a name from then on. Throws `linked` if one of their folders
  /// is a link, which nothing is removed through. Blocks.
  package func removeStates() throws(StoreError) {
    try checkWrites()
    try layout.removeStates(source.catalog.fileSystem)
  }
}

extension StoreLayout {
  /// Removes the files of all states, as `Log.removeStates()` does, from a store of which the caller holds the lock.
  func removeStates(_ fileSystem: any FileSystem) throws(StoreError) {
    guard try fileSystem.kind(of: states) == .directory else { return }
    guard try !fileSystem.isLink(states) else { throw .linked(path: states) }
    for name in try fileSystem.contents(ofDirectory: states) { try removeState(name, fileSystem) }
  }

  /// Removes the files of the state in one folder below `states`, as `removeStates` does.
  package func removeState(_ name: String, _ fileSystem: any FileSystem) throws(StoreError) {
    let folder = "\(states)/\(name)"
    guard try fileSystem.kind(of: folder) == .directory else { return }
    guard try !fileSystem.isLink(folder) else { throw .linked(path: folder) }
    try fileSystem.removeFiles(in: folder, where: StoreLayout.isStateFile)
    try fileSystem.syncDirectory(folder)
  }
}
