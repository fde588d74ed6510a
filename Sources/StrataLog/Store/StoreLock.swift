// The writer's lock, and the reader's probe of it.

internal import StrataBase

/// An exclusive hold of LOCK. Given back by `release`, or by the end of the process.
///
/// The lock is on a file, and somebody may replace that file while its holder is stopped, as a machine that sleeps is:
/// then there are two holders. No look at LOCK and write behind it are one step, so a look alone keeps nothing safe.
/// These rules do, together with `SegmentFiles.detach`:
///
/// - Every new name is given to a file that had a temporary name before LOCK was looked at, one that no other holder
///   gives (`temporary`). The next holder removes all temporary names before it lists the segments, so what an earlier
///   one names after that has lost its file.
/// - The next holder gives the files that grow, the active segment and HEAD, to new files, unless it knows that the
///   last writer has ended. What an earlier one still writes is then in files without a name.
/// - A group is acknowledged only if LOCK was intact after its last write: then the next holder found it.
package struct StoreLock: Sendable {
  private let file: any File
  /// Names that this holder alone gives.
  private let token: String
  /// What the last holder of this very file wrote in it: `settledLine`, where it got that far.
  private let lastSettled: String

  /// Takes the lock, trying for as long as a reader's probe may last. Blocks.
  package static func acquire(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, timeout: Duration
  ) throws(StoreError) -> StoreLock {
    let deadline = MonotonicTime.now().advanced(by: timeout)
    while true {
      do throws(StoreError) { return try take(fileSystem, layout) } catch {
        guard case .locked = error, MonotonicTime.now().nanoseconds < deadline.nanoseconds else {
          throw error
        }
      }
      pauseThread(nanoseconds: 2_000_000)
    }
  }

  /// A LOCK that is replaced between its opening and its locking is opened again, at most so often.
  private static let opensMax = 8

  private static func take(
    _ fileSystem: any FileSystem, _ layout: StoreLayout
  ) throws(StoreError) -> StoreLock {
    for _ in 0..<opensMax {
      let file = try fileSystem.open(layout.lock, .create)
      guard try file.tryLock(.exclusive) else {
        defer { file.close() }
        throw .locked(path: layout.root, holder: holder(file))
      }
      if try file.isStillAtItsPath() { return StoreLock(file, fileSystem.freshToken()) }
      file.close()
    }
    throw .locked(path: layout.root, holder: nil)
  }

  private init(_ file: any File, _ token: UInt64) {
    self.file = file
    let digits = String(token, radix: 16)
    self.token = String(repeating: "0", count: 16 - digits.count) + digits
    let lines = Self.text(file).split(separator: "\n", omittingEmptySubsequences: false)
    lastSettled = lines.count > 1 ? String(lines[1]) : ""
    write(settled: lastSettled)
  }

  /// True while a writer has the store, and where that cannot be seen. False too where there is no LOCK, as on read-only
  /// media.
  package static func isHeld(
    _ fileSystem: any FileSystem, _ layout: StoreLayout
  ) throws(StoreError) -> Bool {
    guard try fileSystem.kind(of: layout.lock) == .file else { return false }
    let file: any File
    do throws(StoreError) { file = try fileSystem.open(layout.lock, .read) } catch {
      // There may be a writer, and beside one HEAD says where the log ends; which it does without one too.
      guard error.systemCode == SystemErrorCode.accessDenied else { throw error }
      return true
    }
    defer { file.close() }
    guard try file.tryLock(.shared) else { return true }
    file.unlock()
    return false
  }

  /// True while LOCK is the file that was locked; false once it was removed or replaced.
  package func isIntact() throws(StoreError) -> Bool { try file.isStillAtItsPath() }

  /// Throws once LOCK was removed or replaced. Nothing of the store is written then, HEAD least of all: another
  /// writer's promises are in it.
  package func check() throws(StoreError) {
    guard try isIntact() else {
      throw .poisoned("the LOCK file was removed or replaced, so another writer may be at work")
    }
  }

  /// A temporary name for the file that is to have this path, which no other holder gives.
  func temporary(_ path: String) -> String {
    let temporary = "\(path)-\(token)\(StoreLayout.temporarySuffix)"
    assert(
      StoreLayout.isTemporary(temporary.split(separator: "/").last.map(String.init) ?? ""),
      "a temporary name is one that the next holder removes")
    return temporary
  }

  package func release() {
    file.unlock()
    file.close()
  }

  // MARK: What LOCK says

  /// Says that whoever wrote this store up to an epoch, this holder excepted, has ended or has none of its files.
  func settle(_ epoch: UInt64) {
    guard let line = settledLine(epoch) else { return }
    write(settled: line)
  }

  /// Whether nobody but this holder can write what a writer of this epoch could: it held the lock of this very file,
  /// which is free now, and all before it were settled.
  func isSettled(_ epoch: UInt64) -> Bool { settledLine(epoch).map { $0 == lastSettled } ?? false }

  /// Names the file, so that it says nothing in a copy, and nothing in a file that takes the place of this one.
  private func settledLine(_ epoch: UInt64) -> String? { file.identity.map { "\(epoch) \($0)" } }

  /// Where this fails the next writer knows less, and does more. The process id is advice for messages.
  private func write(settled: String) {
    let text = Array("\(processID())\n\(settled)\(settled.isEmpty ? "" : "\n")".utf8)
    try? file.truncate(to: 0)
    try? text.lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
  }

  private static func text(_ file: any File) -> String {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = try? bytes.lendMutableBytes { buffer throws(StoreError) in
      try file.read(into: buffer, at: 0)
    }
    return String(decoding: bytes.prefix(count ?? 0), as: UTF8.self)
  }

  private static func holder(_ file: any File) -> String? {
    let digits = text(file).utf8.prefix { (0x30...0x39).contains($0) }
    return digits.isEmpty ? nil : "process \(String(decoding: digits, as: UTF8.self))"
  }
}
