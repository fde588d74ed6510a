// The report of an import, for people and for programs.

internal import StrataLog

/// The counts of one import.
struct ImportReport: Equatable {
  /// What is counted: lines, or commits.
  var unit = "lines"
  var read: UInt64 = 0
  var appended: UInt64 = 0
  /// Already in the store.
  var known: UInt64 = 0
  /// Bad lines that were skipped.
  var skipped: UInt64 = 0
  /// Times that were earlier than the time before them, and were raised to it.
  var raised: UInt64 = 0
  /// Times that are ahead of the clock by more than a day, and were taken.
  var ahead: UInt64 = 0
  /// Lines that were appended after newer ones of their source.
  var late: UInt64 = 0
  /// Lines with a number that was rounded.
  var rounded: UInt64 = 0
  /// Whether something that is no line was left out, which was said.
  var isPart = false
  /// The first and the last appended sequence; nil if nothing was appended.
  var first: UInt64?
  var last: UInt64?
  /// What only an import of a git history counts.
  var git: ImportGitCounts?
  /// What only an import of events counts.
  var events: ImportEventCounts?

  /// Adds the results of appends.
  mutating func add(_ progress: AppendRun.Progress) {
    appended += progress.appended
    known += progress.known
    raised += progress.raised
    first = first ?? progress.first
    last = progress.last ?? last
  }

  var json: String {
    let numbers = [
      ("read", read), ("appended", appended), ("known", known), ("skipped", skipped), ("first", first),
      ("last", last), ("raised", raised), ("ahead", ahead), ("late", late), ("rounded", rounded),
    ].map { name, number in "\"\(name)\":" + (number.map { String($0) } ?? "null") }
    return "{\"schema\":1," + (numbers + (git?.json ?? []) + (events?.json ?? [])).joined(separator: ",")
      + "}"
  }

  var short: String {
    var text = "\(counted(read, String(unit.dropLast()))) read, \(appended) appended"
    if let first, let last {
      text += first == last ? " as sequence \(first)" : " as sequences \(first)…\(last)"
    }
    text += ", \(known) known, \(skipped) skipped"
    if let events { return text + events.short(raised: raised) }
    if let git { return text + git.short(raised: raised, ahead: ahead) }
    if raised > 0 { text += ", \(counted(raised, "time")) raised to the one before" }
    if ahead > 0 { text += ", \(counted(ahead, "time")) ahead of the clock" }
    if late > 0 { text += ", \(counted(late, "line")) applied late" }
    if rounded > 0 { text += ", \(counted(rounded, "line")) with a rounded number" }
    return text
  }
}
