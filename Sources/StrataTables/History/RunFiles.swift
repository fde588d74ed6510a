// The files of runs that are open: no more at a time than a process should have open for one history.

internal import StrataBase
internal import StrataLog

/// Closes those that were read from the longest time ago, and has them opened again by their names. Safe to use from
/// several threads.
///
/// A file can only be opened again as long as it has its name. So before this process takes the names of runs that
/// something holds, it makes them stay open (`RunReader.stayOpen`); they do not count. A name that another process takes,
/// or an erasure, a full disk, or a history that is made again, is a run that can no longer be read: what holds it
/// replays the log, as after damage.
final class RunFiles: Sendable {
  /// A file that is closed when nothing reads from it any longer.
  final class Open: Sendable {
    let file: any File
    init(_ file: any File) { self.file = file }
    deinit { file.close() }
  }

  private struct State {
    /// By the owner of their records in the cache.
    var files: [UInt64: (open: Open, lastUse: UInt64)] = [:]
    var useCount: UInt64 = 0

    mutating func use(_ open: Open, _ owner: UInt64) {
      useCount += 1
      files[owner] = (open, useCount)
    }

    mutating func removeOldest(to count: Int) -> [Open] {
      var removed: [Open] = []
      while files.count > count, let oldest = files.min(by: { $0.value.lastUse < $1.value.lastUse }) {
        removed.append(oldest.value.open)
        files[oldest.key] = nil
      }
      return removed
    }
  }

  private let countMax: Int
  private let state = Lock(State())

  /// - Parameter countMax: the most files that are open at a time; one where that is less.
  init(countMax: Int) { self.countMax = max(1, countMax) }

  /// The number of files that are open, without those that a thread reads from just now, and those that stay open.
  var count: Int { state.withLock { $0.files.count } }

  /// The file of a run; nil if it was closed. It stays open for as long as the result is held.
  func file(of owner: UInt64) -> Open? {
    state.withLock { state -> Open? in
      guard let open = state.files[owner]?.open else { return nil }
      state.use(open, owner)
      return open
    }
  }

  /// Adds the file of a run, and closes others that there are too many of. O(open files).
  func add(_ open: Open, of owner: UInt64) {
    let closed = state.withLock { state in
      state.use(open, owner)
      return state.removeOldest(to: countMax)
    }
    // After the lock was given back.
    withExtendedLifetime(closed) {}
  }

  /// Closes the file of a run, unless it is held.
  func remove(_ owner: UInt64) {
    let closed = state.withLock { $0.files.removeValue(forKey: owner) }
    withExtendedLifetime(closed) {}
  }

  /// Closes half of the files, because the process can open no more. False if none is open.
  func makeRoom() -> Bool {
    let closed = state.withLock { $0.removeOldest(to: $0.files.count / 2) }
    return !closed.isEmpty
  }
}
