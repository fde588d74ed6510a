// `import`: appends JSON lines, or the history of a git repository, to a store.

internal import ArgumentParser
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

struct ImportCommand: AsyncParsableCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case jsonl, git
  }

  enum Output: String, ExpressibleByArgument, CaseIterable {
    case short, json
  }

  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports JSON lines or a git history, and appends only what the store does not have yet.",
    discussion: """
      JSON lines: each line becomes one append of one event in the stream TABLE/ID; in a new store, line n \
      becomes sequence n, if no line before it is blank. The append id is SOURCE:LINE:HASH. Importing a file again \
      therefore appends only its new lines, an interrupted import continues where it stopped, and a line that was \
      changed is rejected; white space at its end is no part of a line, and blank lines are passed over. A source \
      name longer than 34 bytes is shortened in ids to at most its first 17 bytes, ~, and a hash of the whole name. \
      To import one file into two tables of a store, give each import its own --source.

      What the store has of a source are its first lines. A line that was bad and skipped, and is corrected after \
      later lines were imported, is refused: it would be applied after them. --apply-late does that.

      With --time, a line whose time is earlier than the latest one before it, in the input or the store, is \
      refused; the lines before it stay. --sort-by-time, --time-slack and --clamp-time say what to do instead. A time \
      that is more than a day later than the clock is named on standard error and taken, and only times that are \
      as late are compared with it. Events of Strata's own, such as the note of an erasure, are compared with none.

      An integer is kept exactly. Any other number is kept as a double, if that gives the number back: as its \
      shortest text, or rounded to as many digits. A number with more digits than that, such as \
      0.123456789012345678, and one that is too large, is bad. The integer 1 and the text "1" are ids of the same \
      row: the first id that an input or the store has as both is named.

      git: each commit along first parents becomes one append, oldest first, whose id is the commit's hash. It \
      holds an event git.commit in commit/HASH, then a $put or $delete in file/PATH for each path that differs from \
      the first parent's tree. A path in the root has the folder "". Text that is not UTF-8 is read with \
      replacement characters. A path that is not UTF-8, or that begins with a double quote, becomes an id as git \
      quotes it, with "quoted":true. An id has at most 1,019 bytes: that of a longer path is its first bytes, ~, and \
      a hash, with the whole path as "path". The size of a submodule is null.

      If the last commit that was imported is merged by one whose first parent is another, as a pull does it, that \
      merge is one append of what differs from that last commit, which git.commit names as "comparedWith". The \
      commits that came with it have no appends: up to 1,000 have an event git.merged that names it. A commit that \
      changes too much for one append becomes several, HASH.1, HASH.2 and so on, of which the last has the id HASH; \
      head~N and bisect count them as one.

      The time of an append is the committer's, also where it is before that of the commit before. Where git cannot \
      read it, or it is not from 1970 to 2262, it is that of the commit before, and git.commit has the line as \
      "committerLine".

      The history is what its commits say: grafts and git replace do not count. Of a shallow clone it would begin in \
      the middle, so it is imported only with --shallow. Nothing is fetched, and no program is started that the \
      repository's settings name.

      An import that fails before its first append leaves no new folder behind. In a folder that was there before, or \
      in which something else was put, it leaves an empty store.

      Exit codes: 3 bad lines, or what follows gzip data, were skipped, 64 usage, 65 a line that is bad, changed, \
      late or goes back in time, 66 no such file, 73 the store cannot be created, 74 an I/O error or a full disk, 75 \
      the store is open in another process.
      """)

  @Argument(help: "The store; created if it does not exist.")
  var store: String

  @Argument(
    help: "The file to import, plain or gzip-compressed; - for standard input; or a git repository's folder.")
  var file: String

  @Flag(
    help: """
      FILE has events: lines as `export --events` writes them, or made by hand. An export of all events gives an empty \
      store the same events with the same chain; in a store with other events each append is added once.
      """)
  var events = false

  @Option(help: "The input's format, jsonl or git. Default: git if FILE is a repository, jsonl otherwise.")
  var format: Format?

  @Option(help: "jsonl: the table to import into.")
  var table: String?

  @Option(help: "jsonl: the field that holds a line's id, a string or an integer.")
  var id: String?

  @Option(
    help: "jsonl: the field that holds a line's time, in RFC 3339 with an offset. Default: the current time.")
  var time: String?

  @Option(
    help:
      """
      jsonl: the name of the source in append ids. Default: the file's name without its folder; none for standard \
      input and pipes. Two files of one name are one source, so a different file needs a --source of its own.
      """
  )
  var source: String?

  @Flag(help: "jsonl: each line is a merge patch (RFC 7396) instead of a whole document.")
  var merge = false

  @Flag(help: "jsonl: skip bad lines and count them.")
  var skipBad = false

  @Flag(
    help: """
      jsonl: take a number with more digits than a double keeps as the nearest double, and count its line. One that \
      is too large for a double stays bad.
      """)
  var roundNumbers = false

  @Flag(
    help: """
      jsonl: append a line that comes before one that the store has after that one, with the store's last time if \
      its own is earlier.
      """)
  var applyLate = false

  @Flag(
    help: """
      jsonl, with --time: append the lines in the order of their times, and lines of one time in that of the input. \
      All are read and checked before the first is appended. Those that do not fit into 32 MiB of memory go to a \
      temporary file in the folder TMPDIR, or else beside the store.
      """)
  var sortByTime = false

  @Option(
    help: """
      jsonl, with --time: by how much a time may be earlier than the latest one before it, such as 5s, 2h or 3d. It \
      is kept: a point by time finds it. Default: 0.
      """)
  var timeSlack: String?

  @Flag(
    help: """
      jsonl: raise a time that is earlier than the latest one before it, in the input or in the store, to that one. \
      The line counts where it is put, and only its document says its own time.
      """)
  var clampTime = false

  @Option(help: "git: the branch, tag or commit whose history to import. Default: HEAD.")
  var ref: String?

  @Flag(help: "git: import a shallow clone: its first commit includes all before it.")
  var shallow = false

  @OptionGroup var wait: LockWaitOptions

  @Option(name: .shortAndLong, help: "The format of the report, short or json.")
  var output: Output = .short

  func run() async throws {
    let report = try await execute { importNote($0) }
    var writer = OutputWriter()
    do {
      try writer.line(output == .json ? report.json : report.short)
      try writer.flush()
    } catch is BrokenPipe {}
    if report.skipped > 0 || report.isPart { throw ExitCode(ExitStatus.skipped) }
  }

  /// Runs the import, without printing the report.
  func execute(note: @escaping @Sendable (String) -> Void) async throws(CommandFailure) -> ImportReport {
    let result = await StoreMachine.process.thread("strata-import").result { () throws(CommandFailure) in
      try withoutBrokenPipeSignal { () throws(CommandFailure) in
        if events { return try importEvents(note) }
        switch try formatOfFile() {
        case .jsonl: return try importLines(note)
        case .git: return try importGit(note)
        }
      }
    }
    return try result.get()
  }

  private func formatOfFile() throws(CommandFailure) -> Format {
    let kind = try kindOfFile()
    if let format { return format }
    guard kind == .directory else { return .jsonl }
    guard ImportGitRepository.isOne(file) else {
      throw CommandFailure(
        ExitStatus.notFound, "the folder is not a git repository", at: file,
        next: "give a file of JSON lines or a repository's folder")
    }
    return .git
  }

  /// Nil for standard input, and where the system refuses to tell: opening the file then says why.
  private func kindOfFile() throws(CommandFailure) -> FileKind? {
    guard file != "-" else { return nil }
    let kind: FileKind?
    do throws(StoreError) { kind = try PosixFileSystem().kind(of: file) } catch { return nil }
    guard let kind else {
      throw CommandFailure(
        ExitStatus.notFound, "there is no such file or folder to import", at: file, next: "check the path")
    }
    return kind
  }

  /// Imports into the store, closes it, and removes it if it is new and the import failed before its first append.
  private func withStore(
    _ options: StoreOptions, _ body: (EventStore) throws(CommandFailure) -> ImportReport
  ) throws(CommandFailure) -> ImportReport {
    var isNew = false
    // Where the system refuses to tell, nothing is removed.
    do throws(StoreError) { isNew = try PosixFileSystem().kind(of: store) == nil } catch {}
    let opened = try openStore(options)
    defer { try? opened.closeBlocking() }
    do throws(CommandFailure) {
      let report = try body(opened)
      extendState(of: opened)
      return report
    } catch {
      if isNew, opened.head.sequence == 0 { opened.removeEmpty() }
      throw error
    }
  }

  private func openStore(_ options: StoreOptions) throws(CommandFailure) -> EventStore {
    guard !store.isEmpty else { throw usage("the store's path is empty", next: "give the path of a folder") }
    let timeout = try wait.timeout()
    do throws(StoreError) {
      return try wait.open(store, options, timeout)
    } catch {
      // Damage is reported with the store's path. Any other error keeps its own exit code: a store that cannot be
      // created is not a missing store.
      throw error.finding == nil ? CommandFailure(error) : CommandFailure(reading: store, error)
    }
  }

  /// The options for the store. Appends wait in memory until they are on disk; 8 MiB of them keep the disk busy.
  private var options: StoreOptions {
    var options = StoreOptions()
    options.pendingBytesMax = 8 << 20
    return options
  }

  // MARK: Lines

  private func importLines(_ note: @escaping (String) -> Void) throws(CommandFailure) -> ImportReport {
    let input = try ImportInput(file)
    // What a pipe has is waited for only if the command is right.
    if input.isFile { try input.refuseExport() }
    var choices = try lineChoices()
    if !input.isFile { try input.refuseExport() }
    // A pipe given in place of a file is named after its descriptor, and so is the next one.
    if source == nil, !input.isFile { choices.source = nil }
    let known = knownLines(of: choices.source)
    if choices.source == nil {
      note(
        "\(file == "-" ? "standard input" : "a pipe") without --source: the appends get no ids, so importing the "
          + "lines again appends them again")
    }
    return try withStore(options) { store throws(CommandFailure) in
      let report = try ImportLines(input, into: store, choices, known: known, note: note).importAll()
      noteIfAllKnown(report, note)
      return report
    }
  }

  /// The file may be another one of the same name, whose lines are equal to those that the store has.
  private func noteIfAllKnown(_ report: ImportReport, _ note: (String) -> Void) {
    guard output == .short, source == nil, let sourceName, report.read > 0, report.known == report.read else {
      return
    }
    note(
      "logreplay: every line is known from the source \(PeopleText.printable(sourceName)); if this is another file, "
        + "name it with --source")
  }

  /// Saves the tables of the documents if they were saved before, so that they stay near the head.
  private func extendState(of store: EventStore) {
    let states = try? SavedState.all(of: store.log)
    guard states?.contains(where: \.isOfDocuments) ?? false else { return }
    // What cannot be saved is folded again by the next reader.
    _ = try? store.checkpointBlocking()
  }

  /// The lines that the store has now, read while another process may still be writing to it. None if it cannot be read:
  /// opening it for writing then says why.
  private func knownLines(of source: ImportSourceName?) -> ImportKnownLines {
    var known = ImportKnownLines()
    guard let source, let reader = try? EventStore.openBlocking(at: store, .readOnly, options: options) else {
      return known
    }
    try? known.read(source, from: reader.log)
    try? reader.closeBlocking()
    return known
  }

  private func lineChoices() throws(CommandFailure) -> ImportLines.Choices {
    guard ref == nil, !shallow else {
      throw usage("--ref and --shallow apply only to git", next: "leave them out")
    }
    guard let table else { throw usage("the table is missing", next: "name it with --table") }
    guard !table.isEmpty, !table.utf8.contains(UInt8(ascii: "/")), !StoreTables.isInternal(table) else {
      throw usage(
        "\(String(reflecting: table)) is not a table's name",
        next: "a table's name is not empty, contains no slash, and does not begin with a dollar sign")
    }
    guard let id, !id.isEmpty else {
      throw usage("the id field is missing", next: "name the field that holds a line's id with --id")
    }
    guard source != "", time != "" else {
      throw usage("--source or --time is empty", next: "give it a value, or leave it out")
    }
    guard time != nil || (!sortByTime && timeSlack == nil) else {
      throw usage(
        "--sort-by-time and --time-slack need the times of lines",
        next: "name the field of the time with --time")
    }
    let slack = try timeSlack.map { text throws(CommandFailure) in
      let (seconds, attoseconds) = try lengthOfTime(text, of: "--time-slack").components
      return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
    return ImportLines.Choices(
      table: table, idField: id, timeField: time, source: sourceName.map { ImportSourceName($0) },
      isMerge: merge, skipsBad: skipBad, roundsNumbers: roundNumbers, sortsByTime: sortByTime,
      timeSlack: slack ?? 0, clampsTime: clampTime, appliesLate: applyLate)
  }

  private var sourceName: String? {
    source ?? (file == "-" ? nil : file.split(separator: "/").last.map { String($0) } ?? file)
  }

  private func usage(_ what: String, next: String) -> CommandFailure {
    CommandFailure(ExitStatus.usage, what, next: next)
  }

  // MARK: Events

  private func importEvents(_ note: @escaping (String) -> Void) throws(CommandFailure) -> ImportReport {
    guard format == nil, table == nil, id == nil, time == nil, !merge, !skipBad, !roundNumbers, !applyLate,
      !sortByTime, timeSlack == nil, !clampTime, ref == nil, !shallow
    else {
      throw usage(
        "--events takes --source, --wait and -o, and no other option",
        next: "leave the others out: each line says all about its event")
    }
    guard source != "" else { throw usage("--source is empty", next: "give it a value, or leave it out") }
    let input = try ImportInput(file)
    let name = source ?? (input.isFile ? sourceName : nil)
    return try withStore(ImportEvents.options(options)) { store throws(CommandFailure) in
      try ImportEvents(input, into: store, source: name, note: note).importAll()
    }
  }

  // MARK: git

  private func importGit(_ note: @escaping (String) -> Void) throws(CommandFailure) -> ImportReport {
    guard table == nil || table == "file", id == nil, time == nil, source == nil, !merge, !skipBad,
      !roundNumbers, !applyLate, !sortByTime, timeSlack == nil, !clampTime
    else {
      throw usage(
        "--table, --id, --time, --source, --merge, --skip-bad, --round-numbers, --apply-late, --sort-by-time, "
          + "--time-slack and --clamp-time apply only to JSON lines",
        next: "leave them out: a repository's files become the table file, with their paths as ids")
    }
    let repository = ImportGitRepository(file)
    let head = try repository.resolve(ref ?? "HEAD")
    let isShallow = try repository.isShallow()
    guard shallow || !isShallow else {
      throw CommandFailure(
        ExitStatus.corrupt,
        "the repository is a shallow clone: its first commit would seem to have made all files", at: file,
        next: "fetch the rest of its history with git fetch --unshallow, or import what is there with "
          + "--shallow")
    }
    var options = options
    // A commit is one append up to the limit of the format.
    options.appendSizeMax = FormatLimits.rawLengthMax - AppendDraft.headLengthMax
    return try withStore(options) { store throws(CommandFailure) in
      try ImportGitHistory(repository, head: head, into: store, isShallow: isShallow, note: note).importAll()
    }
  }
}
