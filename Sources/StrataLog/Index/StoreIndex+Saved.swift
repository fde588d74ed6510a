// The saved index of the active segment: written at a close, so that the next open need not read the segment.

internal import StrataBase

extension StoreIndex {
  /// What a saved index covers of the active segment, if its file is intact and a block of the segment ends where it
  /// ends, with the same chain. The file is then among the closed ones.
  ///
  /// The chain names all content up to there: the writer that saved the index had read or written all of it, and a
  /// writer that opens the store has just compared the checksums of all blocks and how each continues the one before.
  func saved(_ mark: VisibleMark) -> IndexIdentity? {
    let catalog = source.catalog
    let path = catalog.layout.index(mark.segment)
    guard let claimed = IndexFile.identity(catalog.fileSystem, path: path), claimed.store == catalog.storeID,
      claimed.firstSequence == mark.segment.firstSequence, claimed.lastSequence <= mark.sequence,
      (try? endsAtBlock(claimed, mark)) == true,
      let file = IndexFile.open(catalog.fileSystem, path: path, expecting: claimed)
    else { return nil }
    closed.withLock { $0[IndexPart(claimed)] = ClosedIndex(file: file) }
    return claimed
  }

  private func endsAtBlock(_ claimed: IndexIdentity, _ mark: VisibleMark) throws(StoreError) -> Bool {
    let handle = try source.catalog.segment(mark.segment)
    let end = try source.end(of: handle, in: mark)
    guard let place = try handle.place(forSequence: claimed.lastSequence, end: end) else { return false }
    var blocks = BlockSource(file: handle.file, segment: handle.header, step: 4096)
    guard case .success(let block) = try blocks.header(at: place.offset, limit: end) else { return false }
    return block.nextSequence &- 1 == claimed.lastSequence && block.chainAfter == claimed.chain
  }

  /// Saves the index of the active segment at a close that was clean, unless few events are not in the one that is
  /// there: the next open reads those. An index is written for at least an eighth of the events that it covers, so that
  /// many short uses of a store do not write it again and again. A failure loses nothing.
  func save(at mark: VisibleMark) {
    let tables = active.withLock { $0 }
    guard tables.segment == mark.segment, tables.nextSequence == mark.sequence + 1 else { return }
    let covered = tables.base.map { $0.lastSequence - $0.firstSequence + 1 } ?? 0
    guard tables.eventCount >= max(1, savesAfter, Int(clamping: covered / 8)) else { return }
    let part = IndexPart(segment: tables.segment, last: mark.sequence)
    let identity = identity(of: part, chain: mark.visible.chain)
    guard let base = tables.base else {
      _ = written(tables, identity: identity, syncs: false)
      return
    }
    guard let all = try? self.tables(of: identity), let index = written(all, identity: identity, syncs: false)
    else { return }
    // The file that the old base was read from is gone.
    closed.withLock {
      $0[IndexPart(base)] = nil
      $0[IndexPart(identity)] = index
    }
    active.withLock { $0 = SegmentIndex(of: mark.segment, after: identity) }
  }
}
