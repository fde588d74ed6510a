// What is erased in a log, and the removal of what was made from erased content.

internal import StrataBase

extension Log {
  /// What is erased in the files that this log reads from now on. O(segments); a writer opens a file only for what it did
  /// not read before, or rewrote.
  package func erasures() throws(StoreError) -> SegmentErasures {
    var marks: [(segment: SegmentName, mark: UInt64)] = []
    for name in source.catalog.names { marks.append((name, try source.catalog.erasures(in: name))) }
    return SegmentErasures(marks)
  }

  /// What is erased in the files that now have the segments' names, whichever process renamed them. Opens each of them.
  package func erasuresOnDisk() throws(StoreError) -> SegmentErasures {
    let fileSystem = source.catalog.fileSystem
    var marks: [(segment: SegmentName, mark: UInt64)] = []
    for name in try SegmentCatalog.names(fileSystem, layout) {
      let header = try SegmentHandle.open(fileSystem, layout, first: name, storeID: storeID).header
      marks.append((name, header.erasureMark ?? ErasureMark.unknown))
    }
    return SegmentErasures(marks)
  }

  /// Throws unless this log may write into the store's folder now: it is open for writing, not suspended, and LOCK is
  /// still the file that it locked.
  package func checkWrites() throws(StoreError) {
    guard case .writer(_, _, let sealer) = role else { throw .readOnly }
    try checkOpen()
    try sealer.checkLock()
  }

  /// Removes the files of all states and histories, of whatever projection: they may hold content that was erased. What another
  /// thread or process is writing to one of them is without a name from then on. Throws `linked` if one of their folders
  /// is a link, which nothing is removed through. Blocks.
  package func removeStates() throws(StoreError) {
    try checkWrites()
    try layout.removeStates(source.catalog.fileSystem)
    derivedSpace?.didErase()
    observation.note(.discarded(.all, projection: nil, why: "content of events was erased"))
  }
}
