// Opening a store for reading, beside a writer or without one. Nothing on disk changes.

internal import StrataBase

extension Log {
  /// Opens a store for reading. Blocks.
  package static func openReader(
    _ fileSystem: any FileSystem, path: String, options: StoreOptions
  ) throws(LogError) -> Log {
    let layout = StoreLayout(root: fileSystem.absolutePath(path))
    try layout.checkRoot()
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
      throw try noStore(fileSystem, layout)
    }
    let chain = try SegmentChain(
      fileSystem, layout, names: names, head: head, stopsAtDamage: options.readsDamaged)
    let catalog = SegmentCatalog(
      fileSystem: fileSystem, layout: layout, storeID: chain.storeID,
      names: chain.headers.map(\.firstSequence), isShared: true)
    var watcher = HeadReader(catalog: catalog, readsDamaged: options.readsDamaged)
    let found =
      if let damage = chain.damage { try watcher.sight(upTo: damage) } else { try watcher.look() }
    let tail = VisibleTail(found.mark)
    let source = LogSource(catalog: catalog, tail: tail)
    let follower = HeadWatcher(watcher, source: source)
    // One that stands before damage stays there.
    if found.damage == nil {
      tail.setLook { [weak follower] () throws(LogError) in try follower?.refresh() }
    }
    return Log(
      options: options, layout: layout, source: source, index: StoreIndex(source, isWriter: false),
      tornBytes: found.tornBytes, damage: found.damage, role: .reader(follower))
  }
}

extension Log {
  /// Why a folder without segments and without HEAD is no store. The making of one begins with its lock and ends
  /// with HEAD, and whoever broke off in between left nothing else there.
  private static func noStore(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(LogError)
    -> LogError
  {
    let names = try LogError.wrapping { () throws(FileSystemError) in
      try fileSystem.contents(ofDirectory: layout.root)
    }
    let isOurs = names.contains(StoreLayout.lockName) && names.allSatisfy { ownNames.contains($0) }
    return .notFound(
      path: layout.root,
      what: isOurs ? "no store is there: the making of one was never finished" : "no store is there")
  }
}
