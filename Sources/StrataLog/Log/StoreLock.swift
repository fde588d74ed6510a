// The writer's lock, and the reader's probe of it.

/// An exclusive hold of LOCK. Given back by `release`, or by the end of the process.
package struct StoreLock: Sendable {
  private let file: any File

  /// Takes the lock, trying for as long as a reader's probe may last.
  package static func acquire(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, timeout: Duration
  ) throws(LogError) -> StoreLock {
    do {
      let file = try fileSystem.open(layout.lock, .create)
      let deadline = MonotonicTime.now().advanced(by: timeout)
      while try !file.tryLock(.exclusive) {
        guard MonotonicTime.now().nanoseconds < deadline.nanoseconds else {
          let holder = Self.holder(file)
          file.close()
          throw LogError.locked(path: layout.root, holder: holder)
        }
        pauseThread(nanoseconds: 2_000_000)
      }
      // The process id is advice for messages; nothing depends on it.
      let text = Array("\(processID())\n".utf8)
      try? file.truncate(to: 0)
      try? text.lendBytes { bytes throws(FileSystemError) in try file.write(bytes, at: 0) }
      return StoreLock(file: file)
    } catch let error as LogError {
      throw error
    } catch let error as FileSystemError {
      throw LogError(error)
    } catch {
      preconditionFailure("only typed errors are thrown above")
    }
  }

  /// True while a writer has the store. False too where there is no LOCK, as on read-only media.
  package static func isHeld(
    _ fileSystem: any FileSystem, _ layout: StoreLayout
  ) throws(FileSystemError) -> Bool {
    guard try fileSystem.kind(of: layout.lock) == .file else { return false }
    let file = try fileSystem.open(layout.lock, .read)
    defer { file.close() }
    guard try file.tryLock(.shared) else { return true }
    file.unlock()
    return false
  }

  /// True while LOCK is the file that was locked; false once it was removed or replaced.
  package func isIntact() throws(FileSystemError) -> Bool { try file.isStillAtItsPath() }

  package func release() {
    file.unlock()
    file.close()
  }

  private static func holder(_ file: any File) -> String? {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = try? bytes.lendMutableBytes { buffer throws(FileSystemError) in
      try file.read(into: buffer, at: 0)
    }
    let digits = bytes.prefix(count ?? 0).prefix { (0x30...0x39).contains($0) }
    return digits.isEmpty ? nil : "process \(String(decoding: digits, as: UTF8.self))"
  }
}
