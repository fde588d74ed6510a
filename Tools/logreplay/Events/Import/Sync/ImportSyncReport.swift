// The counts of a sync, for people and for programs.

internal import LogreplayShell
internal import StrataLog

/// What a sync found, and what it appended.
package struct ImportSyncReport: Equatable {
  /// What the input's records are called.
  var unit = "lines"
  /// Records of the input.
  var read: UInt64 = 0
  /// Those that are no rows, and were left out.
  package var bad: UInt64 = 0
  /// Those whose id an earlier one has.
  var twice: UInt64 = 0
  /// Those with a number that was rounded.
  var rounded: UInt64 = 0
  /// Rows that the table had before.
  var rows: UInt64 = 0
  /// Rows that are in the input and were not in the table.
  var added: UInt64 = 0
  /// Rows of both that differ.
  var changed: UInt64 = 0
  /// Rows of both that are equal.
  var same: UInt64 = 0
  /// Rows of the table that are not in the input.
  var gone: UInt64 = 0
  /// Those of them that were deleted, or would be.
  var deleted: UInt64 = 0
  /// The first and the last appended sequence; nil if nothing was appended.
  var first: UInt64?
  var last: UInt64?
  var isDryRun = false

  /// The counts that an error names too.
  var numbers: [(name: StaticString, value: UInt64)] {
    [
      ("read", read), ("bad", bad), ("twice", twice), ("rows", rows), ("added", added), ("changed", changed),
      ("same", same), ("gone", gone),
    ]
  }

  package var json: String {
    var line = JSONLine.document()
    for (name, value) in numbers { line.field(name, value) }
    line.field("deleted", deleted)
    line.field("rounded", rounded)
    line.field("first", first)
    line.field("last", last)
    line.field("dryRun", isDryRun)
    return String(decoding: line.finish(), as: UTF8.self)
  }

  /// What differs, as a part of a sentence.
  var differences: String {
    "\(added) to add, \(changed) to change, \(gone) to delete, \(same) the same, of \(counted(rows, "row")) in the table"
  }

  package var short: String {
    let noun = String(unit.dropLast())
    var text = "\(counted(read, noun)) read: "
    if isDryRun {
      text += "\(differences); nothing was appended"
    } else {
      text += "\(counted(added, "row")) added, \(changed) changed, \(deleted) deleted, \(same) the same"
      if let first, let last {
        text += first == last ? ", sequence \(first)" : ", sequences \(first)…\(last)"
      }
    }
    if bad > 0 { text += ", \(bad) bad" }
    if gone > deleted { text += ", \(gone - deleted) not deleted" }
    if rounded > 0 { text += ", \(counted(rounded, noun)) with a rounded number" }
    return text
  }
}
