// Imports a git history: one append per commit, oldest first, each commit once.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// Which commits of a repository are imported.
enum ImportGitScope {
  /// Those along first parents up to this commit, given by its full hash.
  case firstParents(of: String)
  /// Those of all refs.
  case all
}

/// Imports the commits along first parents that the store does not have yet, or those of all refs.
///
/// Of all refs, each commit comes after its parents, and otherwise in the order of the committers' times; each is compared
/// with the one before it in the store, whichever ref that is of.
///
/// Along first parents, the last commit that the store has must be in this history. If it is not along them, as after a
/// pull that merged it, the first commit along them that has it in its own history is compared with it, and the import
/// goes on from there.
final class ImportGitHistory {
  /// What is to be imported.
  private enum Plan {
    /// The head is in the history of this commit, the last one of the store.
    case nothing(last: String, head: String)
    /// The commits along first parents after this one; nil for all.
    case after(String?, head: String)
    /// The first of them that has the store's last commit in its history, and those after it.
    case merge(String, comparedWith: String, head: String)
    /// These, each compared with the one before it.
    case each([String])
  }

  /// The most commits without appends that are recorded one by one with the merge that they came with.
  private static let othersMax = 1000

  private let repository: ImportGitRepository
  private let scope: ImportGitScope
  private let store: EventStore
  private let run: AppendRun
  private let isShallow: Bool
  private let note: (String) -> Void
  private var encoder: ImportGitEncoder
  private var sizes: ImportGitSizes?
  private var headers: ImportGitHeaders?
  private var future = ImportFutureTime(now: systemNanoseconds())
  private var report = ImportReport(unit: "commits")
  private var counts = ImportGitCounts()
  private var progress = TransferProgress(unit: "commits")
  /// The number of commits in the history, counted before any is read.
  private var count: UInt64 = 0
  /// The last commit that was read, or that the store has, and its own time.
  private var base: String?
  private var time: Int64 = 0
  /// A commit that must be the first one, because the store has some of its appends.
  private var unfinished: String?

  init(
    _ repository: ImportGitRepository, _ scope: ImportGitScope, into store: EventStore, isShallow: Bool,
    note: @escaping (String) -> Void
  ) throws(CommandFailure) {
    self.repository = repository
    self.scope = scope
    self.store = store
    self.isShallow = isShallow
    self.note = note
    encoder = ImportGitEncoder(options: store.log.options)
    do throws(StoreError) { run = try store.log.run() } catch { throw CommandFailure(error) }
  }

  /// Imports everything, or everything before the first commit that cannot be imported.
  func importAll() throws(CommandFailure) -> ImportReport {
    let plan = try plan()
    let known = report.read
    var problem: CommandFailure?
    do throws(CommandFailure) {
      switch plan {
      case .nothing(let last, let head) where last == head: break
      case .nothing(let last, let head):
        note(
          "logreplay: \(head) is in the history of \(last), which the store has: there is nothing to import")
      case .after(_, let head): try readAll(to: head)
      case .merge(let hash, let last, let head):
        try take(try merge(hash, comparedWith: last))
        try readAll(to: head)
      case .each(let hashes): try readEach(hashes)
      }
    } catch { problem = error }
    let outcome = run.drain()
    progress.end()
    report.add(outcome)
    // A commit is counted once, however many appends it is, and when its last one is there.
    report.known = known
    report.appended = (outcome.failure.map { $0.label - 1 } ?? report.read) - known
    report.ahead = future.count
    report.git = counts
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
    return count == 0
      ? "" : " (of this history, \(counted(count, "commit")) \(count == 1 ? "is" : "are") in the store)"
  }

  // MARK: Plan

  private func plan() throws(CommandFailure) -> Plan {
    let line = try ImportGitLine(store)
    unfinished = line.unfinished
    if let last = line.last { (base, time) = (last.hash, last.time) }
    report.read = UInt64(line.commits.count)
    count = report.read
    switch scope {
    case .firstParents(let head): return try plan(line, head: head)
    case .all:
      let hashes = try newCommits(besides: line)
      count += UInt64(hashes.count)
      return .each(hashes)
    }
  }

