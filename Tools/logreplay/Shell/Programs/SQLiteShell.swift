// How the program `sqlite3` is started: without settings of the user, and without trust in the file.

package enum SQLiteShell {
  /// The first arguments. Views and triggers of the file call no function that does more than compute: the shell's own
  /// functions run programs and write files, and before version 3.42 a view may call them.
  package static let options = [
    "-batch", "-bail", "-init", "/dev/null", "-cmd", "PRAGMA trusted_schema=OFF;",
  ]
}
