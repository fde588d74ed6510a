// Page files in memory, for tests of trees that are read from them.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation

/// A folder of page files, and what was written to it.
final class PageDisk: Sendable {
  /// A tree that was written.
  struct Saved {
    var tree: Tree
    var stored: StateTree
    var bytesWritten: UInt64
    var pagesWritten: Int
    var written = WrittenPages()
  }

  let fileSystem = MemoryFileSystem()
  let store: EventStore
  let files: StateFiles
  let faults = Lock(StateFaults())
  private let lastFile = Lock<UInt32>(0)

  init() throws {
    store = try EventStore.open(fileSystem, path: "/store", .readWrite, options: StoreOptions())
    guard let name = StateName(.documents(only: nil)) else { throw StoreError.readOnly }
    files = StateFiles(store.log, name)
    try files.createFolder()
  }

  private func path(_ file: UInt32) -> String { "\(files.folder)/\(StoreLayout.pageFileName(file))" }

  /// Writes what of a tree is not on disk.
  func write(_ tree: Tree, since saved: Saved? = nil, givingUp condemned: Set<UInt32> = []) throws -> Saved {
    // No number is used twice, also after its file is gone.
    let last = lastFile.withLock { $0 }
    var writer = StateWriter(files, continuing: nil, givingUp: condemned, above: last) {
      () throws(StoreError) in
    }
    let live = try PageUsage.live(tree, since: saved.map { ($0.tree, $0.stored.usage) })
    let stored = try writer.write(tree, live: live)
    try writer.finish()
    lastFile.withLock { $0 = writer.begun.max() ?? last }
    return Saved(
      tree: tree, stored: stored, bytesWritten: writer.bytesWritten, pagesWritten: writer.pagesWritten,
      written: writer.written)
  }

  /// - Parameter earlier: a reader of an earlier state of the same lineage.
  func reader(after earlier: StateReader? = nil, cache: PageCache? = nil) throws -> StateReader {
    var open: [UInt32: any File] = [:]
    for number in try files.pageFiles() { open[number] = files.openPages(number) }
    let cache = cache ?? earlier?.cache ?? PageCache(limit: 1 << 30)
    return StateReader(open, earlier?.lineage ?? StateLineage(), cache)
  }

  /// Does with a tree what follows a checkpoint of it.
  func shelve(_ saved: Saved, _ reader: StateReader, healing model: Tree?) {
    let healing = TreeHealing(name: "a test's tree", faults: faults) { () throws(StoreError) in model }
    saved.tree.shelve(saved.written, reader.source(of: saved.tree, healing) { _, _ in true })
  }

  /// A tree of which only the root is read. Pages that cannot be read have the entries of `model`.
  func open(_ saved: Saved, from reader: StateReader, healing model: Tree?) throws -> Tree {
    let healing = TreeHealing(name: "a test's tree", faults: faults) { () throws(StoreError) in model }
    return try reader.tree(saved.stored.root, pageSize: saved.tree.pageSize, healing: healing) { _, _ in true
    }
  }

  func wholeTree(_ saved: Saved) throws -> Tree {
    try reader().wholeTree(saved.stored.root, pageSize: saved.tree.pageSize) { _, _ in true }
  }

  /// Changes some bytes of some files, and cuts others. Returns the files.
  func damage(_ random: inout SeededGenerator) throws -> Set<UInt32> {
    var damaged: Set<UInt32> = []
    for number in try files.pageFiles().sorted() where Int.random(in: 0..<3, using: &random) > 0 {
      let file = try fileSystem.open(path(number), .readWrite)
      defer { file.close() }
      let size = Int(try file.size())
      guard size > StateFiles.headerLength else { continue }
      damaged.insert(number)
      if Int.random(in: 0..<10, using: &random) == 0 {
        try file.truncate(to: Int64(Int.random(in: StateFiles.headerLength...size, using: &random)))
        continue
      }
      for _ in 0..<Int.random(in: 1...max(1, size / 200), using: &random) {
        let offset = Int64(Int.random(in: StateFiles.headerLength..<size, using: &random))
        var byte: [UInt8] = [0]
        _ = try byte.lendMutableBytes { buffer throws(StoreError) in
          try file.read(into: buffer, at: offset)
        }
        byte[0] ^= UInt8.random(in: 1...255, using: &random)
        try byte.lendBytes { bytes throws(StoreError) in try file.write(bytes, at: offset) }
      }
    }
    return damaged
  }

  func remove(_ file: UInt32) { files.removePageFile(file) }
}
