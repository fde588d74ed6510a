// Reads the output of `git log --raw -z` commit by commit.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// One commit, with the paths that differ from its first parent's tree.
struct ImportGitCommit: Equatable {
  var hash = ""
  var parents: [String] = []
  var tree = ""
  var author = ""
  var authorEmail = ""
  var authored = ImportGitTime()
  var committer = ""
  var committerEmail = ""
  var committed = ImportGitTime()
  var subject = ""
  var changes: [ImportGitChange] = []
  /// What is to be said of the commit beside its own fields.
  var remarks = ImportGitRemarks()
}

/// What is odd about a commit, or about its position in the history.
struct ImportGitRemarks: Equatable {
  /// Lines of the header, kept because their times do not say the same.
  var authorLine: String?
  var committerLine: String?
  /// The commit whose tree the changes are against, where that is not the first parent's.
  var comparedWith: String?
  /// The commits that came with this one and have no appends: the newest ones, and the number of all.
  var others: [String] = []
  var otherCount = 0
  /// Whether the repository lacks the commits before this one.
  var isShallow = false
}

/// One path that differs.
struct ImportGitChange: Equatable {
  /// The six-digit mode in the new tree; nil if the path was deleted.
  var mode: String?
  var blob: String
  var path: [UInt8]

  var isSubmodule: Bool { mode == "160000" }
}

/// Parses commits from git's output. A commit is returned only when the next one begins or git has ended successfully,
/// so a truncated commit is never returned.
final class ImportGitLog {
  private static let fields = [
    "%P", "%T", "%an", "%ae", "%at", "%ad", "%cn", "%ce", "%ct", "%cd", "%s",
  ]
  /// A time is printed as it is in the commit: in any other form, git ends at the first that its calendar lacks.
  static let format = [
    "--date=raw", "--no-color", "--no-notes", "--no-mailmap", "--no-decorate", "--encoding=UTF-8",
    "--format=tformat:commit %H" + fields.map { "%x00" + $0 }.joined(),
  ]
  static let raw = [
    "--raw", "-r", "-z", "--root", "--no-renames", "--no-abbrev", "--no-relative", "--ignore-submodules=none",
    "-O/dev/null", "--no-ext-diff", "--no-textconv", "--no-color",
  ]
  private static let mark = Array("commit ".utf8)

  private let repository: ImportGitRepository
  private let child: ChildProgram
  private let pieces: ImportPieces
  /// The piece that starts the next commit.
  private var header: [UInt8]?
  private var isEnded = false

  /// - Parameters:
  ///   - head: the full hash of the last commit.
  ///   - base: the full hash of the commit after which to begin; nil for the whole history.
  init(_ repository: ImportGitRepository, from base: String?, to head: String) throws(CommandFailure) {
    self.repository = repository
    child = try repository.start(
      ["log", "--first-parent", "--reverse", "--diff-merges=first-parent"] + Self.raw + Self.format
        + ["--end-of-options"] + (base.map { ["^" + $0] } ?? []) + [head, "--"])
    pieces = ImportPieces(child, separator: 0, of: repository)
  }

  /// Reads the output of a child that prints chosen commits, or the changes of some.
  ///
  /// - Parameter lines: what the child gets as its input, no more than a pipe holds.
  init(
    _ repository: ImportGitRepository, _ arguments: [String], lines: String? = nil
  ) throws(CommandFailure) {
    self.repository = repository
    child = try repository.start(arguments, input: lines == nil ? .nothing : .pipe)
    pieces = ImportPieces(child, separator: 0, of: repository)
    guard let lines, let input = child.takeInput() else { return }
    do throws(StoreError) {
      try Array(lines.utf8).lendBytes { bytes throws(StoreError) in try input.write(bytes) }
    } catch {
      try repository.finish(child)
      throw repository.failure(error)
    }
    input.close()
  }

  /// One commit, with the paths that differ from the tree of another one than its first parent.
  static func commit(
    _ hash: String, comparedWith base: String, in repository: ImportGitRepository
  ) throws(CommandFailure) -> ImportGitCommit {
    let header = try ImportGitLog(
      repository, ["log", "--no-walk", "--no-patch", "-z"] + format + ["--end-of-options", hash, "--"])
    guard var commit = try header.next() else { throw header.notUnderstood }
    let trees = try ImportGitLog(
      repository, ["diff-tree"] + raw + ["--end-of-options", base, hash, "--"])
    commit.changes = try trees.changes()
    commit.remarks.comparedWith = base
    return commit
  }

