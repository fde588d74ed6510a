// Copies a live store into another folder. The copy is a store itself.

internal import StrataBase
public import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The result of a backup.
public struct StoreBackup: Sendable, Hashable {
  /// The end of the backup: it holds everything up to this position, and nothing after it.
  public var head: LogPosition
  /// The first sequence that the backup has.
  package var firstSequence: UInt64
  /// The number of segment files in the backup.
  package var segments: Int
  /// The number of segment files that this call copied; the others were in the backup already.
  package var segmentsCopied: Int
  /// The number of bytes that this call copied.
  public var bytesCopied: UInt64
}

extension EventStore {
  /// Copies the part of the log that is durable now into a folder, which becomes a store itself.
  ///
  /// This process and others may append to this store meanwhile; the backup takes none of its locks.
  ///
  /// Every block is checked and decoded, with its chain, as it is copied. Whole segments are copied; of the last one only
  /// the new blocks, where the backup has its beginning. Indexes and quarantine are not copied.
  ///
  /// Calling this again with the same folder updates a finished backup with what is new, and completes an interrupted
  /// one with what is missing. Opening an interrupted backup either fails or shows the backup as it was before.
  /// Content that was erased in this store is also removed from the backup. Content that was erased in the backup,
  /// after it was opened for writing, is not copied into it again.
  ///
  /// How to restore from it: see <doc:Backup>.
  ///
  /// - Parameter path: a folder that does not exist, is empty, or holds a backup of this store.
  /// - Throws: `damaged` for damage in this store, with its position; `position` if the folder holds events that
  ///   this store does not; unavailable, `notAStore`, if it holds something else; `locked` if a writer has it open;
  ///   `full`.
  @discardableResult
  public func backup(to path: String) async throws(StoreError) -> StoreBackup {
    // On a separate thread: a copy takes long, and the shared threads serve all reads.
    let thread = machine.thread("strata-backup")
    let result = await thread.result { [self] () throws(StoreError) in try backupBlocking(to: path) }
    return try result.get()
  }

  /// Backs up the store into the folder that a file URL names, as `backup(to:)` does for a path.
  @discardableResult
  public func backup(to url: URL) async throws(StoreError) -> StoreBackup {
    guard url.isFileURL else { throw .invalid(what: "\(url) is not a file URL") }
    return try await backup(to: url.path)
  }

  /// Copies the log up to a point into a folder, which becomes a store itself: the store as it was then.
  ///
  /// All that `backup(to:)` says holds here. Content that was erased since is not in the copy, although the order to erase
  /// it came later. Calling this again with a later point, or without one, updates the backup; it never becomes shorter.
  ///
  /// - Parameters:
  ///   - path: a folder that does not exist, is empty, or holds a backup of this store that ends at or before the point.
  ///   - point: the end of an append. A point by time always is one.
  /// - Throws: what `backup(to:)` throws; `invalid` for a sequence inside an append, a point before the first event, a
  ///   folder that holds a later backup, and while an erasure is unfinished; `position` for a point that the log does not
  ///   have.
  @discardableResult
  public func backup(to path: String, until point: LogPoint) async throws(StoreError) -> StoreBackup {
    let thread = machine.thread("strata-backup")
    let result = await thread.result { [self] () throws(StoreError) in
      try backupBlocking(to: path, until: point)
    }
    return try result.get()
  }

  /// Backs up the store as `backup(to:)` does, and blocks the calling thread. Do not call it on the cooperative pool.
  ///
  /// - Parameters:
  ///   - point: where the backup ends, as in `backup(to:until:)`.
  ///   - progress: called from time to time with the number of bytes copied so far, and of bytes to copy in all.
  @discardableResult
  public func backupBlocking(
    to path: String, until point: LogPoint = .head,
    progress: @escaping (_ copied: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> StoreBackup {
    try backupBlocking(to: path, on: PosixFileSystem(), until: point, progress: progress)
  }

  /// Backs up the store into a folder of any file system.
  package func backupBlocking(
    to path: String, on target: any FileSystem, until point: LogPoint = .head,
    progress: @escaping (_ copied: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> StoreBackup {
    let last = point == .head ? nil : try sequenceBlocking(of: point)
    var backup = LogBackup(of: log, to: target, path: path, through: last, progress: progress)
    let report = try backup.run()
    return StoreBackup(
      head: LogPosition(sequence: report.end.sequence, chain: report.end.chain),
      firstSequence: report.firstSequence, segments: report.segments, segmentsCopied: report.segmentsCopied,
      bytesCopied: report.bytesCopied)
  }
}
