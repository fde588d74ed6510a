// The store: events in streams, appended atomically, read from any position.

package import StrataBase
public import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An object that a higher module keeps with a store, and that has something to do before the store closes.
package protocol StoreAttachment: AnyObject, Sendable {
  /// Called before the log is closed or suspended, on a thread that may block. Returns what is to be called after that,
  /// whether it succeeded or not.
  func storeWillClose() -> @Sendable () -> Void
}

/// An open event store. Safe to use from any task and thread.
///
/// Only one process at a time may have a store open for writing; any number of readers may use it at the same time.
/// Releasing the last reference without `close` loses nothing that was acknowledged.
public final class EventStore: Sendable {
  /// How a store is opened.
  public enum Access: Sendable, Hashable {
    /// For reading and writing. Creates the store if it does not exist.
    case readWrite
    /// For reading, with or without a running writer. Creates no store, and never changes the log.
    ///
    /// What it may write is derived from the log: saved states of the tables that it folds, unless the writer saves
    /// them. They go into a folder of its own for each projection, `derived/state/NAME-VERSION~/`, in which one
    /// process at a time saves. From its first state on, it holds the lock of a file in that folder, until it closes or
    /// suspends the store. With `StoreOptions.readersSaveStates = false` it writes nothing at all,
    /// and holds no lock.
    case readOnly
  }

  package let log: Log
  /// The categories of documents, in UTF-8; an application's own events are not accepted there.
  package let documentCategories: Lock<Set<[UInt8]>>

  /// Objects that higher modules keep for as long as the store lives, at most one per type.
  private let attachments: Lock<[ObjectIdentifier: any AnyObject & Sendable]>

  /// What every event appended through this object gets as metadata, unless the event has its own.
  let attribution: DocumentObject

  package init(log: Log) {
    self.log = log
    documentCategories = Lock([])
    attachments = Lock([:])
    attribution = [:]
  }

  /// The same store, with another attribution.
  init(_ store: EventStore, attribution: DocumentObject) {
    log = store.log
    documentCategories = store.documentCategories
    attachments = store.attachments
    self.attribution = attribution
  }

  /// Returns the object of a type that a higher module keeps with the store, created by the first call.
  ///
  /// The object must not hold the store: that would keep both alive forever.
  package func attachment<Kind: AnyObject & Sendable>(_ make: () -> Kind) -> Kind {
    attachments.withLock { attachments in
      if let kept = attachments[ObjectIdentifier(Kind.self)] as? Kind { return kept }
      let made = make()
      attachments[ObjectIdentifier(Kind.self)] = made
      return made
    }
  }

  /// Ends what attachments work on, closes or suspends the log, and lets them go on, which finds that it is. Blocks.
  func endAttachments(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    let endings = endAttachments()
    defer { for end in endings { end() } }
    try body()
  }

  private func endAttachments() -> [@Sendable () -> Void] {
    guard isOpen else { return [] }
    return attachments.withLock { Array($0.values) }.compactMap { kept in
      (kept as? any StoreAttachment)?.storeWillClose()
    }
  }

  /// Whether it is neither closed nor suspended, and has its lock if it writes.
  var isOpen: Bool { (try? log.isReadOnly ? log.checkOpen() : log.checkWrites()) != nil }

  /// The threads and the clock of the store.
  package var machine: StoreMachine { log.options.machine }

  /// Opens the store in a folder.
  ///
  /// Opening reads the headers of all segments and the whole last segment; its cost does not depend on the size of the
  /// closed segments. The exception is a store that may have an unfinished erasure: the open looks it up in the
  /// indexes of all segments. If those indexes do not exist, as in a new backup, they are first built once from the
  /// whole log. An open runs on a separate thread, and does not make other stores wait.
  ///
  /// If another writer has the store, this waits up to `StoreOptions.lockTimeout` without occupying a thread. If the
  /// task is cancelled meanwhile, it throws `CancellationError` at once.
  ///
  /// - Throws: `CancellationError`, or a `StoreError`:
  ///   - `locked`, for writing: another writer has the store. Raise `StoreOptions.lockTimeout`, or open the store for
  ///     reading.
  ///   - `unavailable`, `notFound`, for reading: there is no store yet. Try again once the writer has opened it for the
  ///     first time, or open it for writing, which creates it.
  ///   - `unavailable`, `notAStore`: a file, or a folder with other things, is at the path. Choose another path.
  ///   - `unavailable`, `cannotCreate`, for writing: the folder cannot be created. Check the path and the permissions.
  ///   - `unavailable`, `unsupported`: a newer version wrote the store. Open it with that version.
  ///   - `unavailable`, `protected`: the device is locked. Try again when it is unlocked; nothing is wrong with the
  ///     files.
  ///   - `unavailable`, `linked`, for writing: a symbolic link is where a file of the store belongs. Replace the link
  ///     by the file.
  ///   - `unavailable`, `system` or `unreadable`: the system refused a call, which the error names. Check the disk and
  ///     the permissions, and try again.
  ///   - `damaged`: the bytes on disk are not those that were written. Restore the file that the finding names, or the
  ///     store, from a backup. Without one, `recover(from:to:)` writes what is left into a new store. With
  ///     `StoreOptions.readsDamaged` a reader serves what comes before.
  ///   - `full`, for writing: the disk is full. Make room, and open the store again.
  ///   - `invalid`: the path is empty or has a zero byte, or the options exceed what the format allows.
  public static func open(
    at path: String, _ access: Access = .readWrite, options: StoreOptions = StoreOptions()
  ) async throws -> EventStore {
    try await open(PosixFileSystem(), at: path, access, options: options)
  }

