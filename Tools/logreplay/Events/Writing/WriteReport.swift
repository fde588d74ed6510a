// The report of `write`, for people and for programs.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

/// The counts of one `write`.
package struct WriteReport {
  var lines: UInt64 = 0
  var appended: UInt64 = 0
  /// Appends whose id the store had.
  var known: UInt64 = 0
  /// The first and the last appended sequence, or those of the append that was known; nil if there is none.
  var first: UInt64?
  var last: UInt64?
  /// The only append.
  private var outcome: AppendOutcome?

  package init() {}

  /// Lines that were one append.
  init(lines: UInt64, _ outcome: AppendOutcome) {
    self.lines = lines
    (appended, known) = outcome.isKnown ? (0, 1) : (1, 0)
    (first, last) = (outcome.first, outcome.last)
    self.outcome = outcome
  }

  /// Adds the results of appends.
  mutating func add(_ progress: AppendRun.Progress) {
    appended += progress.appended
    known += progress.known
    first = first ?? progress.first
    last = progress.last ?? last
  }

  package var json: [UInt8] {
    var line = JSONLine.document()
    line.field("lines", lines)
    line.field("appended", appended)
    line.field("known", known)
    line.field("first", first)
    line.field("last", last)
    line.field("time", outcome?.ownTime.description)
    line.field("committed", outcome.map { Timestamp(nanoseconds: $0.time).description })
    return line.finish()
  }

  package var short: String {
    var text = "\(counted(lines, "line")): \(counted(appended, "append")) made"
    if let first, let last { text += first == last ? ", sequence \(first)" : ", sequences \(first)…\(last)" }
    if known > 0 {
      text += ", \(known) known by \(known == 1 ? "its id" : "their ids") and not appended again"
    }
    return text
  }
}
