// One open file of a file system in memory.

internal import StrataBase

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// An open file in memory. Like an open descriptor, it keeps its bytes after its name was removed.
final class MemoryFile: File {
  let path: String
  private let mode: FileOpenMode
  private let owner: UInt64
  private let node: MemoryFileSystem.Node
  private let fileSystem: MemoryFileSystem
  private let isClosed = Lock(false)

  init(
    path: String, mode: FileOpenMode, node: MemoryFileSystem.Node, owner: UInt64, fileSystem: MemoryFileSystem
  ) {
    self.path = path
    self.mode = mode
    self.node = node
    self.owner = owner
    self.fileSystem = fileSystem
  }

  deinit { close() }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
    try check("read", isOpen: true)
    try check("read", offset: offset, count: buffer.count)
    return node.content.withLock { $0.read(into: buffer, at: Int(offset)) }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
    try check("write", isOpen: mode != .read || bytes.isEmpty)
    try check("write", offset: offset, count: bytes.count)
    let end = offset.addingReportingOverflow(Int64(bytes.count))
    guard !end.overflow, end.partialValue <= MemoryContent.sizeMax else {
      throw .refused("write", path, code: EFBIG)
    }
    let isWritten = node.content.withLock { $0.write(bytes, at: Int(offset)) }
    guard isWritten else { throw .refused("write", path, code: ENOMEM) }
  }

  func size() throws(StoreError) -> Int64 {
    try check("get the size of", isOpen: true)
    return Int64(node.content.withLock { $0.size })
  }

  func truncate(to size: Int64) throws(StoreError) {
    try check("truncate", isOpen: true)
    guard mode != .read, size >= 0 else { throw .refused("truncate", path, code: EINVAL) }
    guard size <= MemoryContent.sizeMax else { throw .refused("truncate", path, code: EFBIG) }
    node.content.withLock { $0.truncate(to: Int(size)) }
  }

  func sync() throws(StoreError) { try check("sync", isOpen: true) }

  func syncData() throws(StoreError) { try check("sync", isOpen: true) }

  func dropCache() {}

  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool {
    // Under the same lock as `close`, so that a concurrent close cannot leave behind a lock that is never released.
    try isClosed.withLock { (isClosed) throws(StoreError) in
      guard !isClosed else { throw .refused("lock", path, code: EBADF) }
      return node.content.withLock { $0.locks.tryLock(kind, owner: owner) }
    }
  }

  func unlock() { node.content.withLock { $0.locks.unlock(owner: owner) } }

  var identity: String? { "memory file \(ObjectIdentifier(node))" }

  func isStillAtItsPath() throws(StoreError) -> Bool {
    try check("look at", isOpen: true)
    return fileSystem.isFile(node, at: path)
  }

  func close() {
    isClosed.withLock { isClosed in
      guard !isClosed else { return }
      isClosed = true
      unlock()
    }
  }

  private func check(_ operation: String, isOpen isAllowed: Bool) throws(StoreError) {
    guard isAllowed, !isClosed.withLock({ $0 }) else { throw .refused(operation, path, code: EBADF) }
  }

  private func check(_ operation: String, offset: Int64, count: Int) throws(StoreError) {
    guard offset >= 0 || count == 0 else { throw .refused(operation, path, code: EINVAL) }
  }
}
