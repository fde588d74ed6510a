// A file system whose notices never come, as on one that another machine writes to.

import StrataBase
import StrataLog

/// Another file system, with a watch that only time ends.
struct SilentFileSystem: WrappingFileSystem {
  let base: any FileSystem

  func watch(_ folder: String) -> (any FolderWatch)? { SilentWatch() }
}

private final class SilentWatch: FolderWatch {
  private let isClosed = Gate(false)

  func wait(timeout: Duration) -> FolderNotice {
    isClosed.wait(timeout: timeout) { $0 } ? .closed : .none
  }

  func close() {
    isClosed.withLock { $0 = true }
    isClosed.signalAll()
  }
}
