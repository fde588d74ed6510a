// The writer's lock, and the reader's probe of it.

internal import StrataBase

/// An exclusive hold of LOCK. Ended by `release`, or by the end of the process.
///
/// The lock is on a file, and another process may replace that file while its holder is stopped, as on a machine that
/// sleeps: then there are two holders. Checking LOCK and writing after it are not one atomic step, so the check alone
/// protects nothing. These rules do, together with `SegmentFiles.detach`:
///
/// - A file gets its final name only by a rename. It has a temporary name, which no other holder uses (`temporary`),
///   before LOCK is checked. The next holder removes all temporary names before it lists the segments, so a rename by
///   an earlier holder after that finds no file.
/// - The next holder moves the files that grow, the active segment and HEAD, to new files, unless it knows that the
///   last writer has ended. Whatever an earlier holder still writes then goes to files without a name.
/// - A group is acknowledged only if LOCK was intact after the group's last write: then the next holder found the
///   group.
package struct StoreLock: Sendable {
  private let file: any File
  /// Part of the temporary names, unique to this holder.
  private let token: String
  /// What the last holder of this same file wrote in it: a `settledLine`, if it got that far.
  private let lastSettled: String
  /// When the lock was taken.
  private let since: String

  /// The pauses between two tries, in nanoseconds. The first is short, because the lock is most often held by a
  /// reader's short probe.
  private static let pauseMin = 2_000_000
  private static let pauseMax = 64_000_000

  /// Takes the lock, retrying while another writer has it or a reader probes it. The last try is made when the timeout
  /// has elapsed. Blocks.
  package static func acquire(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, timeout: Duration
  ) throws(StoreError) -> StoreLock {
    let deadline = MonotonicTime.now().advanced(by: timeout)
    var pause = pauseMin
    while true {
      let now = MonotonicTime.now()
      do throws(StoreError) { return try take(fileSystem, layout) } catch {
        guard case .locked = error, now < deadline else { throw error }
      }
      pauseThread(nanoseconds: min(pause, Int(deadline.nanoseconds - now.nanoseconds)))
      pause = min(pause * 2, pauseMax)
    }
  }

  /// The limit of attempts to open LOCK, if it is replaced each time between its opening and its locking.
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
      if try file.isStillAtItsPath() {
        return StoreLock(file, fileSystem.freshToken(), since: fileSystem.timeText())
      }
      file.close()
    }
    throw .locked(path: layout.root, holder: nil)
  }

  private init(_ file: any File, _ token: UInt64, since: String) {
    self.file = file
    self.since = since
    self.token = StoreLayout.token(token)
    lastSettled = LockText(Self.text(file)).settled
    write(settled: lastSettled)
  }

  /// True while a writer has the store, and also if that cannot be determined. False if there is no LOCK, as on
  /// read-only media.
  package static func isHeld(
    _ fileSystem: any FileSystem, _ layout: StoreLayout
  ) throws(StoreError) -> Bool {
    guard try fileSystem.kind(of: layout.lock) == .file else { return false }
    let file: any File
    do throws(StoreError) { file = try fileSystem.open(layout.lock, .read) } catch {
      // A writer may be running. If so, HEAD says where the log ends; without a writer it says that too.
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

  /// Throws once LOCK was removed or replaced. From then on nothing in the store may be written, least of all HEAD,
  /// which holds another writer's promises.
  package func check() throws(StoreError) {
    guard try isIntact() else {
      throw .poisoned("the LOCK file was removed or replaced, so another writer may be using the store")
    }
  }

  /// A temporary name, unique to this holder, for the file that is to get this path.
  func temporary(_ path: String) -> String {
    let temporary = "\(path)-\(token)\(StoreLayout.temporarySuffix)"
    assert(
      StoreLayout.isTemporary(temporary.split(separator: "/").last.map(String.init) ?? ""),
      "the next holder recognises and removes a temporary name")
    return temporary
  }

  package func release() {
    file.unlock()
    file.close()
  }

  // MARK: What LOCK says

  /// Records that every writer of this store up to an epoch, except this holder, has ended or has none of its files.
  func settle(_ epoch: UInt64) {
    guard let line = settledLine(epoch) else { return }
    write(settled: line)
  }

  /// Whether only this holder can write what a writer of this epoch could: that writer held the lock of this same file,
  /// which is free now, and all writers before it were settled.
  func isSettled(_ epoch: UInt64) -> Bool { settledLine(epoch).map { $0 == lastSettled } ?? false }

  /// Contains the file's identity, so that it means nothing in a copy of the file or in a file that replaces this one.
  private func settledLine(_ epoch: UInt64) -> String? { file.identity.map { "\(epoch) \($0)" } }

  /// If this fails, the next writer knows less and does more work. The process id and the time only serve messages.
  private func write(settled: String) {
    let text = Array(LockText(process: "\(processID())", settled: settled, since: since).text.utf8)
    try? file.truncate(to: 0)
    try? text.lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
  }

  private static func text(_ file: any File) -> String {
    var bytes = [UInt8](repeating: 0, count: LockText.lengthMax)
    let count = try? bytes.lendMutableBytes { buffer throws(StoreError) in
      try file.read(into: buffer, at: 0)
    }
    return String(decoding: bytes.prefix(count ?? 0), as: UTF8.self)
  }

  /// Who has the lock. A program that is no writer may have it: then LOCK names the last writer, which has ended.
  private static func holder(_ file: any File) -> String? {
    let text = LockText(text(file))
    return text.process.flatMap { Int32($0) }.map(processExists) ?? false ? text.holder : nil
  }
}
