// Opening a store for reading, beside a writer or without one. Nothing on disk changes.

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
      throw .notAStore(path: path, what: "a file stands there, and a store is a folder")
    }
    let chain = try chain(fileSystem, layout, options)
    let catalog = SegmentCatalog(
      fileSystem: fileSystem, layout: layout, storeID: chain.storeID,
      names: chain.headers.map(\.segment), isShared: true)
    var watcher = HeadReader(catalog: catalog, readsDamaged: options.readsDamaged)
    let found =
      if let damage = chain.damage { try watcher.sight(upTo: damage) } else {
        try watcher.look(patience: options.patience)
      }
    assert(found.damage == nil || options.readsDamaged, "a reader goes up to damage only where it may")
    let tail = VisibleTail(found.mark)
    let source = LogSource(catalog: catalog, tail: tail)
    let follower = HeadWatcher(watcher, source: source, options)
    // One that stands before damage stays there.
    if found.damage == nil {
      tail.setLook { [weak follower] () throws(StoreError) in try follower?.refresh() }
    }
    return Log(
      options: options, layout: layout, source: source,
      index: StoreIndex(source, isWriter: false, on: options.machine),
      tornBytes: found.tornBytes, damage: found.damage, role: .reader(follower))
  }
}

extension Log {
  /// The headers of all segments. What is wrong with them beside a writer counts only after a while: one that opens the
  /// store, or a backup into it, gives its files their names one after the other.
  private static func chain(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ options: StoreOptions
  ) throws(StoreError) -> SegmentChain {
    var wait = PatientWait(options.patience)
    while true {
      // HEAD is read before the folder: the segment that it names is there before HEAD says so, and one that a
      // running writer adds in between is no surprise.
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

  /// Why a folder without segments and without HEAD is no store. The making of one begins with its lock and ends
  /// with HEAD, and whoever broke off in between left nothing else there.
  private static func noStore(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(StoreError)
    -> StoreError
  {
    let names = try fileSystem.contents(ofDirectory: layout.root)
    let isOurs = names.contains(StoreLayout.lockName) && names.allSatisfy { ownNames.contains($0) }
    return .notFound(
      path: layout.root,
      what: isOurs ? "no store is there: the making of one was never finished" : "no store is there")
  }
}

extension HeadSlot {
  /// The finding where there is no segment at all.
  fileprivate var nothing: StoreFinding {
    StoreFinding(
      .missing, file: segment.path, offset: 0, first: 1, last: durable.sequence,
      what: "HEAD names a segment, and there is none")
  }
}
