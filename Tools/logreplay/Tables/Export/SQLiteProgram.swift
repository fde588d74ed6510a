// SQLite through its own program `sqlite3`: SQL text goes in, and what it says comes out.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// The program with a file open, fed with statements. It stops at the first error; what was not committed by then is
/// rolled back when it ends, also if it ends because this process is killed. Belongs to one thread; every call blocks.
final class SQLiteProgram {
  /// The name of the database in messages.
  private let name: String
  private let child: ChildProgram

  /// - Parameters:
  ///   - file: the database; created if it does not exist.
  ///   - name: its name in messages, where it has not got that yet.
  init(_ file: String, name: String? = nil) throws(CommandFailure) {
    self.name = name ?? file
    child = try Self.start(file, [], input: .pipe, name: name ?? file)
  }

  /// Passes statements on.
  func write(_ bytes: UnsafeRawBufferPointer) throws(CommandFailure) {
    do throws(StoreError) { try child.input?.write(bytes) } catch {
      // It ends before its input does only after an error, which it names.
      try finish()
      throw CommandFailure(error)
    }
  }

  func write(_ text: String) throws(CommandFailure) {
    try Array(text.utf8).lendBytes { (bytes) throws(CommandFailure) in try write(bytes) }
  }

  /// Ends the input, and throws if the program failed.
  func finish() throws(CommandFailure) {
    child.takeInput()?.close()
    // Pragmas print what they set, and a program that finds nobody to read it is ended by that.
    _ = try Self.output(of: child)
    let end = child.wait()
    if end != .code(0) || !child.complaint.isEmpty { throw Self.failure(end, child.complaint, name) }
  }

  /// The rows of a query whose columns are all `hex(…)`, as the bytes that the digits stand for.
  static func rows(of query: String, in file: String) throws(CommandFailure) -> [[[UInt8]]] {
    let child = try start(
      file, ["-list", "-noheader", "-separator", "|", query], input: .nothing, name: file)
    let output = try output(of: child)
    let end = child.wait()
    guard end == .code(0), output.count <= outputMax else { throw failure(end, child.complaint, file) }
    return output.split(separator: 0x0A).map { line in
      line.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false).map { bytes(ofHex: $0) }
    }
  }

  /// What the program prints until it ends.
  private static func output(of child: ChildProgram) throws(CommandFailure) -> [UInt8] {
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    do throws(StoreError) {
      while output.count <= outputMax {
        let count = try buffer.lendMutableBytes { (bytes) throws(StoreError) in
          try child.output.read(into: bytes)
        }
        guard count > 0 else { break }
        output += buffer[..<count]
      }
    } catch { throw CommandFailure(error) }
    return output
  }

  /// The most bytes of an answer.
  private static let outputMax = 64 << 20

  private static func bytes(ofHex digits: ArraySlice<UInt8>) -> [UInt8] {
    func value(_ digit: UInt8) -> UInt8 { digit <= 0x39 ? digit &- 0x30 : (digit | 0x20) &- 0x57 }
    var bytes: [UInt8] = []
    var index = digits.startIndex
    while index + 1 < digits.endIndex {
      bytes.append(value(digits[index]) << 4 | value(digits[index + 1]))
      index += 2
    }
    return bytes
  }

  /// Throws if a file that is to be replaced, or was removed, left a journal: SQLite would write what that has into the
  /// new file.
  static func checkJournals(besides path: String) throws(CommandFailure) {
    for ending in ["-journal", "-wal"] {
      guard (try? PosixFileSystem().kind(of: path + ending)) ?? nil != nil else { continue }
      throw CommandFailure(
        ExitStatus.cannotCreate, "there is a journal of a change that was interrupted", at: path + ending,
        next:
          "let SQLite undo that change, with sqlite3 \(path) .tables, or remove the journal if the file is gone"
      )
    }
  }

  private static func start(
    _ file: String, _ arguments: [String], input: ChildProgram.Input, name: String
  ) throws(CommandFailure) -> ChildProgram {
    // Without the user's settings, and with a path that is no option and no name that SQLite gives a meaning.
    let path = file.hasPrefix("/") ? file : "./" + file
    do throws(StoreError) {
      return try ChildProgram(
        "sqlite3",
        SQLiteShell.options + ["-cmd", ".timeout 10000", path] + arguments,
        environment: ChildEnvironment.sqlite, input: input)
    } catch {
      throw CommandFailure(
        ExitStatus.inputOutput,
        error.systemCode == SystemErrorCode.notFound
          ? "there is no program sqlite3, which writes the file"
          : "cannot start sqlite3: \(error.systemCode.map(systemMessage) ?? error.what)",
        at: name,
        next: error.systemCode == SystemErrorCode.notFound
          ? "install the package sqlite3, or write SQL text with --format sql"
          : ChildProgram.nextStep(after: error, starting: "sqlite3"))
    }
  }

  /// The failure for what the program says.
  private static func failure(_ end: ChildProgram.End, _ complaint: String, _ file: String) -> CommandFailure
  {
    func failure(_ code: Int32, _ what: String, _ next: String) -> CommandFailure {
      CommandFailure(code, what, at: file, next: next)
    }
    if complaint.contains("strata_guard_state") {
      return failure(
        ExitStatus.locked, "another export has updated the file meanwhile", "run the export again")
    }
    if complaint.contains("strata_guard_rows") {
      return failure(
        ExitStatus.corrupt,
        "the table has other rows than the last export left: something else has changed it",
        "write the file anew with --force; it is as it was")
    }
    if complaint.contains("disk is full") || complaint.contains("disk I/O error") {
      return failure(
        ExitStatus.inputOutput, "the disk is full, or cannot be written: \(complaint)",
        "free some space, or export to another disk; nothing is left of this export")
    }
    if complaint.contains("is locked") {
      return failure(
        ExitStatus.locked, "another program has the file locked", "run the export again when it has ended")
    }
    if complaint.contains("not a database") || complaint.contains("malformed") {
      return failure(
        ExitStatus.corrupt, "the file is no database of SQLite, or is damaged",
        "give another name, or write the file anew with --force")
    }
    if case .signal(let number) = end {
      return failure(ExitStatus.inputOutput, "sqlite3 was ended by signal \(number)", "run the export again")
    }
    return failure(
      ExitStatus.inputOutput, "sqlite3 failed: \(complaint)",
      "check the file; what is not said to be exported is not in it")
  }
}
