// The files of runs that are open: no more at a time than a process should have open for one history.

internal import StrataBase
internal import StrataLog

/// Closes those that were read from the longest time ago, and has them opened again by their names. Safe to use from
/// several threads.
///
/// A file can only be opened again as long as it has its name. So what cannot be made from the log at any time keeps the
/// files open that it reads from, beside these: a state of the past whose pages are read when they are looked at
/// (`RunSet.held`), since after an erasure the log no longer has what its pages hold. And before this process takes the
/// names of runs that it merged, it makes those stay open that something still reads from (`RunReader.stayOpen`). Whatever
/// else finds that a file has lost its name replays the log.
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

  /// The number of files that are open, without those that only what reads from them keeps open.
  var count: Int { state.withLock { $0.files.count } }

  /// Notes that the file of a run is read from, and closes others that there are too many of. O(open files).
  func use(_ open: Open, of owner: UInt64) {
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
