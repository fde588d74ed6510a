// `import`: appends records of a file, or the history of a git repository, to a store.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayShell
internal import StrataBase
internal import StrataLog

package struct ImportCommand: AsyncParsableCommand {
  enum Output: String, ExpressibleByArgument, CaseIterable {
    case short, json
  }

  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract:
      "Imports rows, events or a git history, and appends only what the store does not have yet.",
    discussion: ImportHelp.discussion)

  @Argument(help: "The store; created if it does not exist.")
  var store: String

  @Argument(
    help: """
      The file to import, plain or compressed with gzip or lz4; - for standard input; or a git repository's folder.
      """)
  var file: String

  @Flag(
    help: """
      FILE has events: lines as `export --events` writes them, or made by hand. An export of all events gives an empty \
      store the same events with the same chain; in a store with other events each append is added once.
      """)
  var events = false

  @Option(
    help: """
      The input's format: jsonl, json, csv, tsv, sqlite, cloudevents, git, xes or ocel. Default: csv, tsv or xes by the \
      file's name, or else what its beginning says.
      """)
  var format: ImportFormat?

  @Option(
    help: ArgumentHelp(
      "What says which field is what, in place of --id and the like: a file of JSON, or couchdb, journald or kurrentdb.",
      valueName: "mapping"))
  var mapping: String?

  @OptionGroup var rows: ImportRowOptions
  @OptionGroup var formats: ImportFormatOptions
  @OptionGroup var sync: ImportSyncOptions
  @OptionGroup var git: ImportGitOptions
  @OptionGroup var wait: LockWaitOptions

  @Option(name: .shortAndLong, help: "The format of the report, short or json.")
  var output: Output = .short

  func run() async throws {
    ProcessHeap.share()
    let (text, isPart): (String, Bool)
    if sync.sync {
      let report = try await executeSync { importNote($0) }
      (text, isPart) = (output == .json ? report.json : report.short, report.bad > 0)
    } else {
      let report = try await execute { importNote($0) }
      (text, isPart) = (output == .json ? report.json : report.short, report.skipped > 0 || report.isPart)
    }
    var writer = OutputWriter()
    do {
      try writer.line(text)
      try writer.flush()
    } catch is BrokenPipe {}
    if isPart { throw ExitCode(ExitStatus.skipped) }
  }

  /// Runs the import, without printing the report.
  func execute(note: @escaping @Sendable (String) -> Void) async throws(CommandFailure) -> ImportReport {
    _ = try sync.deletions()
    return try await onThread { () throws(CommandFailure) in try importAll(note) }
  }

  /// Runs a sync, without printing the report.
  func executeSync(note: @escaping @Sendable (String) -> Void) async throws(CommandFailure)
    -> ImportSyncReport
  {
    _ = try sync.deletions()
    return try await onThread { () throws(CommandFailure) in try syncAll(note) }
  }

  private func onThread<Report: Sendable>(
    _ body: @escaping @Sendable () throws(CommandFailure) -> Report
  ) async throws(CommandFailure) -> Report {
    let result = await StoreMachine.process.thread("strata-import").result { () throws(CommandFailure) in
      try withoutBrokenPipeSignal { () throws(CommandFailure) in try body() }
    }
    return try result.get()
  }

  private func syncAll(_ note: @escaping (String) -> Void) throws(CommandFailure) -> ImportSyncReport {
    let found = try ImportFormat.ofName(file)
    guard (format ?? found) != .git, !git.isGiven else {
      throw CommandFailure(
        ExitStatus.usage, "a git history is imported without --sync", at: file,
        next: "leave it out: what the store does not have yet is appended")
    }
    guard !events, mapping == nil else {
      throw CommandFailure(
        ExitStatus.usage, "--events and --mapping do not go with --sync", at: "--sync",
        next: "leave them out: a dump has the rows of one table, with --table and --id")
    }
    if let format = format ?? found, format == .cloudevents || format.isOfProcesses {
      throw CommandFailure(
        ExitStatus.usage, "\(format.rawValue) has events, and a dump has rows", at: "--sync",
        next: "leave it out: what the store does not have yet is appended")
    }
    let run = ImportRecordRun(
      file: file, asked: format, named: found, rows: rows, formats: formats, mapping: nil,
      saysWhatIsKnown: false)
    return try run.sync(ImportTarget(path: store, wait: wait, tables: StoredImportTables()), sync, note)
  }

  /// Each kind of input has its own import, which checks the options that are for others.
  private func importAll(_ note: @escaping (String) -> Void) throws(CommandFailure) -> ImportReport {
    let target = ImportTarget(path: store, wait: wait, tables: StoredImportTables())
    if events {
      guard format == nil, mapping == nil, !git.isGiven else { throw ImportEventsRun.otherOptions }
      return try ImportEventsRun(file: file, rows: rows, formats: formats).importAll(into: target, note)
    }
    let found = try ImportFormat.ofName(file)
    if (format ?? found) == .git {
      guard mapping == nil else {
        throw CommandFailure(
          ExitStatus.usage, "--mapping does not apply to git", at: "--mapping", next: "leave it out")
      }
      return try ImportGitRun(file: file, options: git, rows: rows, formats: formats)
        .importAll(into: target, note)
    }
    guard !git.isGiven else {
      throw CommandFailure(ExitStatus.usage, "--ref and --shallow apply only to git", next: "leave them out")
    }
    if let format = format ?? found, format.isOfProcesses {
      guard mapping == nil else {
        throw CommandFailure(
          ExitStatus.usage, "--mapping does not apply to \(format.rawValue)",
          next: "leave it out: a log says itself what its fields are")
      }
      return try ImportProcessRun(file: file, format: format, rows: rows, formats: formats)
        .importAll(into: target, note)
    }
    let run = ImportRecordRun(
      file: file, asked: format, named: found, rows: rows, formats: formats, mapping: mapping,
      saysWhatIsKnown: output == .short)
    return try run.importAll(into: target, note)
  }
}
