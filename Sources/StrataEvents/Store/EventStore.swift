// The store: events in streams, appended atomically, read from any place.

package import StrataBase
public import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An open event store. Safe to use from any task and thread.
///
/// One process at a time may have a store open for writing; any number may read it beside that. Dropping the
/// last reference without `close` loses nothing that was acknowledged.
public final class EventStore: Sendable {
  /// How a store is opened.
  public enum Access: Sendable, Hashable {
    /// For reading and writing; creates the store where there is none.
    case readWrite
    /// For reading, beside a running writer or without one. Changes nothing on disk.
    case readOnly
  }

  package let log: Log
  /// Categories that hold documents: own events may not go there.
  package let documentCategories = Lock<Set<String>>([])

  /// What higher floors keep beside the store for as long as it lives, one object of a kind.
  private let attachments = Lock<[ObjectIdentifier: any AnyObject & Sendable]>([:])

  package init(log: Log) { self.log = log }

  /// The object of a kind that a higher floor keeps beside the store, made at the first call.
  ///
  /// It must not hold the store: that would keep both alive forever.
  package func attachment<Kind: AnyObject & Sendable>(_ make: () -> Kind) -> Kind {
    attachments.withLock { attachments in
      if let kept = attachments[ObjectIdentifier(Kind.self)] as? Kind { return kept }
      let made = make()
      attachments[ObjectIdentifier(Kind.self)] = made
      return made
    }
  }

  /// The threads and the clock of the store.
  package var machine: StoreMachine { log.options.machine }

  /// Opens the store in a folder.
  ///
  /// Opening reads the headers of all segments and the last segment whole; it does not depend on how much the
  /// closed segments hold. Of a store that may have an unfinished erasure, which every backup may have, the indexes of
  /// all segments are asked for it; where they are not there, as in a new backup, they are built first, from the whole
  /// log and once. An open has a thread of its own, and keeps no other store waiting.
  ///
  /// Where another writer has the store, this waits for `StoreOptions.lockTimeout` without a thread. A task that is
  /// cancelled meanwhile gets `CancellationError` at once.
  public static func open(
    at path: String, _ access: Access = .readWrite, options: StoreOptions = StoreOptions()
  ) async throws -> EventStore {
    try await open(PosixFileSystem(), at: path, access, options: options)
  }

  /// The same on any file system.
  package static func open(
    _ fileSystem: any FileSystem, at path: String, _ access: Access, options: StoreOptions
  ) async throws -> EventStore {
    let path = fileSystem.absolutePath(path)
    return try await LockWait.trying(for: options.lockTimeout, on: options.machine) { () throws(StoreError) in
      try open(fileSystem, path: path, access, options: options, lockTimeout: .zero)
    }
  }

  /// Opens the store in a folder that a file URL names.
  public static func open(
    at url: URL, _ access: Access = .readWrite, options: StoreOptions = StoreOptions()
  ) async throws -> EventStore {
    guard url.isFileURL else { throw StoreError.invalid(what: "\(url) is no file URL") }
    return try await open(at: url.path, access, options: options)
  }

  /// The same for a thread that may block. Never on the cooperative pool.
  public static func openBlocking(
    at path: String, _ access: Access = .readWrite, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> EventStore {
    try open(PosixFileSystem(), path: path, access, options: options)
  }

  /// Opens a store on any file system.
  package static func open(
    _ fileSystem: any FileSystem, path: String, _ access: Access, options: StoreOptions,
    storeID: StoreID? = nil, lockTimeout: Duration? = nil
  ) throws(StoreError) -> EventStore {
    let log =
      switch access {
      case .readWrite:
        try Log.openWriter(
          fileSystem, path: path, options: options, storeID: storeID, lockTimeout: lockTimeout)
      case .readOnly: try Log.openReader(fileSystem, path: path, options: options)
      }
    let store = EventStore(log: log)
    if access == .readWrite { try store.finishErasuresAtOpen() }
    return store
  }

  /// A store in memory: the same code over a file system that is gone with the last reference.
  public static func inMemory(
    clock: StoreClock = .system, options: StoreOptions = StoreOptions()
  ) -> EventStore {
    var options = options
    options.clock = clock
    do throws(StoreError) {
      return try open(MemoryFileSystem(), path: "/store", .readWrite, options: options)
    } catch {
      preconditionFailure("a store in memory could not be opened: \(error)")
    }
  }

  /// Drains what was accepted, refuses new appends as unavailable, `closed`, and marks the store as closed cleanly.
  /// Feeds end once they have delivered what is there.
  ///
  /// What is there can be read afterwards as before, as long as somebody holds the store: events, appends by id and
  /// sequence, documents, projections, and lists at the head and at any point of the past; a feed that begins then
  /// delivers it and ends, and so do the updates of a list. Everything that would change the store is refused so:
  /// appends, also one that is in the log already, erasures, seals, `suspend` and `resume`. Closing again does nothing.
  ///
  /// Throws where what was only buffered could not be put on disk; what was acknowledged as synced is there in any
  /// case.
  public func close() async throws(StoreError) {
    // A thread of its own: what was accepted may wait for an index.
    let thread = machine.thread("strata-close")
    let result = await thread.result { [log] () throws(StoreError) in try log.close() }
    try result.get()
  }

  /// The same for a thread that may block.
  public func closeBlocking() throws(StoreError) {
    try log.close()
  }

  /// The store's identity, a UUID.
  public var id: String { log.storeID.description }

  /// The visible end of the log.
  public var head: LogPosition {
    let mark = log.mark.visible
    return LogPosition(sequence: mark.sequence, chain: mark.chain)
  }

  /// The commit time of the last append; nil in an empty store.
  public var lastTime: Timestamp? {
    let time = log.mark.time
    return time == FormatLimits.noTime ? nil : Timestamp(nanoseconds: time)
  }

  /// The first sequence that the log still has. 1 unless it was trimmed.
  public var firstSequence: UInt64 { log.mark.logBegin }

  /// Damage that this store has found by itself since it was opened: of a writer, in segments that were to be sealed in
  /// the background (see `StoreOptions.damageFound`); of a reader that goes on with what comes before damage, where that
  /// is. Restore those files from a backup. `logreplay verify` finds all there is.
  public var knownDamage: [Finding] { log.knownDamage }

  /// Bytes of a torn tail that the open found: never acknowledged, kept until the next append moves them to
  /// `quarantine/`.
  public var tornBytes: UInt64 { log.tornBytes }
}
