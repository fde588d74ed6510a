// Imports a git history: one append per commit, oldest first, each commit once.

internal import StrataEvents
internal import StrataLog

/// Imports the commits along first parents that the store does not have yet.
///
/// The commits in the store must be the beginning of this history, and the store must hold no other commits. The state
/// after the last known commit is then that commit's tree, and the following commits apply to it.
final class ImportGitHistory {
  private let repository: ImportGitRepository
  private let head: String
  private let store: EventStore
  private let run: AppendRun
  private let clampsTime: Bool
  private var encoder: ImportGitEncoder
  private var sizes: ImportGitSizes?
  private var report = ImportReport(unit: "commits")
  private var progress = ImportProgress(unit: "commits")
  /// The number of commits in the history, counted before any is read.
  private var count: UInt64 = 0
  /// The last commit that the store has.
  private var base: String?

  init(
    _ repository: ImportGitRepository, head: String, into store: EventStore, clampsTime: Bool
  ) throws(CommandFailure) {
    self.repository = repository
    self.head = head
    self.store = store
    self.clampsTime = clampsTime
    encoder = ImportGitEncoder(options: store.log.options, place: repository.path)
    do throws(StoreError) { run = try store.log.run() } catch { throw CommandFailure(error) }
  }

  /// Imports everything, or everything before the first commit that cannot be imported.
  func importAll() throws(CommandFailure) -> ImportReport {
    try findBase()
    report.known = report.read
    var problem: CommandFailure?
    if report.known < count {
      do throws(CommandFailure) { try readAll() } catch { problem = error }
    }
    let outcome = run.drain()
    progress.end()
    report.add(outcome)
    if let failure = outcome.failure {
      var error = CommandFailure(failure.error)
      error.what = "commit \(failure.label) of \(count) could not be appended: \(error.what)"
      if error.place.isEmpty { error.place = store.log.layout.root }
      error.next += stayed
      throw error
    }
    if var problem {
      problem.next += stayed
      throw problem
    }
    return report
  }

  private var stayed: String {
    let count = report.appended + report.known
    return count == 0 ? "" : " (of this history, \(count) commits are in the store)"
  }

  private func readAll() throws(CommandFailure) {
    let log = try ImportGitLog(repository, from: base, to: head)
    var comparesTime = report.read == 0 ? true : try store.endsAtOwnTime()
    while let commit = try log.next() {
      guard commit.parents.first == base || base == nil else {
        throw CommandFailure(
          ExitStatus.corrupt, "the first parent of \(commit.hash) is not the commit before it, \(base ?? "")",
          at: repository.path, next: "import again when the repository is not being rewritten")
      }
      if comparesTime { try compareTime(commit) }
      comparesTime = false
      report.read += 1
      let draft = try encoder.draft(commit, sizes: try sizes(of: commit))
      do throws(StoreError) {
        guard try run.add(draft, label: report.read) else { return }
      } catch {
        throw CommandFailure(error)
      }
      base = commit.hash
      let (done, all) = (Double(report.read), Double(max(1, count)))
      progress.update(report.read) { done / all }
    }
  }

  private func sizes(of commit: ImportGitCommit) throws(CommandFailure) -> [Int64] {
    let changes = commit.changes.filter { $0.mode != nil && !$0.isSubmodule }
    guard !changes.isEmpty else { return [] }
    let asked: ImportGitSizes
    if let sizes { asked = sizes } else { asked = try ImportGitSizes(repository) }
    sizes = asked
    let found = try asked.sizes(of: changes.map(\.blob))
    if let index = found.firstIndex(of: nil) {
      throw CommandFailure(
        ExitStatus.inputOutput,
        "the blob \(changes[index].blob) of \(ImportGitPath(changes[index].path).text) is missing or damaged",
        at: "commit \(commit.hash) of \(repository.path)",
        next: "run git fsck there, restore the blob or use a full clone, and import again")
    }
    return found.compactMap { $0 }
  }

