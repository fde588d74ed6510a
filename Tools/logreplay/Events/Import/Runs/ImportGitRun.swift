// One import of a git history, from the options to the report.

package import LogreplayShell
internal import StrataEvents
internal import StrataLog

/// Opens the repository and the store, and imports the history of one into the other.
package struct ImportGitRun {
  let file: String
  let options: ImportGitOptions
  /// None of these may be given.
  let rows: ImportRowOptions
  let formats: ImportFormatOptions

  package init(file: String, options: ImportGitOptions, rows: ImportRowOptions, formats: ImportFormatOptions)
  {
    self.file = file
    self.options = options
    self.rows = rows
    self.formats = formats
  }

  package func importAll(
    into target: ImportTarget, _ note: @escaping (String) -> Void
  ) throws(CommandFailure) -> ImportReport {
    guard rows.table == nil || rows.table == "file", !rows.isGivenBesidesTable, !formats.isForCSV,
      formats.fromTable == nil
    else {
      throw CommandFailure(
        ExitStatus.usage,
        "--table, --id, --time, --source, --merge, --skip-bad, --round-numbers, --apply-late, --sort-by-time, "
          + "--time-slack, --clamp-time and the other options of records do not apply to git",
        next: "leave them out: a repository's files become the table file, with their paths as ids")
    }
    guard !options.all || options.ref == nil else {
      throw CommandFailure(
        ExitStatus.usage, "--all takes the commits of all refs, and --ref those of one", at: "--ref",
        next: "give one of them")
    }
    let repository = ImportGitRepository(file)
    let scope: ImportGitScope =
      options.all ? .all : .firstParents(of: try repository.resolve(options.ref ?? "HEAD"))
    let isShallow = try repository.isShallow()
    guard options.shallow || !isShallow else {
      throw CommandFailure(
        ExitStatus.corrupt,
        "the repository is a shallow clone: its first commit would seem to have made all files", at: file,
        next: "fetch the rest of its history with git fetch --unshallow, or import what is there with "
          + "--shallow")
    }
    var storeOptions = ImportTarget.options
    // A commit is one append up to the limit of the format.
    storeOptions.appendSizeMax = FormatLimits.rawLengthMax - AppendDraft.headLengthMax
    return try target.withStore(storeOptions) { store throws(CommandFailure) in
      try ImportGitHistory(repository, scope, into: store, isShallow: isShallow, note: note).importAll()
    }
  }
}
