// The room of derived files: on a full disk they give way before an append is refused.

internal import StrataBase

/// An object that has derived files open, or writes them.
package protocol DerivedFileUser: AnyObject, Sendable {
  /// The folder of its files.
  var derivedFolder: String { get }

  /// Closes its files, because those of its folder are about to be removed.
  ///
  /// - Parameter isErasing: whether events are about to be erased. Then it keeps open what cannot be made from the log
  ///   any longer once they are.
  func evict(isErasing: Bool)

  /// Called before content of events is erased: what can be made from the log alone is made now, or never.
  func willErase()

  /// Called when content of events was erased, and the files were removed. What was read from them, or made from the log
  /// before, may hold it.
  func didErase()
}

extension DerivedFileUser {
  package func didErase() {}
}

/// What a writer knows of the states in `derived/`, which may be removed at any time, so that appends have the room.
///
/// The thread that has the turn removes them (`makeRoom`), and threads that write one (`write`) end as soon as they see
/// that. After that nothing is written for some time, and not before the disk has twice the room that was missing:
/// states that are written again and again would take the room that the log needs.
package final class DerivedSpace: Sendable {
  private struct User {
    weak var object: (any DerivedFileUser)?
  }

  private struct State {
    var users: [User] = []
    /// The number of threads that write derived files.
    var writerCount = 0
    /// Whether files are being removed. Nothing is written meanwhile.
    var isGivingWay = false
    /// How often files were removed, or began to be. What was begun before is given up, however slowly it goes on.
    var removalCount = 0
    /// When the disk was last known to be full; nil if it had room since.
    var lastFull: MonotonicTime?
    /// The bytes that were removed then, or that there was no room for.
    var missingBytes: UInt64 = 0
  }

  private let fileSystem: any FileSystem
  private let layout: StoreLayout
  /// How long nothing is written after the disk was full.
  private let pause: Duration
  private let state = Gate(State())

  /// How long an append waits for a thread that writes a derived file, and sees only between two syncs that it must end.
  private static let patience = Duration.seconds(1)

  init(_ fileSystem: any FileSystem, _ layout: StoreLayout, pause: Duration) {
    self.fileSystem = fileSystem
    self.layout = layout
    self.pause = pause
  }

  /// Adds an object for as long as it lives.
  package func add(_ object: any DerivedFileUser) {
    state.withLock { state in
      state.users.removeAll { $0.object == nil }
      state.users.append(User(object: object))
    }
  }

  /// Whether an object of this process uses a folder.
  package func isUsed(_ folder: String) -> Bool {
    users.contains { $0.derivedFolder == folder }
  }

  /// Announces that content of events is about to be erased. Blocks.
  func willErase() { for user in users { user.willErase() } }

  /// Announces that the content is erased and the files are removed.
  func didErase() { for user in users { user.didErase() } }

  private var users: [any DerivedFileUser] { state.withLock { $0.users.compactMap(\.object) } }

  // MARK: Writing

  /// Whether a derived file may be written that nobody has asked for: not soon after the disk was full, and not while it
  /// has little more room than was missing then.
  package var allowsWriting: Bool {
    let (last, missing) = state.withLock { ($0.lastFull, $0.missingBytes) }
    guard let last else { return true }
    guard last.elapsed >= pause else { return false }
    return fileSystem.freeSize(at: layout.root).map { $0 / 2 >= missing } ?? true
  }

  /// Runs a body that writes derived files. If the disk is full, the body's error is noted, and nothing is written for
  /// some time.
  package func write<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    state.withLock { $0.writerCount += 1 }
    defer {
      state.withLock { $0.writerCount -= 1 }
      state.signalAll()
    }
    let result = try body()
    state.withLock { state in
      if !state.isGivingWay { (state.lastFull, state.missingBytes) = (nil, 0) }
    }
    return result
  }

  /// Notes that there was no room for derived files of this length.
  package func lacksRoom(for bytes: UInt64) {
    state.withLock { state in
      state.lastFull = .now()
      state.missingBytes = max(state.missingBytes, bytes)
    }
  }

  /// How often files were removed: what a thread that begins to write notes for `checkRoom`.
  package var removalCount: Int { state.withLock { $0.removalCount } }

  /// Throws `full` if what is being written must end, because an append needs the room, or did since it was begun.
  ///
  /// - Parameter count: `removalCount` when the first file was opened.
  package func checkRoom(since count: Int) throws(StoreError) {
    let goesOn = state.withLock { !$0.isGivingWay && $0.removalCount == count }
    if !goesOn { throw .full(path: layout.derived) }
  }

  // MARK: Giving way

  /// Removes all states, also those of other programs. Call it with the turn, and with LOCK intact: then nothing else
  /// writes there but a process that lost its lock, whose state is without a name from then on. What readers have open
  /// takes room until they close it. Blocks.
  ///
  /// - Parameter isErasing: whether the room is for an erasure.
  /// - Returns: whether there was anything to remove.
  func makeRoom(isErasing: Bool) -> Bool {
    state.withLock { state in
      state.isGivingWay = true
      state.removalCount += 1
      state.lastFull = .now()
    }
    _ = state.wait(timeout: Self.patience) { $0.writerCount == 0 }
    for user in users { user.evict(isErasing: isErasing) }
    let removed = layout.giveUpStates(fileSystem)
    state.withLock { state in
      state.isGivingWay = false
      state.missingBytes = max(state.missingBytes, removed)
    }
    return removed > 0
  }
}

extension StoreLayout {
  /// Removes the files of all kinds that can be removed. Returns their bytes.
  fileprivate func giveUpStates(_ fileSystem: any FileSystem) -> UInt64 {
    var removed: UInt64 = 0
    for parent in derivedKinds {
      guard let names = try? fileSystem.contents(ofDirectory: parent),
        (try? fileSystem.isLink(parent)) == false
      else { continue }
      for name in names {
        let folder = "\(parent)/\(name)"
        let before = bytesOfDerived(in: folder, fileSystem)
        guard before > 0, (try? removeDerived(in: folder, fileSystem)) != nil else { continue }
        removed = removed.addingSaturated(before)
      }
    }
    return removed
  }

  private func bytesOfDerived(in folder: String, _ fileSystem: any FileSystem) -> UInt64 {
    var sum: UInt64 = 0
    for name in (try? fileSystem.contents(ofDirectory: folder)) ?? [] where StoreLayout.isDerivedFile(name) {
      guard let file = try? fileSystem.open("\(folder)/\(name)", .read) else { continue }
      defer { file.close() }
      sum = sum.addingSaturated((try? file.size()).flatMap(UInt64.init(exactly:)) ?? 0)
    }
    return sum
  }
}
