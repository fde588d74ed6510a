// Writes what is left of a damaged store into a new one.

internal import StrataBase
public import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The result of a recovery.
public struct StoreRecovery: Sendable, Hashable {
  /// The end of the new store.
  public var head: LogPosition
  /// The number of events that are in the new store as they had been recorded.
  public var eventCount: UInt64
  /// The number of events whose content the damaged store did not have: it had been erased, or lost before an earlier
  /// recovery.
  public var erasedCount: UInt64
  /// What was found damaged, in the order of the sequences: the file, the place, and the events that are lost by it. A
  /// loss without events (`last < first`) is of a file, or of bytes at the end of one, of which it is not known what was
  /// in them. What was written last may never have been acknowledged.
  public var losses: [Loss]

  /// Events that are lost, and why.
  public struct Loss: Sendable, Hashable {
    /// The file, relative to the folder of the damaged store, and the place in it, in bytes.
    public var file: String
    public var offset: UInt64
    /// The sequences; empty if `last < first`.
    public var first: UInt64
    public var last: UInt64
    /// What is wrong there, as a sentence without its full stop.
    public var what: String

    /// The number of events.
    public var eventCount: UInt64 { last < first ? 0 : last - first + 1 }
  }

  /// The number of events that are lost.
  public var lostCount: UInt64 { losses.reduce(0) { $0 + $1.eventCount } }
}

extension EventStore {
  /// Writes everything that can still be read of a damaged store into a new one.
  ///
  /// This is for a store that cannot be opened, when there is no backup of it: a backup has all events, and this has
  /// those that are in undamaged blocks. One damaged byte costs the events of one block: appends that were committed
  /// together, or some 64 KiB of a sealed segment.
  ///
  /// Events keep their sequences, times, append ids, metadata and payloads. In place of each event that is lost, and of
  /// each whose content had been erased, the new store has an event of the type `$lost` in the stream `$recovery`, which
  /// changes nothing. Revisions of streams are counted again without them, and the new store has its own identity.
  /// Positions before the first such event hold in both; a later one that was saved with the old store, as by a
  /// consumer, throws `position` here. A document whose change is lost is what the other changes make of it.
  ///
  /// Nothing of the damaged store is changed. The new store is written under the name `PATH.unfinished` and renamed
  /// when it is whole. Orders to erase that the damaged store had not carried out are carried out in the new one.
  /// O(bytes of the log).
  ///
  /// - Parameters:
  ///   - path: the folder of the damaged store. It may also be an undamaged one.
  ///   - newPath: the folder of the new store, which must not exist.
  /// - Throws: unavailable, `notFound` or `notAStore`, if there is no store at `path`; `locked` if a writer has it open;
  ///   unavailable, `cannotCreate`, if something is at `newPath`; `invalid` if more than
  ///   100,000,000 events are missing in one place; unavailable, `unsupported`, for what a newer version wrote; `full`.
  @discardableResult
  public static func recover(from path: String, to newPath: String) async throws(StoreError) -> StoreRecovery
  {
    let thread = StoreOptions().machine.thread("strata-recovery")
    let result = await thread.result { () throws(StoreError) in
      try recoverBlocking(from: path, to: newPath)
    }
    return try result.get()
  }

  /// Recovers the store in the folder that a file URL names, as `recover(from:to:)` does for paths.
  @discardableResult
  public static func recover(from url: URL, to newURL: URL) async throws(StoreError) -> StoreRecovery {
    for url in [url, newURL] where !url.isFileURL { throw .invalid(what: "\(url) is not a file URL") }
    return try await recover(from: url.path, to: newURL.path)
  }

