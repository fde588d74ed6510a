// Opening a store for reading, beside a writer or without one. Nothing on disk changes.

extension Log {
  /// Opens a store for reading. Blocks.
  package static func openReader(
    _ fileSystem: any FileSystem, path: String, options: StoreOptions
  ) throws(LogError) -> Log {
    let layout = StoreLayout(root: path)
    let kind = try LogError.wrapping { () throws(FileSystemError) in try fileSystem.kind(of: path) }
    guard let kind else { throw .notFound(path: path, what: "no store is there") }
    guard kind == .directory else {
      throw .notAStore(path: path, what: "a file stands there, and a store is a folder")
    }
    // HEAD is read before the folder: the segment that it names is there before HEAD says so, and one that a
    // running writer adds in between is no surprise.
    let (head, names) = try LogError.wrapping { () throws(FileSystemError) in
      (try HeadFile.read(fileSystem, path: layout.head), try SegmentCatalog.names(fileSystem, layout))
    }
    if names.isEmpty {
      if let head {
        throw .corrupt(
          Finding(
            .missing, file: StoreLayout.segmentName(head.segment), offset: 0, first: 1,
            last: head.durable.sequence, what: "HEAD names a segment, and there is none"))
      }
      throw .notFound(path: path, what: "the folder holds no segment: the store was never finished")
    }
    let chain = try SegmentChain(fileSystem, layout, names: names, head: head)
    let catalog = SegmentCatalog(
      fileSystem: fileSystem, layout: layout, storeID: chain.storeID, names: chain.headers.map(\.firstSequence))
    var watcher = HeadReader(catalog: catalog, readsDamaged: options.readsDamaged)
    let found = try watcher.look()
    let tail = VisibleTail(found.mark)
    let source = LogSource(catalog: catalog, tail: tail)
    return Log(
      options: options, layout: layout, source: source, index: StoreIndex(source, isWriter: false),
      tornBytes: found.tornBytes, role: .reader(HeadWatcher(watcher, source: source)))
  }
}

/// What a reader can see of a store, looked up anew each time.
struct HeadReader {
  let catalog: SegmentCatalog
  let readsDamaged: Bool

  struct Sight {
    var mark: VisibleMark
    var tornBytes: UInt64
    var isWriterAlive: Bool
  }

  /// The visible end now: HEAD's mark while a writer is alive, X otherwise.
  ///
  /// A writer may come between the look at HEAD and the look at the segment, and then the two do not agree;
  /// what looks wrong counts only if HEAD is still the same afterwards.
  mutating func look() throws(LogError) -> Sight {
    for _ in 0..<Self.looksMax {
      let before = try head()
      do throws(LogError) { return try look(at: before) } catch .corrupt {
        if try head() == before { break }
      }
    }
    return try look(at: try head())
  }

  private static let looksMax = 8

  private func head() throws(LogError) -> HeadSlot? {
    try LogError.wrapping { () throws(FileSystemError) in
      try HeadFile.read(catalog.fileSystem, path: catalog.layout.head)
    }
  }

  private mutating func look(at head: HeadSlot?) throws(LogError) -> Sight {
    let isAlive = try LogError.wrapping { () throws(FileSystemError) in
      try StoreLock.isHeld(catalog.fileSystem, catalog.layout)
    }
    if isAlive, let head { return Sight(mark: try sight(of: head), tornBytes: 0, isWriterAlive: true) }
    try catalog.refresh()
    guard let last = catalog.names.last else {
      throw .notFound(path: catalog.layout.root, what: "the store's segments are gone")
    }
    let active = try catalog.segment(first: last)
    let assessment = try Log.assessActive(active, head: head, readsDamaged: readsDamaged)
    let link = assessment.link
    let begin = catalog.names.first ?? last
    let mark = VisibleMark(
      segment: last, visible: link.mark, durable: link.mark, time: link.lastTime, appends: link.appends,
      logBegin: begin)
    let isTorn = assessment.state == .torn
    return Sight(
      mark: mark, tornBytes: isTorn ? assessment.fileSize - link.offset : 0, isWriterAlive: isAlive)
  }

  /// The mark that HEAD makes, with what HEAD does not say: the appends, which the last block counts.
  mutating func sight(of head: HeadSlot) throws(LogError) -> VisibleMark {
    if !catalog.names.contains(head.segment) { try catalog.refresh() }
    let handle = try catalog.segment(first: head.segment)
    try handle.extend(to: head.visible.offset)
    var appends = handle.header.appendsBefore
    if let place = handle.places.last, place.offset < head.visible.offset {
      var source = BlockSource(file: handle.file, segment: handle.header, step: 4096)
      let found = try LogError.wrapping { () throws(FileSystemError) in
        try source.header(at: place.offset, limit: head.visible.offset)
      }
      if case .success(let block) = found { appends = block.appendsBefore + UInt64(block.appendCount) }
    }
    return VisibleMark(
      segment: head.segment, visible: head.visible, durable: head.durable, time: head.lastTime,
      appends: appends, logBegin: head.logBegin)
  }
}
