// What is erased in a log, and the removal of what was made from erased content.

internal import StrataBase

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

  /// Removes the files of all states and histories, of whatever projection: they may hold content that was erased. What another
  /// thread or process is writing to one of them is without a name from then on. Throws `linked` if one of their folders
  /// is a link, which nothing is removed through. Blocks.
  package func removeStates() throws(StoreError) {
    try checkWrites()
    try layout.removeStates(source.catalog.fileSystem)
    derivedSpace?.didErase()
  }
}