  private func compareTime(_ commit: ImportGitCommit) throws(CommandFailure) {
    guard !clampsTime, let last = store.lastTime, let seconds = commit.seconds,
      seconds < last.nanoseconds / 1_000_000_000
    else { return }
    throw CommandFailure(
      ExitStatus.corrupt,
      "the store's head (\(last)) is later than the commit (\(commit.committed)), and times never run backwards",
      at: repository.path, next: "import into a new store, or raise the times to the head's with --clamp-time"
    )
  }

  // MARK: What the store has

  /// Walks the history once, oldest first. The commits that the store has must be its beginning.
  private func findBase() throws(CommandFailure) {
    let child = try repository.start([
      "rev-list", "--first-parent", "--reverse", "--end-of-options", head, "--",
    ])
    let hashes = ImportPieces(child, separator: 0x0A, of: repository)
    var firstUnknown: String?
    while let bytes = try hashes.next() {
      count += 1
      let hash = String(decoding: bytes, as: UTF8.self)
      guard try isKnown(bytes) else {
        firstUnknown = firstUnknown ?? hash
        continue
      }
      if let firstUnknown {
        throw CommandFailure(
          ExitStatus.corrupt, "the store has \(hash), but not \(firstUnknown), which comes before it",
          at: repository.path, next: "import the history into a new store")
      }
      base = hash
      report.read += 1
    }
    try repository.finish(child)
    try refuseOtherHistory()
  }

  private func isKnown(_ hash: [UInt8]) throws(CommandFailure) -> Bool {
    do throws(StoreError) { return try store.log.index.first(ofID: hash) != nil } catch {
      throw CommandFailure(error)
    }
  }

  /// Throws if the store has commits that were not found in the history.
  private func refuseOtherHistory() throws(CommandFailure) {
    let refusal: CommandFailure?
    do throws(StoreError) {
      let commits = try commitsOfStore()
      refusal = UInt64(commits.count) > report.read ? try otherHistory(commits) : nil
    } catch {
      throw CommandFailure(error)
    }
    if let refusal { throw refusal }
  }

  /// The ids of all commits in the store, if there may be more than were found in the history; otherwise empty.
  private func commitsOfStore() throws(StoreError) -> [[UInt8]] {
    let index = store.log.index
    var found: UInt64 = 0
    try index.forEachID(prefix: []) { id in
      if ImportGitHash.isOne(id) { found += 1 }
      return true
    }
    guard found > report.read else { return [] }
    var ids: [[UInt8]] = []
    try index.forEachID(prefix: []) { id in
      if ImportGitHash.isOne(id) { ids.append(Array(id)) }
      return true
    }
    // Other appends may have similar ids; only a commit also has its stream.
    var commits: [[UInt8]] = []
    for id in ids where try index.revision(of: Array("commit/".utf8) + id) > 0 { commits.append(id) }
    return commits
  }

  /// The error that names the first commit of the store that is not in the history.
  private func otherHistory(_ commits: [[UInt8]]) throws(StoreError) -> CommandFailure {
    let baseSequence = try store.log.index.first(ofID: Array((base ?? "").utf8)) ?? 0
    var first: (sequence: UInt64, hash: String)?
    for commit in commits {
      guard let sequence = try store.log.index.first(ofID: commit), sequence > baseSequence else { continue }
      if first.map({ sequence < $0.sequence }) ?? true {
        first = (sequence, String(decoding: commit, as: UTF8.self))
      }
    }
    let stray = first.map { "\($0.hash) (at sequence \($0.sequence))" } ?? "commits"
    return CommandFailure(
      ExitStatus.corrupt,
      "the store has \(stray), which is not in the history of \(head) along first parents"
        + (base.map { "; both have \($0)" } ?? ""),
      at: repository.path,
      next:
        "import a rewritten or different history into a new store, or choose with --ref the history that was "
        + "imported before")
  }
}
