// What keeps a sync from appending anything: signs that the input is not the whole table.

internal import LogreplayShell
internal import StrataLog

/// What was found about an input, apart from its rows.
struct ImportSyncInput {
  var name: String
  /// What its records are called.
  var noun: String
  /// Whether it ended in the middle of what may be a line: without a line feed.
  var endsInLine = false
  /// What follows compressed data and was left out: the name of the format.
  var rest: String?
  /// Whether bad records are left out, and not a reason to append nothing.
  var skipsBad = false
}

extension ImportSyncPlan {
  /// Why nothing may be appended; nil if all may be. A dump that is not whole would delete what it lacks.
  ///
  /// - Parameter deletions: nil if no row is deleted anyway.
  func refusal(_ input: ImportSyncInput, _ deletions: ImportSyncDeletions) -> CommandFailure? {
    guard let (what, next) = reason(input, deletions) else { return nil }
    var failure = CommandFailure(
      ExitStatus.corrupt, "\(what); \(report.differences)", at: input.name,
      next: "\(next); nothing was appended")
    failure.numbers = report.numbers + [("deleteMax", deletions.countMax(of: report.rows))]
    return failure
  }

  private func reason(
    _ input: ImportSyncInput, _ deletions: ImportSyncDeletions
  ) -> (what: String, next: String)? {
    if report.bad > 0, !input.skipsBad {
      return (
        "\(counted(report.bad, "bad \(input.noun)"))",
        "correct \(report.bad == 1 ? "it" : "them"), or add and change rows without deleting any with --skip-bad"
      )
    }
    if let (id, first, second) = firstTwice {
      let id = PeopleText.shortened(String(decoding: id, as: UTF8.self))
      let more = report.twice > 1 ? ", and \(report.twice - 1) more come twice" : ""
      return (
        "the id '\(id)' is that of \(input.noun) \(first) and of \(input.noun) \(second)\(more)",
        "a dump has each row once: choose another field with --id, or correct the dump"
      )
    }
    if let rest = input.rest {
      return (
        "something that is no \(rest) data follows the \(rest) data", "get the file again, and import it"
      )
    }
    if input.endsInLine {
      return (
        "the input ends without a line feed, so it may have been cut off",
        "make it again; if it is whole, end it with a line feed"
      )
    }
    guard report.bad == 0 else { return nil }
    if report.read == 0, report.rows > 0, deletions == .standard {
      return ("the input is empty", "make it again, or say with --delete-max how many rows may be deleted")
    }
    let countMax = deletions.countMax(of: report.rows)
    guard report.gone <= countMax else {
      return (
        "\(counted(report.gone, "row")) would be deleted, and at most \(countMax) may be",
        "make sure that the input is the whole table, and give --delete-max \(report.gone)"
      )
    }
    return nil
  }
}
