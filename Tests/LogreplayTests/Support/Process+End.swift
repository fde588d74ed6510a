// The end of a program that a test has started.

import Foundation
import StrataBase

extension Process {
  /// Waits until the program has ended, and returns its exit code, or the negative number of the signal that ended it.
  ///
  /// `waitUntilExit` misses the end now and then while other threads start programs (swift-corelibs-foundation 6.3), and
  /// then never returns. This looks at the program itself, and leaves it to be reaped by Foundation.
  func waitForEnd() -> Int32 {
    var info = siginfo_t()
    while waitid(P_PID, id_t(processIdentifier), &info, WEXITED | WNOWAIT) != 0 {
      guard errno == EINTR else {
        // It was reaped, so Foundation knows of the end.
        waitUntilExit()
        return terminationReason == .exit ? terminationStatus : -terminationStatus
      }
    }
    let status = info._sifields._sigchld.si_status
    return info.si_code == CLD_EXITED ? status : -status
  }
}