  private func plan(_ line: ImportGitLine, head: String) throws(CommandFailure) -> Plan {
    guard let last = line.last else {
      count = UInt64(try repository.answer(["rev-list", "--first-parent", "--count", head, "--"]) ?? "") ?? 0
      return .after(nil, head: head)
    }
    let isBefore = try repository.isCommit(head, in: last.hash)
    let isAfter = isBefore ? true : try repository.isCommit(last.hash, in: head)
    guard isAfter else {
      throw try line.otherHistory(than: head, in: repository)
    }
    try line.check(in: repository)
    if isBefore { return .nothing(last: last.hash, head: head) }
    let (new, parent) = try newCommits(after: last.hash, to: head)
    guard parent != last.hash else {
      count += UInt64(new.count)
      return .after(last.hash, head: head)
    }
    // All commits after the first that has it in its history have it too.
    var (low, high) = (0, new.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if try repository.isCommit(last.hash, in: new[middle]) { high = middle } else { low = middle + 1 }
    }
    count += UInt64(new.count - low)
    return .merge(new[low], comparedWith: last.hash, head: head)
  }

  /// The commits of all refs that the store does not have, each after its parents.
  private func newCommits(besides line: ImportGitLine) throws(CommandFailure) -> [String] {
    if let last = line.last, try repository.answer(["cat-file", "-t", last.hash]) != "commit" {
      throw CommandFailure(
        ExitStatus.corrupt,
        "the repository does not have \(last.hash), the last commit of the store: there is nothing to compare the next one with",
        at: repository.path, next: "import another repository, or one that was rewritten, into a new store")
    }
    let known = Set(line.commits.map(\.hash))
    let child = try repository.start(["rev-list", "--all", "--date-order", "--reverse"])
    let lines = ImportPieces(child, separator: 0x0A, of: repository)
    var hashes: [String] = []
    while let bytes = try lines.next() {
      let hash = String(decoding: bytes, as: UTF8.self)
      if !known.contains(hash) { hashes.append(hash) }
    }
    try repository.finish(child)
    guard !hashes.isEmpty || line.last != nil else {
      throw CommandFailure(
        ExitStatus.notFound, "the repository has no commits", at: repository.path, next: "check the path")
    }
    // A commit of several appends that was interrupted comes first, whatever came to the refs since.
    if let unfinished, let index = hashes.firstIndex(where: { $0.hasPrefix(unfinished) }) {
      hashes.insert(hashes.remove(at: index), at: 0)
    }
    return hashes
  }

  /// The commits along first parents that are not in the history of a commit, oldest first, and the first parent of the
  /// oldest.
  private func newCommits(after last: String, to head: String) throws(CommandFailure) -> (
    hashes: [String], parent: String?
  ) {
    let child = try repository.start([
      "rev-list", "--first-parent", "--reverse", "--parents", "--end-of-options", "^" + last, head, "--",
    ])
    let lines = ImportPieces(child, separator: 0x0A, of: repository)
    var hashes: [String] = []
    var parent: String?
    while let bytes = try lines.next() {
      let words = bytes.split(separator: UInt8(ascii: " "), maxSplits: 2).map {
        String(decoding: $0, as: UTF8.self)
      }
      if hashes.isEmpty, words.count > 1 { parent = words[1] }
      hashes += words.prefix(1)
    }
    try repository.finish(child)
    return (hashes, parent)
  }

  /// The merge with which the import goes on.
  private func merge(
    _ hash: String, comparedWith last: String
  ) throws(CommandFailure) -> ImportGitCommit {
    var commit = try ImportGitLog.commit(hash, comparedWith: last, in: repository)
    let child = try repository.start(["rev-list", "--end-of-options", "^" + last, hash, "--"])
    let others = ImportPieces(child, separator: 0x0A, of: repository)
    // The merge itself is the first.
    _ = try others.next()
    while let bytes = try others.next() {
      commit.remarks.otherCount += 1
      guard commit.remarks.others.count < Self.othersMax else { continue }
      commit.remarks.others.append(String(decoding: bytes, as: UTF8.self))
    }
    try repository.finish(child)
    counts.merge = ImportGitCounts.Merge(
      commit: hash, comparedWith: last, others: UInt64(commit.remarks.otherCount))
    return commit
  }

  // MARK: Commits

