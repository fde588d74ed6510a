// How every command ends: with an exit code, and after an error with what happened, where, and what to do next.

package import ArgumentParser
package import StrataBase
internal import StrataEvents
internal import StrataLog

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The end of the process.
package enum CommandEnding {
  /// Puts an empty file where a standard descriptor is closed: the next file that is opened, of a store perhaps, would
  /// have its number, and what is printed would be written into it. Reading and writing fail as they did.
  package static func reserveStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is taken.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Makes a closed pipe an error of `write` instead of a signal. Makes what ends the process from outside remove the files
  /// that are not finished, and end with the exit code 128 + the signal's number.
  package static func handleSignals() {
    UnfinishedFiles.prepare()
    // Unlike "ignore", a handler is not inherited by the pager.
    signal(SIGPIPE) { _ in }
    // A parent may leave SIGCHLD ignored, and the system then reports no child's exit code.
    signal(SIGCHLD, SIG_DFL)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      // `nohup` has the process go on after its terminal.
      if number == SIGHUP, isIgnored(signal(SIGHUP, SIG_IGN)) { continue }
      signal(number) { number in
        UnfinishedFiles.removeAll()
        // Who asks for an end does not wait until somebody quits the pager.
        if number == SIGINT { Pager.finish() }
        _exit(128 + number)
      }
    }
  }

  private static func isIgnored(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Ends the process at a deadline, whatever it is doing then. This is for work that does not check the time; work
  /// that does has `grace` to report its own progress first.
  package static func end(at deadline: MonotonicTime, with failure: CommandFailure, isJSON: Bool) throws {
    let last = deadline.advanced(by: grace)
    _ = try DedicatedThread(name: "timeout") {
      while true {
        let left = last.nanoseconds - MonotonicTime.now().nanoseconds
        guard left > 0 else { break }
        pauseThread(nanoseconds: Int(left))
      }
      begin()
      Pager.finish()
      Terminal.note(isJSON ? failure.json : failure.text)
      _exit(failure.code)
    }
  }

  /// Work that checks the time does so at least this often.
  private static let grace: Duration = .seconds(1)

  private static let isEnding = Lock(false)

  /// Lets only one thread end the process: a finished command may wait a long time for its pager to be closed.
  private static func begin() {
    let isTaken = isEnding.withLock { isEnding in
      defer { isEnding = true }
      return isEnding
    }
    while isTaken { pause() }
  }

  /// Ends the process without what libraries do at the end: a thread that still talks to a carrier may use them.
  private static func leave(_ code: Int32) -> Never {
    fflush(nil)
    _exit(code)
  }

  package static func succeed(isJSON: Bool) -> Never {
    begin()
    if !Pager.finish() { say(Pager.failure, isJSON: isJSON) }
    leave(0)
  }

  /// Reports the error on standard error, as JSON if the output was to be JSON, and ends the process.
  ///
  /// - Parameter command: the root of all commands, which knows the texts of the parser's errors.
  package static func fail(with error: any Error, isJSON: Bool, of command: any ParsableCommand.Type) -> Never
  {
    begin()
    let isShown = Pager.finish()
    if error is BrokenPipe {
      // The reader has closed the pipe. That is a success, unless the pager never started.
      if !isShown { say(Pager.failure, isJSON: isJSON) }
      leave(0)
    }
    if let failure = CommandFailure(any: error) { say(failure, isJSON: isJSON) }
    // The remaining errors are the argument parser's: wrong usage, and requests such as help that are not errors.
    let code = command.exitCode(for: error).rawValue
    if code == 0 || error is ExitCode { command.exit(withError: error) }
    Terminal.note(isJSON ? json(code, error, command) : text(error, command))
    leave(code)
  }

  private static func json(
    _ code: Int32, _ error: any Error, _ command: any ParsableCommand.Type
  ) -> String {
    let next = "see logreplay help, or a command's --help"
    return CommandFailure(code, command.message(for: error), next: next).json
  }

  /// The parser's text, which repeats arguments as they are, as lines that a terminal cannot interpret.
  private static func text(_ error: any Error, _ command: any ParsableCommand.Type) -> String {
    command.fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false)
      .map { PeopleText.printable(String($0)) }.joined(separator: "\n")
  }

  private static func say(_ failure: CommandFailure, isJSON: Bool) -> Never {
    Terminal.note(isJSON ? failure.json : failure.text)
    leave(failure.code)
  }
}
