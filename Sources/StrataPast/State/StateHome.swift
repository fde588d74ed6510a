// Where a process that only reads saves the states of projections that the store's writer does not fold.

internal import StrataBase
internal import StrataLog

/// A folder beside that of the store's writer, `derived/state/NAME-VERSION~/`, which one process at a time writes to: the
/// one that holds the lock on its LOCK. Others that only read begin with what it saved, and save nothing themselves.
///
/// No other process is asked. An erasure and a full disk remove the files of every folder, and what is written to them
/// from then on has no name: a file gets its first byte only after the erasures in the log were looked at, and that is
/// after it has got its name.
struct StateHome: Sendable {
  /// A process that only reads leaves this much room on the disk, in bytes: it cannot make room for an append.
  static let roomMin: UInt64 = 64 << 20

  let files: StateFiles
  /// Its lock is held.
  let lock: any File

  /// The error for a folder that another process writes to. It may be free the next moment, so there is no pause after it
  /// as there is after a failure.
  static func taken(_ name: StateName) -> StoreError {
    .invalid(what: "another process that only reads saves the states of \(name.name)")
  }

  /// Takes a folder that nobody else writes to; nil if another process does.
  init?(_ files: StateFiles) throws(StoreError) {
    try files.createFolder()
    let lock = try files.openLock()
    guard try lock.tryLock(.exclusive) else {
      lock.close()
      return nil
    }
    (self.files, self.lock) = (files, lock)
  }
}

extension StateFiles {
  private var lockPath: String { "\(folder)/\(StoreLayout.lockName)" }

  /// LOCK, which stays when the other files are removed.
  fileprivate func openLock() throws(StoreError) -> any File { try fileSystem.open(lockPath, .create) }

  /// Runs a body unless a process writes to the folder, and lets none begin meanwhile.
  fileprivate func unlessLocked(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    guard try fileSystem.kind(of: lockPath) == .file else { return try body() }
    let lock = try fileSystem.open(lockPath, .readWrite)
    defer { lock.close() }
    if try lock.tryLock(.exclusive) { try body() }
  }
}

extension Log {
  /// Whether this process saves states.
  var savesStates: Bool { options.savesStates && (!isReadOnly || options.readersSaveStates) }
}

extension Checkpoints {
  /// The folders in which there may be a state of this name: the writer's, and that of readers.
  var folders: [StateFiles] { [files, StateFiles(log, folder: name.readerFolder)] }

  /// The folder that this process may write to, if it is the one of a path.
  func home(at folder: String) -> StateFiles? {
    let home = log.isReadOnly ? home.withLock { $0?.files } : files
    return home?.folder == folder ? home : nil
  }

  /// The folder to write to. That of readers is taken when it is first needed, and kept.
  func filesToWrite() throws(StoreError) -> StateFiles {
    guard log.isReadOnly else {
      try files.createFolder()
      return files
    }
    if let home = home.withLock({ $0 }), (try? home.lock.isStillAtItsPath()) == true { return home.files }
    guard let new = try StateHome(StateFiles(log, folder: name.readerFolder)) else {
      throw StateHome.taken(name)
    }
    home.withLock { $0 = new }
    return new.files
  }

  /// Leaves the readers' folder to the next one. Waits for a write of this object to end. Blocks.
  func leaveHome() {
    guard log.isReadOnly else { return }
    state.wait(until: { !$0.isWriting })
    home.withLock { home in
      home?.lock.close()
      home = nil
    }
  }

  /// Throws if this process may not write to its folder now.
  func checkMayWrite() throws(StoreError) {
    if log.isReadOnly { try log.checkOpen() } else { try log.checkWrites() }
  }

  /// Throws `full` if the log needs the room of the state that is being written.
  ///
  /// - Parameter removalCount: how often files had been removed when the first one was opened.
  func checkRoom(since removalCount: Int) throws(StoreError) {
    if let space = log.derivedSpace { return try space.checkRoom(since: removalCount) }
    guard let free = files.fileSystem.freeSize(at: log.layout.root), free < StateHome.roomMin else { return }
    throw .full(path: files.folder)
  }

  /// Whether the store's writer has saved tables of this projection since this reader last looked, and goes on to: then
  /// the reader writes nothing.
  func isSavedByWriter(_ known: inout State) -> Bool {
    guard log.isReadOnly,
      let slot = files.slots().first(where: {
        $0.storeID == log.storeID && $0.name == name.hash && fingerprint.isOf($0)
      }), slot.sequence > known.saved ?? 0
    else { return false }
    known.saved = slot.sequence
    return true
  }

  /// Removes what a saved state replaces: those of lower versions if this is the writer, and those that readers left.
  /// O(folders of states). Blocks.
  func removeOldStates(_ sequence: UInt64) {
    if !log.isReadOnly { log.removeLowerVersions(of: name, in: log.layout.states) }
    let names = (try? files.fileSystem.contents(ofDirectory: log.layout.states)) ?? []
    for folder in names where name.isReaderFolder(folder) {
      let left = StateFiles(log, folder: folder)
      guard home(at: left.folder) == nil else { continue }
      try? left.unlessLocked { () throws(StoreError) in
        // One that is further than this one is of use to the next reader.
        if folder == name.readerFolder, let slot = left.slots().first, slot.sequence > sequence { return }
        try checkMayWrite()
        try log.layout.removeDerived(in: left.folder, left.fileSystem)
      }
    }
  }
}
