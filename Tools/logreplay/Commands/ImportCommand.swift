// `logreplay import`: JSON lines, or a git repository's history, into a store.

internal import ArgumentParser
internal import StrataBase
internal import StrataEvents
internal import StrataLog

struct ImportCommand: AsyncParsableCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable {
    case jsonl, git
  }

  enum Output: String, ExpressibleByArgument, CaseIterable {
    case short, json
  }

  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Appends what a file of JSON lines, or a git repository, has and the store has not.",
    discussion: """
      JSON lines: each line is one append of one event in the stream TABLE/ID, and in a new store line n \
      becomes sequence n. Its append id is SOURCE:LINE:HASH, so importing again appends only what the file has \
      gained, an interrupted import goes on where it stopped, and a line that was changed is refused. A source \
      longer than 34 bytes stands in ids as its first 17, ~, and a hash of the whole. To import one file into \
      two tables of a store, give each import a --source of its own.

      git: each commit along first parents is one append, oldest first, whose id is the commit's hash: an event \
      git.commit in commit/HASH, then a $put or $delete in file/PATH for each path that differs from the first \
      parent's tree. A path in the root has the folder "". Text that is not UTF-8 is read with replacement \
      characters; a path that is not UTF-8, or begins with a double quote, is an id as git quotes it, with \
      "quoted":true. The size of a submodule is null.

      Exit codes: 3 with bad lines skipped, 64 usage, 65 a bad line or one that was changed, 66 no such file, \
      73 cannot create the store, 74 an I/O error or a full disk, 75 the store is open in another process.
      """)

  @Argument(help: "The store; created where there is none.")
  var store: String

  @Argument(help: "The file, perhaps compressed by gzip; - is standard input; or a git repository's folder.")
  var file: String

  @Option(help: "jsonl, or git. Default: git where FILE is a repository.")
  var format: Format?

  @Option(help: "The table that the lines are of.")
  var table: String?

  @Option(help: "The field that is a line's id: a string or an integer.")
  var id: String?

  @Option(help: "The field that is a line's time: RFC 3339, with an offset. Default: the clock.")
  var time: String?

  @Option(
    help:
      "What the lines are called in append ids. Default: the file's name; none for standard input and pipes.")
  var source: String?

  @Flag(help: "Each line is a merge patch (RFC 7396), not a whole document.")
  var merge = false

  @Flag(help: "Pass over bad lines and count them.")
  var skipBad = false

  @Flag(help: "Import a new source even if its times are earlier than the store's; they are raised.")
  var clampTime = false

  @Option(help: "git: the history of this branch, tag or commit. Default: HEAD.")
  var ref: String?

  @Option(name: .shortAndLong, help: "short, or json.")
  var output: Output = .short

  func run() async throws {
    let report = try await execute { importNote($0) }
    print(output == .json ? report.json : report.short)
    if report.skipped > 0 { throw ExitCode(ExitStatus.skipped) }
  }

  /// Does everything but printing the report.
  func execute(note: @escaping @Sendable (String) -> Void) async throws(CommandFailure) -> ImportReport {
    let result = await StoreMachine.process.reads.result { () throws(CommandFailure) in
      try withoutBrokenPipeSignal { () throws(CommandFailure) in
        switch try formatOfFile() {
        case .jsonl: try importLines(note)
        case .git: try importGit()
        }
      }
    }
    return try result.get()
  }

  private func formatOfFile() throws(CommandFailure) -> Format {
    if let format { return format }
    guard file != "-", (try? PosixFileSystem().kind(of: file)) == .directory else { return .jsonl }
    guard ImportGitRepository.isOne(file) else {
      throw CommandFailure(
        ExitStatus.notFound, "the folder is no git repository", at: file,
        next: "name a file of JSON lines or a repository's folder")
    }
    return .git
  }

  private func openStore(_ options: StoreOptions) throws(CommandFailure) -> EventStore {
    guard !store.isEmpty else { throw usage("the store has no name", next: "give the path of a folder") }
    do throws(StoreError) {
      return try EventStore.openBlocking(at: store, options: options)
    } catch {
      // What is damaged is named with the store; a path where none can be made is no store that is missing.
      throw error.finding == nil ? CommandFailure(error) : CommandFailure(reading: store, error)
    }
  }

  /// Appends wait in memory until they are on disk; this many bytes are enough to keep the disk busy.
  private var options: StoreOptions {
    var options = StoreOptions()
    options.pendingBytesMax = 8 << 20
    return options
  }

  // MARK: Lines

  private func importLines(_ note: @escaping (String) -> Void) throws(CommandFailure) -> ImportReport {
    var choices = try lineChoices()
    let input = try ImportInput(file)
    // A pipe in place of a file has the name of a descriptor, which the next one has too.
    if source == nil, !input.isFile { choices.source = nil }
    let store = try openStore(options)
    defer { try? store.closeBlocking() }
    if choices.source == nil {
      note(
        "\(file == "-" ? "standard input" : "a pipe") without --source: the lines get no ids, and importing them "
          + "again appends them again")
    }
    let lines = try ImportLines(input, into: store, choices, note: note)
    return try lines.importAll()
  }

  private func lineChoices() throws(CommandFailure) -> ImportLines.Choices {
    guard ref == nil else { throw usage("--ref is for git", next: "leave it out") }
    guard let table else { throw usage("the table is missing", next: "name it with --table") }
    guard !table.isEmpty, !table.contains("/"), !table.hasPrefix("$") else {
      throw usage(
        "\(String(reflecting: table)) is no name of a table",
        next: "a table's name is not empty, holds no slash, and does not begin with a dollar sign")
    }
    guard let id, !id.isEmpty else {
      throw usage("the id field is missing", next: "name the field that is a line's id with --id")
    }
    guard source != "", time != "" else {
      throw usage("an option is empty", next: "give it a value, or leave it out")
    }
    let name = source ?? (file == "-" ? nil : file.split(separator: "/").last.map { String($0) } ?? file)
    return ImportLines.Choices(
      table: table, idField: id, timeField: time, source: name.map { ImportSourceName($0) }, isMerge: merge,
      skipsBad: skipBad, clampsTime: clampTime)
  }

  private func usage(_ what: String, next: String) -> CommandFailure {
    CommandFailure(ExitStatus.usage, what, next: next)
  }

  // MARK: git

  private func importGit() throws(CommandFailure) -> ImportReport {
    guard table == nil || table == "file", id == nil, time == nil, source == nil, !merge, !skipBad else {
      throw usage(
        "--table, --id, --time, --source, --merge and --skip-bad are for lines",
        next: "leave them out: a repository's files are the table file, and their paths the ids")
    }
    let repository = ImportGitRepository(file)
    let head = try repository.resolve(ref ?? "HEAD")
    var options = options
    // A commit is one append however large it is, up to what the format allows.
    options.appendSizeMax = FormatLimits.rawLengthMax - AppendDraft.headLengthMax
    let store = try openStore(options)
    defer { try? store.closeBlocking() }
    let history = try ImportGitHistory(repository, head: head, into: store, clampsTime: clampTime)
    return try history.importAll()
  }
}