  /// Opens a store on any file system.
  package static func open(
    _ fileSystem: any FileSystem, at path: String, _ access: Access, options: StoreOptions
  ) async throws -> EventStore {
    let path = fileSystem.absolutePath(path)
    return try await LockWait.trying(for: options.lockTimeout, on: options.machine) { () throws(StoreError) in
      try open(fileSystem, path: path, access, options: options, lockTimeout: .zero)
    }
  }

  /// Opens the store in a folder that a file URL names. Throws what opening it by its path throws, and `invalid` if the
  /// URL is not a file URL.
  public static func open(
    at url: URL, _ access: Access = .readWrite, options: StoreOptions = StoreOptions()
  ) async throws -> EventStore {
    guard url.isFileURL else { throw StoreError.invalid(what: "\(url) is not a file URL") }
    return try await open(at: url.path, access, options: options)
  }

  /// Opens the store as `open(at:_:options:)` does, and blocks the calling thread. Do not call it on the cooperative
  /// pool. Throws the same errors, except `CancellationError`.
  public static func openBlocking(
    at path: String, _ access: Access = .readWrite, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> EventStore {
    try open(PosixFileSystem(), path: path, access, options: options)
  }

  /// Opens a store on any file system. Blocks.
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
    if access == .readWrite { try store.finishErasures() }
    return store
  }

  /// Creates a store in memory: the same code on a file system that is freed with the last reference.
  ///
  /// - Parameters:
  ///   - clock: the source of commit times, instead of the clock of the options.
  ///   - options: the options of the store; its clock is the system's, unless they have another one.
  public static func inMemory(
    clock: StoreClock? = nil, options: StoreOptions = StoreOptions()
  ) -> EventStore {
    var options = options
    if let clock { options.clock = clock }
    do throws(StoreError) {
      return try open(MemoryFileSystem(), path: "/store", .readWrite, options: options)
    } catch {
      preconditionFailure("a store in memory could not be opened: \(error)")
    }
  }

  /// Commits what was accepted, refuses new appends as unavailable, `closed`, and marks the store as closed cleanly.
  ///
  /// Feeds end once they have delivered what is in the log. As long as the object is held, the log can still be read
  /// as before: events, appends by id and sequence, documents, projections, and lists at the head and at any point of
  /// the past. A feed that begins after the close delivers what is there and ends, and so do the updates of a list.
  /// Every call that would change the store fails as unavailable, `closed`: appends, even one that is in the log
  /// already, erasures, seals, `suspend` and `resume`. Closing a closed store does nothing.
  ///
  /// Throws if data that was only buffered could not be written to disk; what was acknowledged as synced is on disk in
  /// any case.
  public func close() async throws(StoreError) {
    // On a separate thread: what was accepted may wait for an index.
    let thread = machine.thread("strata-close")
    let result = await thread.result { [self] () throws(StoreError) in try closeBlocking() }
    try result.get()
  }

  /// Closes the store as `close()` does, and blocks the calling thread.
  public func closeBlocking() throws(StoreError) {
    try endAttachments { () throws(StoreError) in try log.close() }
  }

  /// Why the store cannot go on, as its calls would say; nil while it can. What a health check asks.
  ///
  /// A writer cannot while it is suspended, once it is closed or has lost its lock, and after its disk has failed: it
  /// then takes no appends, and reads go on. A reader cannot once it is closed, or cannot follow its log any more. O(1);
  /// a writer asks the system once whether it still has its lock.
  public var unavailability: StoreError? {
    if let end = log.tail.end { return end }
    do {
      if log.isReadOnly { try log.checkOpen() } else { try log.checkWrites() }
    } catch {
      return error
    }
    return nil
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

  /// The first sequence that the log still has; 1 unless the log was trimmed.
  public var firstSequence: UInt64 { log.mark.logBegin }

  /// The damage that this store has found by itself since it was opened.
  ///
  /// A writer finds damage in segments that it is about to seal in the background (see `StoreOptions.damageFound`). A
  /// reader finds it at the end of what it can read, and continues with what comes before. Restore the files in
  /// question from a backup, or recover the store. `logreplay verify` finds all damage.
  public var knownDamage: [StoreFinding] { log.knownDamage }

  /// The size of the torn tail that the open found, in bytes. It was never acknowledged, and is kept until the next
  /// append moves it to `quarantine/`.
  package var tornBytes: UInt64 { log.tornBytes }
}
