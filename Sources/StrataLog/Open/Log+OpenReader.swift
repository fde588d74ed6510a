// Opens a store for reading, beside a writer or without one. Changes nothing on disk.

internal import StrataBase

extension Log {
  /// Opens a store for reading. Blocks.
  package static func openReader(
    _ fileSystem: any FileSystem, path: String, options: StoreOptions
  ) throws(StoreError) -> Log {
    let layout = StoreLayout(root: fileSystem.absolutePath(path))
    try layout.checkRoot()
    let kind = try fileSystem.kind(of: path)
    guard let kind else { throw .notFound(path: path, what: "no store is there") }
    guard kind == .directory else {
      throw .notAStore(path: path, what: "a file is at that path, and a store is a folder")
    }
    let chain = try chain(fileSystem, layout, options)
    let catalog = SegmentCatalog(
      fileSystem: fileSystem, layout: layout, storeID: chain.storeID,
      names: chain.headers.map(\.segment), isShared: true, cacheSize: options.pageCacheSize)
    var watcher = HeadReader(catalog: catalog, readsDamaged: options.readsDamaged)
    let found =
      if let damage = chain.damage { try watcher.sight(upTo: damage) } else {
        try watcher.look(patience: options.patience)
      }
    assert(found.damage == nil || options.readsDamaged, "a reader accepts damage only with readsDamaged")
    let tail = VisibleTail(found.mark)
    let source = LogSource(catalog: catalog, tail: tail)
    let follower = HeadWatcher(watcher, source: source, options)
    // A reader that ends before damage stays there.
    if found.damage == nil {
      tail.setLook { [weak follower] () throws(StoreError) in try follower?.refresh() }
    }
    let observation = StoreObservation(options)
    let torn = found.tornBytes
    observation.noteTail(
      torn == 0
        ? nil
        : TailRecovery(
          file: found.mark.segment.path, offset: found.mark.visible.offset, byteCount: torn))
    if let damage = found.damage { observation.note(.damage(damage)) }
    return Log(
      options: options, layout: layout, source: source,
      index: StoreIndex(source, isWriter: false, on: options.machine),
      tornBytes: found.tornBytes, damage: found.damage, part: try? ReplicaMark.read(fileSystem, layout),
      observation: observation, role: .reader(follower))
  }
}

extension Log {
  /// The headers of all segments. Beside a writer, a finding in them counts only after a while: a writer that opens the
  /// store, or a backup into it, renames its files one after another.
  private static func chain(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ options: StoreOptions
  ) throws(StoreError) -> SegmentChain {
    var wait = PatientWait(options.patience)
    while true {
      // HEAD is read before the folder is listed: the segment that it names exists before HEAD names it, and a segment
      // that a running writer adds in between does no harm.
      let (head, names) = try (
        HeadFile.read(fileSystem, path: layout.head), SegmentCatalog.names(fileSystem, layout)
      )
      if names.isEmpty, head == nil { throw try noStore(fileSystem, layout) }
      let found = Result { () throws(StoreError) in
        if let head, names.isEmpty { throw .damaged(head.nothing) }
        return try SegmentChain(
          fileSystem, layout, names: names, head: head, stopsAtDamage: options.readsDamaged)
      }
      switch found {
      case .success(let chain) where chain.damage == nil: return chain
      case .success: break
      case .failure(.damaged): break
      case .failure(let error): throw error
      }
      let isHeld = (try? StoreLock.isHeld(fileSystem, layout)) ?? false
      guard isHeld, let pause = wait.next() else { return try found.get() }
      pauseThread(nanoseconds: pause)
    }
  }

  /// The error for a folder without segments and without HEAD. Creating a store begins with its lock and ends with
  /// HEAD, so an interrupted creation leaves only the store's own names.
  private static func noStore(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(StoreError)
    -> StoreError
  {
    let names = try fileSystem.contents(ofDirectory: layout.root)
    let isOurs = names.contains(StoreLayout.lockName) && names.allSatisfy { ownNames.contains($0) }
    return .notFound(
      path: layout.root,
      what: isOurs ? "no store is there: the creation of one was never finished" : "no store is there")
  }
}

extension HeadSlot {
  /// The finding if there is no segment at all.
  fileprivate var nothing: StoreFinding {
    StoreFinding(
      .missing, file: segment.path, offset: 0, first: 1, last: durable.sequence,
      what: "HEAD names a segment, but there is none")
  }
}
