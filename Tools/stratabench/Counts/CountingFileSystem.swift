// A file system in memory that counts what a disk would have had to do.

internal import StrataBase
internal import StrataLog

/// What a store asked its file system for.
struct FileCounts: Sendable {
  var syncs = 0
  var folderSyncs = 0
  var writes = 0
  var bytesWritten = 0
  var renames = 0

  static func - (now: FileCounts, before: FileCounts) -> FileCounts {
    FileCounts(
      syncs: now.syncs - before.syncs, folderSyncs: now.folderSyncs - before.folderSyncs,
      writes: now.writes - before.writes, bytesWritten: now.bytesWritten - before.bytesWritten,
      renames: now.renames - before.renames)
  }

  /// By name, in the order in which they are printed.
  var named: [(name: String, count: Int)] {
    [
      ("syncs", syncs), ("folder syncs", folderSyncs), ("writes", writes), ("bytes written", bytesWritten),
      ("renames", renames),
    ]
  }
}

/// Passes every call on to a file system in memory.
struct CountingFileSystem: FileSystem {
  private let base = MemoryFileSystem()
  private let counter = Lock(FileCounts())

  var counts: FileCounts { counter.withLock { $0 } }

  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    CountingFile(base: try base.open(path, mode), counter: counter)
  }
  func createDirectory(_ path: String) throws(StoreError) { try base.createDirectory(path) }
  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    try base.contents(ofDirectory: path)
  }
  func kind(of path: String) throws(StoreError) -> FileKind? { try base.kind(of: path) }
  func rename(_ path: String, to newPath: String) throws(StoreError) {
    counter.withLock { $0.renames += 1 }
    try base.rename(path, to: newPath)
  }
  func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    counter.withLock { $0.renames += 1 }
    try base.renameNew(path, to: newPath)
  }
  func remove(_ path: String) throws(StoreError) { try base.remove(path) }
  func syncDirectory(_ path: String) throws(StoreError) {
    counter.withLock { $0.folderSyncs += 1 }
    try base.syncDirectory(path)
  }
  func identity(of path: String) throws(StoreError) -> String? { try base.identity(of: path) }
}

private final class CountingFile: File {
  private let base: any File
  private let counter: Lock<FileCounts>

  init(base: any File, counter: Lock<FileCounts>) {
    self.base = base
    self.counter = counter
  }

  var path: String { base.path }
  var identity: String? { base.identity }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
    try base.read(into: buffer, at: offset)
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
    counter.withLock { counts in
      counts.writes += 1
      counts.bytesWritten += bytes.count
    }
    try base.write(bytes, at: offset)
  }
  func size() throws(StoreError) -> Int64 { try base.size() }
  func truncate(to size: Int64) throws(StoreError) { try base.truncate(to: size) }
  func sync() throws(StoreError) {
    counter.withLock { $0.syncs += 1 }
    try base.sync()
  }
  func syncData() throws(StoreError) {
    counter.withLock { $0.syncs += 1 }
    try base.syncData()
  }
  func dropCache() { base.dropCache() }
  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool { try base.tryLock(kind) }
  func unlock() { base.unlock() }
  func isStillAtItsPath() throws(StoreError) -> Bool { try base.isStillAtItsPath() }
  func close() { base.close() }
}
