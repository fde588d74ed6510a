// How every command ends: an exit code, and for an error what happened, where, and what to do next.

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
  /// A closed pipe is an error that `write` returns and no signal, and an interrupt ends with its own code.
  static func handleSignals() {
    // A handler, unlike "ignore", does not pass to the pager.
    signal(SIGPIPE) { _ in }
    signal(SIGINT) { _ in
      Pager.finish()
      _exit(ExitStatus.interrupted)
    }
  }

  /// Ends the process at a moment, in the middle of whatever it does then. That is for work that does not
  /// look at the time: who does has `grace` to say itself how far it came.
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

  /// Whoever looks at the time does so at least this often.
  private static let grace: Duration = .seconds(1)

  private static let isEnding = Lock(false)

  /// Lets one thread end the process: a command that is done may wait for the reader of its pager for long.
  private static func begin() {
    let isTaken = isEnding.withLock { isEnding in
      defer { isEnding = true }
      return isEnding
    }
    while isTaken { pause() }
  }

  static func succeed(isJSON: Bool) -> Never {
    begin()
    if !Pager.finish() { say(Pager.failure, isJSON: isJSON) }
    exit(0)
  }

  /// Says what went wrong on standard error, as JSON where the answer was to be JSON, and ends.
  static func fail(with error: any Error, isJSON: Bool) -> Never {
    begin()
    let isShown = Pager.finish()
    if error is BrokenPipe {
      // Nobody reads any more: a success, unless nobody ever did.
      if !isShown { say(Pager.failure, isJSON: isJSON) }
      exit(0)
    }
    if let failure = CommandFailure(any: error) { say(failure, isJSON: isJSON) }
    // What is left is the argument parser's: wrong usage, and what is no error at all, as help is.
    let code = Logreplay.exitCode(for: error).rawValue
    if code == 0 || !isJSON || error is ExitCode { Logreplay.exit(withError: error) }
    Terminal.note(
      CommandFailure(
        code, Logreplay.message(for: error), next: "see logreplay help, or a command's --help"
      ).json)
    exit(code)
  }

  private static func say(_ failure: CommandFailure, isJSON: Bool) -> Never {
    Terminal.note(isJSON ? failure.json : failure.text)
    exit(failure.code)
  }
}

extension CommandFailure {
  /// Any error of ours as a failure; nil for those of the argument parser.
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

  /// For people: what and where, then what to do.
  var text: String {
    let place = place.isEmpty ? "" : " (\(PeopleText.printable(place)))"
    // A filter's error shows the expression with a caret under the place, on lines of their own.
    let next = next.split(separator: "\n", omittingEmptySubsequences: false)
      .map { PeopleText.printable(String($0)) }.joined(separator: "\n  ")
    return "logreplay: \(PeopleText.printable(what))\(place)\n  \(next)"
  }

  /// For programs: `{"schema":1,"error":{"code":…,"what":…,"where":…,"next":…}}`.
  var json: String {
    var error = JSONLine()
    error.field("code", Int(code))
    error.field("what", what)
    error.field("where", place)
    error.field("next", next)
    var line = JSONLine.document()
    line.raw("error", error.finish())
    return String(decoding: line.finish(), as: UTF8.self)
  }
}
