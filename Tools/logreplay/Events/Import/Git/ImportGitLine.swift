// The commits that a store has, and whether they are the beginning of a history.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// The commits of a store in the order of its log.
///
/// They are one line: each is the child, along first parents, of the one before it, or a merge that was compared with the
/// one before it. The state after the last one is then that commit's tree.
struct ImportGitLine {
  struct Commit {
    var hash: String
    /// The first sequence of its last append.
    var sequence: UInt64
    /// Its own time.
    var time: Int64
  }

  private(set) var commits: [Commit] = []
  /// The first digits, at least, of a commit of which the store has the first appends and not the last one.
  private(set) var unfinished: String?
  private let store: EventStore

  var last: Commit? { commits.last }

  /// Reads the log. Blocks.
  init(_ store: EventStore) throws(CommandFailure) {
    self.store = store
    let log = store.log
    do throws(StoreError) {
      var cursor = log.cursor(after: log.mark.logBegin - 1)
      while let block = try cursor.next() {
        do throws(ContentProblem) {
          try block.forEachAppend { append, first throws(ContentProblem) in
            let id = Array(append.id)
            guard let commit = SplitCommits.part(id: id)?.hash ?? Self.hash(id),
              try Self.isOfCommit(append.events, commit)
            else { return }
            add(commit, isWhole: id.count == commit.utf8.count, first, append.given ?? append.commitTime)
          }
        } catch {
          throw error.storeError(of: block.header)
        }
      }
    } catch {
      throw CommandFailure(error)
    }
  }

  private mutating func add(_ hash: String, isWhole: Bool, _ first: UInt64, _ time: Int64) {
    guard isWhole else {
      unfinished = hash
      return
    }
    commits.append(Commit(hash: hash, sequence: first, time: time))
    if unfinished.map({ hash.hasPrefix($0) }) ?? false { unfinished = nil }
  }

  private static func hash(_ id: [UInt8]) -> String? {
    GitHash.isOne(id) ? String(decoding: id, as: UTF8.self) : nil
  }

  /// Whether an append with an id like that of a commit is one of a commit: other appends may have similar ids. What an
  /// erasure leaves of it is enough.
  private static func isOfCommit(_ events: ByteCursor, _ hash: String) throws(ContentProblem) -> Bool {
    var events = events
    let event: EventView
    do throws(DecodingProblem) { event = try events.nextEvent() } catch { throw ContentProblem(error) }
    return event.stream.starts(with: "commit/\(hash)".utf8) || event.stream.starts(with: "file/".utf8)
  }

  /// Throws unless the line is whole, up to its beginning or to that of a shallow repository, which has the last commit.
  func check(in repository: ImportGitRepository) throws(CommandFailure) {
    let isShallow = try repository.isShallow()
    var index = commits.count - 1
    while index >= 0 {
      let child = try repository.start([
        "rev-list", "--first-parent", "--end-of-options", commits[index].hash, "--",
      ])
      let hashes = ImportPieces(child, separator: 0x0A, of: repository)
      _ = try hashes.next()
      var missing: String?
      while missing == nil, let bytes = try hashes.next() {
        let hash = String(decoding: bytes, as: UTF8.self)
        if index > 0, commits[index - 1].hash == hash { index -= 1 } else { missing = hash }
      }
      if missing == nil { try repository.finish(child) }
      let record = try record(of: commits[index])
      // Where the record was erased, the first commit may be that of a shallow repository, and a commit that has the one
      // before it in its history may have been compared with it.
      if index == 0, missing == nil || record.map({ $0["shallow"] == .bool(true) }) ?? true { return }
      if index > 0 {
        let before = commits[index - 1].hash
        let isCompared: Bool
        if let record {
          isCompared = record["comparedWith"] == .string(before)
        } else {
          isCompared = try repository.isCommit(before, in: commits[index].hash)
        }
        if isCompared {
          index -= 1
          continue
        }
      }
      if missing == nil, isShallow { return }
      throw CommandFailure(
        ExitStatus.corrupt,
        missing.map { "the store has \(commits[index].hash), but not \($0), which comes before it" }
          ?? "the store has \(commits[index - 1].hash), which does not come before \(commits[index].hash)",
        at: repository.path, next: "import the history into a new store")
    }
  }

  /// The document of a commit, which is in its first append. Nil if it was erased.
  private func record(of commit: Commit) throws(CommandFailure) -> DocumentValue? {
    do throws(StoreError) {
      let first = try store.log.index.first(ofID: Array(SplitCommits.id(of: commit.hash, part: 1).utf8))
      guard let event = try store.appendBlocking(holding: first ?? commit.sequence)?.events.first else {
        return .null
      }
      if case .erased = event.state { return nil }
      return (try? event.document()) ?? .null
    } catch {
      throw CommandFailure(error)
    }
  }

  /// The error for a history that lacks commits of the store.
  func otherHistory(than head: String, in repository: ImportGitRepository) throws(CommandFailure)
    -> CommandFailure
  {
    // The line is a history: a commit that is in another one is there with all that come before it.
    var (low, high) = (0, commits.count)
    while low < high {
      let middle = (low + high) / 2
      if try repository.isCommit(commits[middle].hash, in: head) { low = middle + 1 } else { high = middle }
    }
    let stray = commits[min(low, commits.count - 1)]
    return CommandFailure(
      ExitStatus.corrupt,
      "the store has \(stray.hash) (at sequence \(stray.sequence)), which is not in the history of \(head)"
        + (low > 0 ? "; both have \(commits[low - 1].hash)" : ""),
      at: repository.path,
      next: try repository.isShallow()
        ? "the repository is shallow: fetch the rest of its history with git fetch --unshallow, and import again"
        : "import a rewritten or different history into a new store, or choose with --ref the history that was "
          + "imported before")
  }
}
