// What an import did, for people and for programs.

internal import StrataLog

/// The counts of one import.
struct ImportReport: Equatable {
  /// What is counted: lines, or commits.
  var unit = "lines"
  var read: UInt64 = 0
  var appended: UInt64 = 0
  /// In the store already.
  var known: UInt64 = 0
  /// Bad, and passed over.
  var skipped: UInt64 = 0
  /// Times that were earlier than the one before, and were raised to it.
  var raised: UInt64 = 0
  /// The sequences that were appended; nil where there were none.
  var first: UInt64?
  var last: UInt64?

  /// Takes in what became of the appends.
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
      ("last", last), ("raised", raised),
    ].map { name, number in "\"\(name)\":" + (number.map { String($0) } ?? "null") }
    return "{\"schema\":1," + numbers.joined(separator: ",") + "}"
  }

  var short: String {
    var text = "\(read) \(unit) read, \(appended) appended"
    if let first, let last { text += " as sequences \(first)…\(last)" }
    text += ", \(known) known, \(skipped) skipped"
    if raised > 0 { text += ", \(raised) times raised to the one before" }
    return text
  }
}
