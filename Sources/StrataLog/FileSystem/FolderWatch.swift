// Being told of changes in a folder instead of looking for them.

internal import CStrata
internal import StrataBase

/// Notices of writes to the files in one folder, from any process of this machine.
///
/// A notice says that something may have changed and nothing else: whoever is told looks. And that none comes proves
/// nothing: writes through another machine, or another name of the file, are not told everywhere. So whoever waits
/// also looks now and then without having been told.
package protocol FolderWatch: AnyObject, Sendable {
  /// Waits for a notice, and takes all that have come since the watch began or since the last call. Blocks its
  /// thread, so it is for threads of our own. One thread at a time.
  func wait(timeout: Duration) -> FolderNotice

  /// Ends the wait of another thread, and all later ones at once.
  func close()
}

/// How a wait for a notice ended.
package enum FolderNotice: Sendable, Equatable {
  /// Something in the folder may have changed.
  case changed
  /// The time ran out.
  case none
  /// The watch was closed.
  case closed
  /// Nothing will ever be told: the folder is gone, or the system refuses. Look without.
  case failed
}

/// Notices of the machine's file system.
final class PosixFolderWatch: FolderWatch {
  private let notices: Int32
  private let wake: Int32

  /// Nil where the system has no notices, or none for this folder.
  init?(_ folder: String) {
    var (notices, wake): (Int32, Int32) = (-1, -1)
    guard strata_watch_open(folder, &notices, &wake) == 0 else { return nil }
    self.notices = notices
    self.wake = wake
  }

  // Not in `close`: another thread may be waiting, and the system gives a closed number to the next file.
  deinit { strata_watch_close(notices, wake) }

  func wait(timeout: Duration) -> FolderNotice {
    let limit = MonotonicTime(nanoseconds: 0).advanced(by: timeout).nanoseconds
    switch strata_watch_wait(notices, wake, limit) {
    case 1: return .changed
    case 0: return .none
    case -2: return .closed
    default: return .failed
    }
  }

  func close() { strata_watch_wake(wake) }
}