  /// Recovers a store as `recover(from:to:)` does, and blocks the calling thread. Do not call it on the cooperative
  /// pool.
  ///
  /// - Parameter progress: called from time to time with the number of bytes looked at so far, and in all.
  @discardableResult
  public static func recoverBlocking(
    from path: String, to newPath: String,
    progress: @escaping (_ read: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> StoreRecovery {
    let fileSystem = PosixFileSystem()
    try LogRecovery.check(fileSystem, path: path)
    let newPath = StoreLayout(root: fileSystem.absolutePath(newPath)).root
    let unfinished = newPath + ".unfinished"
    let own = try fileSystem.identity(of: StoreLayout(root: fileSystem.absolutePath(path)).root)
    if let own, try fileSystem.isInside(own, newPath) {
      throw .cannotCreate(path: newPath, what: "a store cannot be recovered into itself")
    }
    if let own, try fileSystem.identity(of: unfinished) == own {
      throw .cannotCreate(
        path: newPath, what: "the damaged store has the name that the new one has until it is whole")
    }
    try refuse(newPath, "something is at this path, and a recovery needs a new one")
    try refuse(unfinished, "an earlier recovery was cut short at this path: remove the folder")
    let recovery: StoreRecovery
    do throws(StoreError) {
      recovery = try recoverBlocking(
        fileSystem, from: path, into: unfinished, on: fileSystem, progress: progress)
    } catch {
      // It would refuse the next recovery, and keep the room that a full disk lacks.
      try? FileManager.default.removeItem(atPath: unfinished)
      throw error
    }
    try fileSystem.rename(unfinished, to: newPath)
    try fileSystem.syncDirectory(StoreLayout(root: newPath).parent)
    return recovery
  }

  /// Recovers a store of any file system into an empty folder of another one, which has a part of it until this returns.
  /// Blocks.
  package static func recoverBlocking(
    _ fileSystem: any FileSystem, from path: String, into newPath: String, on target: any FileSystem,
    progress: @escaping (_ read: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> StoreRecovery {
    let store = try open(target, path: newPath, .readWrite, options: .forRecovery)
    let report: LogRecoveryReport
    do throws(StoreError) {
      var recovery = LogRecovery(
        of: fileSystem, path: path, into: store.log, filler: LossEvent.filler, progress: progress)
      report = try recovery.run()
      try store.finishErasuresOfCopy()
    } catch {
      // The error says more than one of the close.
      try? store.closeBlocking()
      throw error
    }
    let head = store.head
    try store.closeBlocking()
    return StoreRecovery(
      head: head, eventCount: report.eventCount, erasedCount: report.erasedCount,
      losses: report.losses.map {
        .init(file: $0.file, offset: $0.offset, first: $0.first, last: $0.last, what: $0.what)
      })
  }

  private static func refuse(_ path: String, _ what: String) throws(StoreError) {
    let fileSystem = PosixFileSystem()
    // A link that leads nowhere is something, too.
    let isLink = try fileSystem.isLink(path)
    guard try isLink ? true : fileSystem.kind(of: path) != nil else { return }
    throw .cannotCreate(path: path, what: what)
  }
}

extension EventStore {
  /// Carries out the orders to erase that the log does not note as done, and says in HEAD if some are left.
  private func finishErasuresOfCopy() throws(StoreError) {
    try withErasing { () throws(StoreError) in
      let open = try openErasures()
      guard !open.orders.isEmpty || open.failure != nil else { return }
      try log.setErasing(true)
      _ = try carryOut(open)
    }
  }
}

extension StoreOptions {
  /// Every append that the format allows, and nothing derived: the next open makes that.
  fileprivate static var forRecovery: StoreOptions {
    var options = StoreOptions()
    options.durability = .buffered
    options.appendSizeMax = FormatLimits.rawLengthMax - AppendDraft.headLengthMax
    options.payloadSizeMax = options.appendSizeMax
    options.metadataSizeMax = options.appendSizeMax
    options.appendEventsMax = .max
    options.pendingBytesMax = max(options.pendingBytesMax, 2 * options.appendSizeMax)
    options.savesStates = false
    return options
  }
}
