// How failures are reported: as text for people, and as JSON for programs.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension CommandFailure {
  /// Any of Strata's errors as a failure; nil for those of the argument parser.
  package init?(any error: any Error) {
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
  package var text: String {
    let place = place.isEmpty ? "" : " (\(PeopleText.printable(place)))"
    // A filter's error shows the expression with a caret below the position, on separate lines.
    let next = next.split(separator: "\n", omittingEmptySubsequences: false)
      .map { PeopleText.printable(String($0)) }.joined(separator: "\n  ")
    return "logreplay: \(PeopleText.printable(what))\(place)\n  \(next)"
  }

  /// The JSON for programs: `{"schema":1,"error":{"code":…,"what":…,"where":…,"next":…}}`, and in the
  /// error the numbers that it has.
  var json: String {
    var line = JSONLine.document()
    line.raw("error", members)
    return String(decoding: line.finish(), as: UTF8.self)
  }

  /// The object with the error alone.
  package var members: [UInt8] {
    var error = JSONLine()
    error.field("code", Int(code))
    error.field("what", what)
    error.field("where", place)
    error.field("next", next)
    for (name, value) in numbers { error.field(name, value) }
    return error.finish()
  }
}
