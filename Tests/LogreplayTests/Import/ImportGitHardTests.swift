// Laws of importing histories with everything that git has: `git ls-tree` is the oracle at every commit.

import Foundation
import StrataDocuments
import StrataEvents
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

/// A repository that the git program made, step by step.
private struct HardRepository {
  let folder: ImportFolder
  var path: String { folder.file("hard") }

  init(_ folder: ImportFolder) throws {
    self.folder = folder
    try shell("git init -q -b main ../hard", in: folder.path)
    try shell(Self.history)
  }

  /// Runs lines of a shell in the repository. `c SUBJECT SECONDS` commits everything, so many seconds after the last commit.
  @discardableResult
  func shell(_ lines: String, in place: String? = nil) throws -> String {
    let begin = """
      cd "$1"; export HOME="$1" GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=a@example.org
      export GIT_COMMITTER_NAME=Cy GIT_COMMITTER_EMAIL=c@example.org
      now() { t=$(( $(cat .git/clock 2>/dev/null || echo 1700000000) + $1 )); echo $t > .git/clock
        export GIT_AUTHOR_DATE="@$t +0000" GIT_COMMITTER_DATE="@$t +0000"; }
      c() { now "${2:-60}"; git add -A 2>/dev/null; git commit -q --allow-empty -m "$1"; }

      """
    let path = place.map { $0 + "/x" } ?? path
    if place != nil {
      try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    let run = try ImportProcess.run("/bin/sh", ["-euc", begin + lines, "sh", path])
    try #require(run.code == 0, "\(run.errors)")
    return run.output
  }

  /// Octopus merges, submodules, renames, kinds of files that change, roots, times that go back, tags of all kinds.
  private static let history = """
    mkdir -p d/e; echo a > d/e/a; echo b > b; ln -s b link; c one
    git init -q sub; ( cd sub; now 0; git commit -q --allow-empty -m s1 ) ; c submodule
    git mv d/e/a d/renamed; c rename
    git mv d "d ü"; c 'rename a folder'
    for n in 1 2 3 4; do git checkout -q -b side$n main; echo $n > side$n; echo $n >> "only $n"; c "side $n" -500; done
    git checkout -q main; echo main > m; c main 5000
    now 1; git merge -q --no-ff -m octopus side1 side2 side3 side4
    ( cd sub; now 10; git commit -q --allow-empty -m s2 ); c 'submodule moves'
    rm -rf sub; echo file > sub; c 'submodule becomes a file'
    rm link; mkdir link; echo x > link/x; c 'link becomes a folder'
    chmod +x b; c mode
    rm -rf link; git rm -q --cached "d ü/renamed"; rm "d ü/renamed"; ln -s nowhere "d ü"/renamed; c 'file becomes a link' -9000
    git checkout -q --orphan other; git rm -rqf .; echo o > o; c 'another root' -100000
    git checkout -q side2; echo later > later; c 'side 2 goes on' 7; git checkout -q main
    now 3; git merge -q --no-ff --allow-unrelated-histories -m unrelated other
    now 1; git merge -q --no-ff -m 'side 2 again' side2
    git checkout -q --detach; echo lost > lost; c detached 2; git checkout -q main
    git branch -q -D side4; git update-ref refs/notes/mine HEAD~1
    git tag light side1; git tag tree 'HEAD^{tree}'; git tag blob HEAD:b; now 0
    git tag -a -m one annotated side3; git tag -a -m two of-a-tag annotated 2>/dev/null
    git tag -a -m three of-a-blob blob; git tag -a -m four of-a-tree-tag of-a-blob 2>/dev/null
    git tag -a -m five of-a-tree tree
    """

  /// The listing of a commit's tree.
  func listing(_ hash: String) throws -> [UInt8] {
    Array(try shell("git ls-tree -r -z -l \(hash)").utf8)
  }

  func lines(_ command: String) throws -> [String] {
    try shell(command).split(separator: "\n").map { String($0) }
  }

  /// Expects that the state after each append is its commit's tree. Returns the ids.
  @discardableResult
  func expectTrees(_ words: String = "", sourceLocation: SourceLocation = #_sourceLocation) async throws
    -> [String]
  {
    var state = ImportGitState()
    var ids: [String] = []
    for append in try await folder.appends() {
      try state.apply(append)
      let id = try #require(append.id)
      ids.append(id)
      #expect(try state.listing() == (try listing(id)), "\(words) \(id)", sourceLocation: sourceLocation)
    }
    return ids
  }
}

struct ImportGitHardTests {
  @Test func `along first parents, the state after every commit is its tree, whatever the history has`()
    async throws
  {
    let repository = try HardRepository(try ImportFolder())
    let report = try await repository.folder.run([repository.path])
    let history = try repository.lines("git rev-list --first-parent --reverse HEAD")
    #expect(history.count == 13 && report.appended == 13)
    #expect(try await repository.expectTrees() == history)
    let octopus = try await repository.folder.appends()[5].events[0].document()
    #expect(octopus["subject"] == "octopus" && octopus["parents"]?.elements?.count == 5)
  }

  @Test func `with --all, the commits of all refs are there, each with its tree, after its parents`()
    async throws
  {
    let repository = try HardRepository(try ImportFolder())
    try await repository.folder.run([repository.path, "--all"])
    let ids = try await repository.expectTrees()
    #expect(Set(ids) == Set(try repository.lines("git rev-list --all")) && ids.count == Set(ids).count)
    for line in try repository.lines("git rev-list --all --parents") {
      let hashes = line.split(separator: " ").map { String($0) }
      let places = hashes.map { ids.firstIndex(of: $0) ?? .max }
      #expect(places.dropFirst().allSatisfy { $0 < places[0] }, "\(hashes[0]) comes before a parent")
    }
    // What a commit is compared with is said where it is not the first parent.
    var before: String?
    for append in try await repository.folder.appends() {
      let commit = try append.events[0].document()
      let parent = commit["parents"]?.elements?.first
      let isOther = before != nil && parent != before.map { .string($0) }
      #expect(commit["comparedWith"] == (isOther ? before.map { .string($0) } : nil))
      before = append.id
    }
    #expect(try await repository.folder.run([repository.path, "--all"]).appended == 0)
  }

  @Test func `an import of all refs goes on with what is new in any of them, also where branches were moved`()
    async throws
  {
    let repository = try HardRepository(try ImportFolder())
    let folder = repository.folder
    try await folder.run([repository.path])
    // What began along first parents goes on with the other refs.
    try await folder.run([repository.path, "--all"])
    let first = try await repository.expectTrees("first")
    try repository.shell(
      """
      git checkout -q side1; echo new > new; c 'on side 1' -50000
      git checkout -q main; git reset -q --hard HEAD~1; echo again > again; c 'main again' 100
      git checkout -q --orphan third; git rm -rqf .; echo 3 > three; c 'third root' 1; git checkout -q main
      """)
    let report = try await folder.run([repository.path, "--all"])
    #expect(report.appended == 3 && report.known == UInt64(first.count))
    let ids = try await repository.expectTrees("second")
    #expect(ids.dropLast(3) == first[...])
    #expect(Set(try repository.lines("git rev-list --all")).isSubset(of: ids))
    // Without --all, a history that lacks the last commit is refused, and one that has it goes on with its merge.
    let failure = try await folder.failure(of: [repository.path, "--ref", "side1"])
    #expect(failure.code == ExitStatus.corrupt, "\(failure)")
    #expect(try await folder.appends().count == ids.count)
    try repository.shell("now 9; git merge -q --no-ff --allow-unrelated-histories -m last third")
    #expect(try await folder.run([repository.path]).appended == 1)
    #expect(try await repository.expectTrees("merged").count == ids.count + 1)
    // Another repository has nothing to compare its first commit with.
    let other = try ImportGitSample(folder, name: "other")
    other.commit("one", [], at: 1_700_000_000)
    try other.finish()
    let foreign = try await folder.failure(of: [other.path, "--all"])
    #expect(
      foreign.code == ExitStatus.corrupt && foreign.what.contains("the last commit of the store"),
      "\(foreign)")
  }

  @Test func `a tag of a tag of a commit is that commit, and a tag of a tree or a blob is said to be one`()
    async throws
  {
    let repository = try HardRepository(try ImportFolder())
    let folder = repository.folder
    for (name, kind) in [
      ("tree", "tree"), ("blob", "blob"), ("of-a-blob", "blob"), ("of-a-tree-tag", "blob"),
      ("of-a-tree", "tree"),
    ] {
      let failure = try await folder.failure(of: [repository.path, "--ref", name])
      #expect(
        failure.code == ExitStatus.notFound
          && failure.what == "\(name) is a \(kind), and no commit: it has no history")
    }
    let both = try await folder.failure(of: [repository.path, "--ref", "main", "--all"])
    #expect(both.code == ExitStatus.usage)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
    try await folder.run([repository.path, "--ref", "of-a-tag"])
    #expect(
      try await repository.expectTrees()
        == (try repository.lines("git rev-list --first-parent --reverse side3 --")))
  }

  @Test func `more commits than one batch of all refs are one history`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample.random(folder, commits: 450, seed: .random(in: 0 ... .max))
    #expect(ImportGitBatch.countMax < 450)
    try await folder.run([sample.path, "--all"])
    var state = ImportGitState()
    let appends = try await folder.appends()
    #expect(appends.count == (try sample.git(["rev-list", "--all"]).split(separator: "\n").count))
    for (number, append) in appends.enumerated() {
      try state.apply(append)
      guard number % 50 == 0 || number > 390, number % 5 == 0 else { continue }
      #expect(try state.listing() == (try sample.gitBytes(["ls-tree", "-r", "-z", "-l", append.id ?? ""])))
    }
  }
}

extension DocumentValue {
  /// The elements of an array.
  fileprivate var elements: [DocumentValue]? {
    if case .array(let elements) = self { Array(elements) } else { nil }
  }
}