  private func readEach(_ hashes: [String]) throws(CommandFailure) {
    for begin in stride(from: 0, to: hashes.count, by: ImportGitBatch.countMax) {
      let part = hashes[begin..<min(hashes.count, begin + ImportGitBatch.countMax)]
      let batch = try ImportGitBatch(part, after: base, in: repository)
      while let commit = try batch.next() {
        guard try take(commit) else { return }
      }
    }
  }

  private func readAll(to head: String) throws(CommandFailure) {
    let log = try ImportGitLog(repository, from: base, to: head)
    while let commit = try log.next() {
      guard commit.parents.first == base || base == nil else {
        throw CommandFailure(
          ExitStatus.corrupt, "the first parent of \(commit.hash) is not the commit before it, \(base ?? "")",
          at: repository.path, next: "import again when the repository is not being rewritten")
      }
      guard try take(commit) else { return }
    }
  }

  /// Submits a commit. Returns false if an earlier one has failed.
  @discardableResult
  private func take(_ commit: ImportGitCommit) throws(CommandFailure) -> Bool {
    guard unfinished.map({ commit.hash.hasPrefix($0) }) ?? true else {
      throw CommandFailure(
        ExitStatus.corrupt,
        "the store has a part of the commit \(unfinished ?? ""), which is not the next one, "
          + "\(commit.hash)",
        at: repository.path,
        next: "import first the history that was interrupted, with --ref \(unfinished ?? "")")
    }
    unfinished = nil
    var commit = commit
    try remark(&commit)
    if let own = commit.committed.nanoseconds {
      time = own
      if let text = future.naming(own, of: "commit \(commit.hash)") { note(text) }
    } else {
      counts.undated += 1
    }
    let sizes = try sizes(of: commit)
    var appends: UInt64 = 0
    var goesOn = true
    try encoder.encode(commit, sizes: sizes, time: time) { draft throws(CommandFailure) in
      appends += 1
      do throws(StoreError) {
        if goesOn { goesOn = try run.add(draft, label: report.read + 1) }
      } catch {
        var failure = CommandFailure(error)
        failure.place = "commit \(commit.hash) of \(repository.path)"
        throw failure
      }
    }
    report.read += 1
    if appends > 1 { counts.split += 1 }
    base = commit.hash
    let (done, all) = (Double(report.read), Double(max(1, count)))
    progress.update(report.read) { done / all }
    return goesOn
  }

  /// Adds what the header says and git does not print, and the parents that a shallow repository lacks.
  private func remark(_ commit: inout ImportGitCommit) throws(CommandFailure) {
    commit.remarks.isShallow = isShallow && base == nil
    let isDated = commit.committed.isWhole && commit.committed.nanoseconds != nil
    guard !isDated || !commit.authored.isWhole || commit.remarks.isShallow else { return }
    let asked: ImportGitHeaders
    if let headers { asked = headers } else { asked = try ImportGitHeaders(repository) }
    headers = asked
    let lines = try asked.lines(["author", "committer", "parent"], of: commit.hash)
    if !commit.authored.isWhole { commit.remarks.authorLine = lines[0] ?? "" }
    if !isDated { commit.remarks.committerLine = lines[1] ?? "" }
    // The first commit of a repository that is whole is the same as without --shallow.
    if commit.remarks.isShallow { commit.remarks.isShallow = lines[2] != nil }
    if commit.remarks.isShallow { counts.begin = commit.hash }
  }

  private func sizes(of commit: ImportGitCommit) throws(CommandFailure) -> [Int64] {
    let changes = commit.changes.filter { $0.mode != nil && !$0.isSubmodule }
    guard !changes.isEmpty else { return [] }
    let asked: ImportGitSizes
    if let sizes { asked = sizes } else { asked = try ImportGitSizes(repository) }
    sizes = asked
    let found = try asked.sizes(of: changes.map(\.blob))
    if let index = found.firstIndex(of: nil) {
      let path = PeopleText.shortened(ImportGitPath(changes[index].path).text)
      throw CommandFailure(
        ExitStatus.inputOutput, "the blob \(changes[index].blob) of \(path) is missing or damaged",
        at: "commit \(commit.hash) of \(repository.path)", next: repository.remedy)
    }
    return found.compactMap { $0 }
  }
}
