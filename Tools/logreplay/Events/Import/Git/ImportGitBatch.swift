// Reads some commits, each with what differs from the one before it, from two git processes.

internal import LogreplayShell
internal import StrataBase

/// Commits in a given order, which need not be parents of each other.
final class ImportGitBatch {
  /// The most commits of a batch: two hashes of each fit into a pipe, so that git and this process do not wait for each
  /// other.
  static let countMax = 400

  private let hashes: ArraySlice<String>
  private var index: Int
  /// The commit whose tree the next one is compared with.
  private var base: String?
  private let headers: ImportGitLog
  private let trees: ImportGitLog

  /// - Parameter base: the commit with which the first one is compared; nil for all of its tree.
  init(
    _ hashes: ArraySlice<String>, after base: String?, in repository: ImportGitRepository
  ) throws(CommandFailure) {
    assert(hashes.count <= Self.countMax, "more lines than a pipe holds")
    (self.hashes, self.base) = (hashes, base)
    index = hashes.startIndex
    headers = try ImportGitLog(
      repository, ["log", "--no-walk=unsorted", "--stdin", "--no-patch", "-z"] + ImportGitLog.format,
      lines: hashes.map { $0 + "\n" }.joined())
    var lines = ""
    var before = base
    for hash in hashes {
      // What follows a commit is taken for its parents.
      lines += before.map { "\(hash) \($0)\n" } ?? "\(hash)\n"
      before = hash
    }
    trees = try ImportGitLog(
      repository, ["diff-tree", "--stdin", "--always"] + ImportGitLog.raw, lines: lines)
  }

  /// The next commit; nil at the end.
  func next() throws(CommandFailure) -> ImportGitCommit? {
    guard var commit = try headers.next() else {
      guard index == hashes.endIndex else { throw headers.notUnderstood }
      return nil
    }
    guard index < hashes.endIndex, commit.hash == hashes[index] else { throw headers.notUnderstood }
    commit.changes = try trees.changes(of: commit.hash)
    if let base, commit.parents.first != base { commit.remarks.comparedWith = base }
    base = commit.hash
    index += 1
    return commit
  }
}
