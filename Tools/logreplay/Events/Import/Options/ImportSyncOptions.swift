// The options of `import --sync`.

internal import ArgumentParser
package import LogreplayShell

/// Whether the table is made equal to the input, and how many rows that may delete.
package struct ImportSyncOptions: ParsableArguments, Sendable {
  @Flag(
    help: """
      Make the table equal to the input, which is a whole dump of it: rows that differ are appended, and rows that are \
      not in the input are deleted. See below.
      """)
  package var sync = false

  @Option(
    help: """
      With --sync: how many rows may be deleted, as a number, or as a part of the table such as 5%. Default: 1%, and \
      always ten rows.
      """)
  var deleteMax: String?

  @Flag(help: "With --sync: append nothing, and only say what would be.")
  var dryRun = false

  /// How many rows may be deleted. Throws if the options do not fit together.
  package func deletions() throws(CommandFailure) -> ImportSyncDeletions {
    guard sync || (deleteMax == nil && !dryRun) else {
      throw CommandFailure(
        ExitStatus.usage, "--delete-max and --dry-run are about --sync",
        next: "give --sync too, or leave them out")
    }
    guard let deleteMax else { return .standard }
    guard let deletions = ImportSyncDeletions(deleteMax) else {
      throw CommandFailure(
        ExitStatus.usage, "'\(deleteMax)' is neither a number of rows nor a part of them", at: "--delete-max",
        next: "give a number such as 200, or a part such as 5% or 0.5%")
    }
    return deletions
  }
}

/// How many rows a sync may delete.
package enum ImportSyncDeletions: Equatable {
  /// A hundredth of the table, and always ten rows: what a day may remove, and not what half a dump would.
  case standard
  case rows(UInt64)
  /// In parts of a million.
  case part(UInt64)

  init?(_ text: String) {
    func number(_ text: Substring) -> UInt64? {
      text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") <= 9 } ? UInt64(text) : nil
    }
    guard text.last == "%" else {
      guard let rows = number(text[...]) else { return nil }
      self = .rows(rows)
      return
    }
    let halves = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = number(halves[0]), whole <= 100 else { return nil }
    var part = whole * 10_000
    if halves.count == 2 {
      guard (1...4).contains(halves[1].utf8.count), var digits = number(halves[1]) else { return nil }
      for _ in halves[1].utf8.count..<4 { digits *= 10 }
      part += digits
    }
    guard part <= 1_000_000 else { return nil }
    self = .part(part)
  }

  /// The number of rows of a table that may be deleted.
  func countMax(of rows: UInt64) -> UInt64 {
    switch self {
    case .standard: max(10, rows / 100)
    case .rows(let count): count
    // Rows that fit into memory or on a disk are far from an overflow here.
    case .part(let part): rows.multipliedReportingOverflow(by: part).partialValue / 1_000_000
    }
  }
}
