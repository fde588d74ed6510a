// How every command ends: with an exit code, and after an error with what happened, where, and what to do next.

internal import ArgumentParser
internal import StrataBase
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
enum CommandEnding {
  /// Puts an empty file where a standard descriptor is closed: the next file that is opened, of a store perhaps, would
  /// have its number, and what is printed would be written into it. Reading and writing fail as they did.
  static func reserveStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is taken.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Makes a closed pipe an error of `write` instead of a signal. Makes what ends the process from outside remove the files
  /// that are not finished, and end with the exit code 128 + the signal's number.
  static func handleSignals() {
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
  static func end(at deadline: MonotonicTime, with failure: CommandFailure, isJSON: Bool) throws {
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

  static func succeed(isJSON: Bool) -> Never {
    begin()
    if !Pager.finish() { say(Pager.failure, isJSON: isJSON) }
    leave(0)
  }

  /// Reports the error on standard error, as JSON if the output was to be JSON, and ends the process.
  static func fail(with error: any Error, isJSON: Bool) -> Never {
    begin()
    let isShown = Pager.finish()
    if error is BrokenPipe {
      // The reader has closed the pipe. That is a success, unless the pager never started.
      if !isShown { say(Pager.failure, isJSON: isJSON) }
      leave(0)
    }
    if let failure = CommandFailure(any: error) { say(failure, isJSON: isJSON) }
    // The remaining errors are the argument parser's: wrong usage, and requests such as help that are not errors.
    let code = Logreplay.exitCode(for: error).rawValue
    if code == 0 || error is ExitCode { Logreplay.exit(withError: error) }
    Terminal.note(isJSON ? json(code, error) : text(error))
    leave(code)
  }

  private static func json(_ code: Int32, _ error: any Error) -> String {
    let next = "see logreplay help, or a command's --help"
    return CommandFailure(code, Logreplay.message(for: error), next: next).json
  }

  /// The parser's text, which repeats arguments as they are, as lines that a terminal cannot interpret.
  private static func text(_ error: any Error) -> String {
    Logreplay.fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false)
      .map { PeopleText.printable(String($0)) }.joined(separator: "\n")
  }

  private static func say(_ failure: CommandFailure, isJSON: Bool) -> Never {
    Terminal.note(isJSON ? failure.json : failure.text)
    leave(failure.code)
  }
}

extension CommandFailure {
  /// Any of Strata's errors as a failure; nil for those of the argument parser.
  init?(any error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as StoreError: self.init(error)
    case let error as FileSystemError: self.init(StoreError.refused(error))
    case is CancellationError:
      self.init(ExitStatus.interrupted, "the command was cancelled", next: "run it again")
    default: return nil
    }
  }

  /// The text for people: what happened and where, then what to do.
  var text: String {
    let place = place.isEmpty ? "" : " (\(PeopleText.printable(place)))"
    // A filter's error shows the expression with a caret below the position, on separate lines.
    let next = next.split(separator: "\n", omittingEmptySubsequences: false)
      .map { PeopleText.printable(String($0)) }.joined(separator: "\n  ")
    return "logreplay: \(PeopleText.printable(what))\(place)\n  \(next)"
  }

  /// The JSON for programs: `{"schema":1,"error":{"code":…,"what":…,"where":…,"next":…}}`, and in the
  /// error the numbers that it has.
  var json: String {
    var error = JSONLine()
    error.field("code", Int(code))
    error.field("what", what)
    error.field("where", place)
    error.field("next", next)
    for (name, value) in numbers { error.field(name, value) }
    var line = JSONLine.document()
    line.raw("error", error.finish())
    return String(decoding: line.finish(), as: UTF8.self)
  }
}
