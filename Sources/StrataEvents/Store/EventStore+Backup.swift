// A copy of a live store that is a store itself.

internal import StrataBase
public import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a backup came to.
public struct StoreBackup: Sendable, Hashable {
  /// The end of the backup: everything up to it is there, and nothing behind it.
  public var head: LogPosition
  /// The first sequence that the backup has.
  public var firstSequence: UInt64
  /// Files of the log in all, and those that were copied now; the others were there.
  public var segments: Int
  public var segmentsCopied: Int
  /// Bytes that were copied now.
  public var bytesCopied: UInt64
}

extension EventStore {
  /// Copies the log as it is durable now into a folder that becomes a store of its own, whoever appends meanwhile, in
  /// this process or in another. It takes no lock of this store.
  ///
  /// Every block is checked and decoded, with its chain, as it is copied. A backup that was interrupted is begun again
  /// into the same folder and copies what is missing; a finished one takes in what is new. An interrupted one is
  /// refused by whoever opens it, or is the backup that it was before. Indexes and quarantine are not copied. Whole
  /// segments are copied: of the last one, everything again. What this store has erased leaves the backup, and what the
  /// backup has erased since it was opened for writing is not brought back.
  ///
  /// - Parameter path: a folder that is not there, is empty, or holds a backup of this store.
  /// - Throws: `damaged` for damage in this store, with its place; `position` where the folder holds events that
  ///   this store does not; unavailable, `notAStore`, where it holds something else; `locked` where a writer has it; `full`.
  @discardableResult
  public func backup(to path: String) async throws(StoreError) -> StoreBackup {
    // A thread of its own: a copy takes long, and the shared ones serve everybody who reads.
    let thread = machine.thread("strata-backup")
    let result = await thread.result { [self] () throws(StoreError) in try backupBlocking(to: path) }
    return try result.get()
  }

  /// The same into a folder that a file URL names.
  @discardableResult
  public func backup(to url: URL) async throws(StoreError) -> StoreBackup {
    guard url.isFileURL else { throw .invalid(what: "\(url) is no file URL") }
    return try await backup(to: url.path)
  }

  /// The same for a thread that may block. Never on the cooperative pool.
  ///
  /// - Parameter progress: told now and then how many bytes are copied, and how many are to be copied.
  @discardableResult
  public func backupBlocking(
    to path: String, progress: @escaping (_ copied: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> StoreBackup {
    try backupBlocking(to: path, on: PosixFileSystem(), progress: progress)
  }

  /// Into a folder of any file system.
  package func backupBlocking(
    to path: String, on target: any FileSystem,
    progress: @escaping (_ copied: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> StoreBackup {
    var backup = LogBackup(of: log, to: target, path: path, progress: progress)
    let report = try backup.run()
    return StoreBackup(
      head: LogPosition(sequence: report.end.sequence, chain: report.end.chain),
      firstSequence: report.firstSequence, segments: report.segments, segmentsCopied: report.segmentsCopied,
      bytesCopied: report.bytesCopied)
  }
}
