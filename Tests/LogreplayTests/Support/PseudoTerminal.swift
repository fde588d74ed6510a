// A terminal for a command to write to, where the system has them.

import Foundation
import Testing

/// A pair of descriptors: what a program writes to one, as to a terminal, is read from the other.
final class PseudoTerminal: @unchecked Sendable {
  // Sendable because one test has it, and calls one method after the other.

  let reader: Int32
  /// The end that a program takes for a terminal; -1 once it is closed here.
  private(set) var program: Int32

  /// For every test that needs one: it is skipped, and says why, where there is none.
  static var isNeeded: some TestTrait & SuiteTrait {
    .enabled(if: PseudoTerminal() != nil, "this system has no pseudo-terminals (/dev/ptmx with /dev/pts)")
  }

  /// Nil where the system has none, as a container may be without `/dev/pts`.
  init?(multiplexer: String = "/dev/ptmx") {
    reader = open(multiplexer, O_RDWR | O_NOCTTY | O_CLOEXEC)
    program = -1
    var (lock, number) = (Int32(0), Int32(0))
    // TIOCSPTLCK and TIOCGPTN, which are macros that Swift does not see.
    guard reader >= 0, ioctl(reader, 0x4004_5431, &lock) == 0, ioctl(reader, 0x8004_5430, &number) == 0 else {
      return nil
    }
    program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    if program < 0 { return nil }
  }

  /// Closes the program's end, so that reading ends with the program.
  func closeProgram() {
    if program >= 0 { close(program) }
    program = -1
  }

  deinit {
    closeProgram()
    if reader >= 0 { close(reader) }
  }
}