  /// The next commit, oldest first; nil at the end.
  func next() throws(CommandFailure) -> ImportGitCommit? {
    guard !isEnded else { return nil }
    let commit: ImportGitCommit?
    do throws(CommandFailure) { commit = try read() } catch {
      // An error message of git explains more than the malformed output does.
      try repository.finish(child)
      throw error
    }
    // The output also ends if git was stopped.
    if isEnded { try repository.finish(child) }
    return commit
  }

  private func read() throws(CommandFailure) -> ImportGitCommit? {
    if header == nil { header = try pieces.next() }
    guard let begin = header else {
      isEnded = true
      return nil
    }
    header = nil
    var commit = try readHeader(begin)
    while let piece = try pieces.next() {
      if piece.starts(with: Self.mark) {
        header = piece
        return commit
      }
      commit.changes.append(try readChange(piece))
    }
    isEnded = true
    return commit
  }

  /// The changes up to the end of the output.
  private func changes() throws(CommandFailure) -> [ImportGitChange] {
    var changes: [ImportGitChange] = []
    do throws(CommandFailure) {
      while let piece = try pieces.next() { changes.append(try readChange(piece)) }
    } catch {
      try repository.finish(child)
      throw error
    }
    try repository.finish(child)
    return changes
  }

  /// The changes of the next commit that `diff-tree --stdin` prints, after its hash.
  func changes(of hash: String) throws(CommandFailure) -> [ImportGitChange] {
    var changes: [ImportGitChange] = []
    do throws(CommandFailure) {
      let begin = if let header { header } else { try pieces.next() }
      header = nil
      guard let begin, begin.elementsEqual(hash.utf8) else { throw notUnderstood }
      while let piece = try pieces.next() {
        guard piece.first == UInt8(ascii: ":") else {
          header = piece
          return changes
        }
        changes.append(try readChange(piece))
      }
    } catch {
      try repository.finish(child)
      throw error
    }
    try repository.finish(child)
    return changes
  }

  private func readHeader(_ begin: [UInt8]) throws(CommandFailure) -> ImportGitCommit {
    var texts: [String] = []
    for _ in Self.fields {
      guard let piece = try pieces.next() else { throw notUnderstood }
      texts.append(text(piece))
    }
    let hash = text(begin.dropFirst(Self.mark.count))
    guard begin.starts(with: Self.mark), GitHash.isOne(hash.utf8) else { throw notUnderstood }
    return ImportGitCommit(
      hash: hash, parents: texts[0].split(separator: " ").map { String($0) }, tree: texts[1],
      author: texts[2], authorEmail: texts[3], authored: ImportGitTime(seconds: texts[4], raw: texts[5]),
      committer: texts[6], committerEmail: texts[7],
      committed: ImportGitTime(seconds: texts[8], raw: texts[9]), subject: texts[10])
  }

  /// Parses `:OLDMODE NEWMODE OLDBLOB NEWBLOB STATUS`, and the path as the next piece. The first change of a commit
  /// begins with a line feed.
  private func readChange(_ piece: [UInt8]) throws(CommandFailure) -> ImportGitChange {
    let parts = text(piece.first == 0x0A ? piece.dropFirst() : piece[...]).split(separator: " ")
    guard parts.count == 5, parts[0].utf8.first == UInt8(ascii: ":"), let path = try pieces.next(),
      !path.isEmpty
    else { throw notUnderstood }
    let isGone = parts[4] == "D"
    guard isGone || ["A", "M", "T"].contains(parts[4]), GitHash.isOne(parts[3].utf8) else {
      throw notUnderstood
    }
    return ImportGitChange(mode: isGone ? nil : String(parts[1]), blob: String(parts[3]), path: path)
  }

  var notUnderstood: CommandFailure {
    CommandFailure(
      ExitStatus.inputOutput, "git printed unexpected output", at: repository.path,
      next: "check that git is 2.31 or later, and run git fsck there")
  }

  private func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
