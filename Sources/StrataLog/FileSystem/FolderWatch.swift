// Notifications of changes in a folder, instead of polling.

internal import CStrata
internal import StrataBase

/// Notifications of writes to the files in one folder, by any process of this machine.
///
/// A notification says only that something may have changed: its receiver has to look. The absence of one proves
/// nothing: not every system reports writes that another machine makes or that go through another name of the file. So
/// a waiting caller also polls now and then.
package protocol FolderWatch: AnyObject, Sendable {
  /// Waits for a notification, and consumes all that have arrived since the watch began or since the last call. Blocks
  /// its thread, so call it on a dedicated thread only, and on one thread at a time.
  func wait(timeout: Duration) -> FolderNotice

  /// Ends a wait on another thread, and all later waits at once.
  func close()
}

/// The result of a wait for a notification.
package enum FolderNotice: Sendable, Equatable {
  /// Something in the folder may have changed.
  case changed
  /// The time ran out.
  case none
  /// The watch was closed.
  case closed
  /// No notification will ever arrive: the folder was removed, or the system refuses. Poll instead.
  case failed
}

/// A watch that uses the system's own notifications.
final class PosixFolderWatch: FolderWatch {
  private let notices: Int32
  private let wake: Int32

  /// Nil if the system has no notifications, or none for this folder.
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
