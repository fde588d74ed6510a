// Runs the `sqlite3` program on a database file, which is only read.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// The rows that a query gives, as `sqlite3` prints them: a line each, and a space between two columns.
///
/// The queries here print every value in characters that need no quotes: as `hex`, or as digits.
final class ImportSQLiteProgram: ImportByteSource {
  private let path: String
  private let child: ChildProgram
  /// The longest query that is an argument. Linux takes 128 KiB; a longer one, as that of a table with hundreds of columns,
  /// goes to standard input.
  private static let argumentLengthMax = 64 << 10

  /// - Parameter path: the database file.
  init(_ path: String, _ query: String) throws(CommandFailure) {
    self.path = path
    let file = PosixFileSystem().absolutePath(path)
    let isLong = query.utf8.count > Self.argumentLengthMax
    // Of the lines of its standard input the program drops carriage returns at the end.
    guard !isLong || !SQLText.losesBytes(name: query) else {
      throw CommandFailure(
        ExitStatus.corrupt,
        "a name has a carriage return before a line feed, which sqlite3 does not read in a table of that many columns",
        at: path, next: "rename it: ALTER TABLE … RENAME …, or make a view with fewer columns")
    }
    do throws(StoreError) {
      child = try ChildProgram(
        "sqlite3",
        SQLiteShell.options + ["-readonly", "-list", "-noheader", "-separator", " ", file]
          + (isLong ? [] : [query]),
        environment: ChildEnvironment.sqlite, input: isLong ? .pipe : .nothing)
    } catch {
      throw CommandFailure(
        ExitStatus.inputOutput,
        error.systemCode == SystemErrorCode.notFound
          ? "a database of SQLite is read with the program sqlite3, which is not there"
          : "cannot start sqlite3: \(error.systemCode.map(systemMessage) ?? error.what)",
        at: path,
        next: error.systemCode == SystemErrorCode.notFound
          ? "install the package sqlite3" : ChildProgram.nextStep(after: error, starting: "sqlite3"))
    }
    guard let input = child.takeInput() else { return }
    // The program reads a statement to its end before it prints anything. If it ends before, `finish` says why.
    Array((query + ";\n").utf8).withUnsafeBytes { bytes in try? input.write(bytes) }
    input.close()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandFailure) -> Int {
    do throws(StoreError) { return try child.output.read(into: buffer) } catch {
      throw CommandFailure(ExitStatus.inputOutput, error.what, at: path, next: "import it again")
    }
  }

  func finish() throws(CommandFailure) {
    switch child.wait() {
    case .code(0): return
    case .code:
      let why = child.complaint
      throw CommandFailure(
        ExitStatus.corrupt, "sqlite3 cannot read the database\(why.isEmpty ? "" : ": \(why)")", at: path,
        next: "check it with sqlite3 -readonly FILE 'PRAGMA integrity_check', and import it again")
    case .signal(let number):
      throw CommandFailure(
        ExitStatus.inputOutput, "sqlite3 was ended by signal \(number)", at: path, next: "import it again")
    }
  }

  /// All lines of a query with a short answer.
  static func lines(_ path: String, _ query: String) throws(CommandFailure) -> [String] {
    let window = ImportWindow(try ImportSQLiteProgram(path, query))
    while try window.fill() {}
    return String(decoding: window.bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
  }
}
