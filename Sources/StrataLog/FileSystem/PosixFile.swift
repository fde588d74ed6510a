// One open file of the machine.

internal import CStrata
internal import StrataBase

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// An open file descriptor. `close` closes it, and so does the release of the last reference.
package final class PosixFile: File {
  package let path: String

  /// The descriptor and how many calls are using it. The system reuses the number of a closed descriptor for the next
  /// file, so a close waits for the calls in progress, and the last of them closes the descriptor.
  private struct Use {
    var descriptor: Int32
    var callCount = 0
    var isClosed = false
  }
  private let use: Lock<Use>
  private let transfers: SystemTransfers

  /// The status of the file when it was opened. A file's device and inode number never change.
  let opened: strata_file_status

  /// Takes ownership of the descriptor, and closes it if the initializer throws.
  init(
    path: String, descriptor: Int32, transfers: SystemTransfers = .system
  ) throws(StoreError) {
    var status = strata_file_status()
    guard strata_fstat(descriptor, &status) == 0 else {
      let code = strata_errno()
      Self.closeDescriptor(descriptor)
      throw .refused("open", path, code: code)
    }
    self.path = path
    self.transfers = transfers
    opened = status
    use = Lock(Use(descriptor: descriptor))
  }

  deinit { close() }

  /// Some systems refuse a call that moves more than 2 GiB.
  private static let callSizeMax = 1 << 30

  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError)
    -> Int
  {
    try withDescriptor("read") { (descriptor) throws(StoreError) in
      try SystemCall.transferring("read", path, count: buffer.count) { done in
        transfers.read(
          descriptor, buffer.baseAddress! + done, min(buffer.count - done, Self.callSizeMax),
          offset + Int64(done))
      }
    }
  }

  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) {
    try withDescriptor("write") { (descriptor) throws(StoreError) in
      let done = try SystemCall.transferring("write", path, count: bytes.count) { done in
        transfers.write(
          descriptor, bytes.baseAddress! + done, min(bytes.count - done, Self.callSizeMax),
          offset + Int64(done))
      }
      // A write that moves no bytes and reports no error: no system does that to a file, but ignoring it would lose
      // bytes.
      guard done == bytes.count else { throw .refused("write", path, code: EIO) }
    }
  }

  package func size() throws(StoreError) -> Int64 { try status("get the size of").size }

  package func truncate(to size: Int64) throws(StoreError) {
    try call("truncate") { ftruncate($0, off_t(size)) }
  }

  package func takePermissions(of other: any File) {
    guard let other = other as? PosixFile else { return }
    var status = other.opened
    try? call("set the permissions of") { strata_take_permissions($0, &status) }
  }

  package func sync() throws(StoreError) { try call("sync") { strata_sync($0) } }

  package func syncData() throws(StoreError) { try call("sync") { strata_sync_data($0) } }

  package func dropCache() {
    try? withDescriptor("drop the cache of") { (descriptor) throws(StoreError) in
      strata_drop_cache(descriptor)
    }
  }

  package func willRead(at offset: Int64, count: Int) {
    try? withDescriptor("read ahead of") { (descriptor) throws(StoreError) in
      strata_will_read(descriptor, offset, Int64(count))
    }
  }

  package func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool {
    try withDescriptor("lock") { (descriptor) throws(StoreError) in
      while strata_lock(descriptor, kind == .exclusive ? 1 : 0) != 0 {
        switch strata_errno() {
        case EWOULDBLOCK: return false
        case EINTR: continue
        case let code: throw .refused("lock", path, code: code)
        }
      }
      return true
    }
  }

  package func unlock() {
    try? withDescriptor("unlock") { (descriptor) throws(StoreError) in strata_unlock(descriptor) }
  }

  package var identity: String? { opened.identity }

  package func isStillAtItsPath() throws(StoreError) -> Bool {
    // This descriptor stays open during the check, so no other file can have its inode number.
    let found = try withDescriptor("look at") { (_) throws(StoreError) in
      try PosixFileSystem.status(of: path)
    }
    guard let found else { return false }
    return opened.device == found.device && opened.inode == found.inode
  }

  package func close() {
    let idle = use.withLock { use -> Int32? in
      guard !use.isClosed else { return nil }
      use.isClosed = true
      return use.callCount == 0 ? use.descriptor : nil
    }
    if let idle { Self.closeDescriptor(idle) }
  }

  /// The current status of the file.
  func status(_ operation: String) throws(StoreError) -> strata_file_status {
    var status = strata_file_status()
    try call(operation) { strata_fstat($0, &status) }
    return status
  }

  /// Makes a call that returns 0, or -1 with errno.
  private func call(_ operation: String, _ body: (Int32) -> Int32) throws(StoreError) {
    try withDescriptor(operation) { (descriptor) throws(StoreError) in
      _ = try SystemCall.repeating(operation, path) { body(descriptor) }
    }
  }

  /// Runs the body with the descriptor, which stays open until the body returns.
  package func withDescriptor<Result>(
    _ operation: String, _ body: (Int32) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let descriptor = use.withLock { use -> Int32? in
      guard !use.isClosed else { return nil }
      use.callCount += 1
      return use.descriptor
    }
    guard let descriptor else { throw .refused(operation, path, code: EBADF) }
    defer {
      let isLast = use.withLock { use -> Bool in
        use.callCount -= 1
        assert(use.callCount >= 0, "a call ends once")
        return use.callCount == 0 && use.isClosed
      }
      if isLast { Self.closeDescriptor(descriptor) }
    }
    return try body(descriptor)
  }

  /// Not retried after an interruption: Linux has already released the number, and the next file opened may have it.
  private static func closeDescriptor(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #else
      _ = Glibc.close(descriptor)
    #endif
  }
}
