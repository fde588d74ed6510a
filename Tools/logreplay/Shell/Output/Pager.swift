// Runs `$PAGER` between the command and the terminal.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A pager that reads the standard output of this process.
package enum Pager {
  /// The pager's process id; 0 if there is no pager. A signal handler reads it.
  nonisolated(unsafe) private static var process: pid_t = 0

  /// Starts `$PAGER` if standard output is a terminal, and redirects standard output to it.
  package static func start() {
    guard Terminal.isOutput, process == 0, let command = Terminal.variable("PAGER"), command != "cat" else {
      return
    }
    // As git and journalctl do: quit at once if the output fits on the screen, keep colours, do not clear the screen.
    if Terminal.variable("LESS") == nil { setenv("LESS", "FRX", 1) }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      let environment = _NSGetEnviron().pointee
    #else
      var actions = posix_spawn_file_actions_t()
      let environment = environ
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    posix_spawn_file_actions_addclose(&actions, ends[1])
    let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(command), nil]
    var child: pid_t = 0
    let code = posix_spawn(&child, "/bin/sh", &actions, nil, arguments, environment)
    posix_spawn_file_actions_destroy(&actions)
    for argument in arguments { free(argument) }
    close(ends[0])
    if code == 0 {
      dup2(ends[1], STDOUT_FILENO)
      process = child
    }
    close(ends[1])
  }

  /// Closes the pager's input and waits until the user quits it. Safe in a signal handler.
  ///
  /// - Returns: false if the pager could not be started, so that none of the output was shown.
  @discardableResult
  static func finish() -> Bool {
    guard process != 0 else { return true }
    close(STDOUT_FILENO)
    var status: Int32 = 0
    var ended = waitpid(process, &status, 0)
    while ended < 0, errno == EINTR { ended = waitpid(process, &status, 0) }
    process = 0
    // The shell's exit codes for a command that it cannot run (126) or does not find (127).
    let code = status >> 8 & 0xFF
    return ended < 0 || status & 0x7F != 0 || (code != 126 && code != 127)
  }

  /// The failure to report when output was lost.
  static var failure: CommandFailure {
    CommandFailure(
      ExitStatus.inputOutput, "the pager cannot be started", at: Terminal.variable("PAGER") ?? "PAGER",
      next: "set PAGER=cat, or another pager")
  }
}
