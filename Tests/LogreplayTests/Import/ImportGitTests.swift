// Laws of importing a history: git is the oracle.

import Foundation
import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportGitTests {
  @Test(arguments: 0..<3)
  func `the state after every commit is its tree, byte for byte as git lists it`(round: Int) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    let folder = try ImportFolder()
    let sample = try ImportGitSample.random(folder, commits: 70, seed: seed)
    let history = try sample.history()
    let report = try await folder.run([sample.path])
    #expect(report.appended == 70 && report.read == 70)
    let appends = try await folder.appends()
    #expect(appends.map(\.id) == history, "seed \(seed)")
    var state = ImportGitState()
    for (number, append) in appends.enumerated() {
      try state.apply(append)
      guard number % 3 != 1 else { continue }
      let listing = try sample.gitBytes(["ls-tree", "-r", "-z", "-l", history[number]])
      #expect(try state.listing() == listing, "seed \(seed), commit \(number + 1), \(history[number])")
    }
  }

  @Test func `a commit is one append: what it is, then what it changes, each with its hash`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    sample.commit(
      "one", [.file(Array("a/b.txt".utf8), "hello"), .file(Array("root".utf8), "")], at: 1_700_000_000)
    sample.commit("two\n\nbody", [], at: 1_700_000_100)
    sample.commit(
      "three", [.delete(Array("root".utf8)), .file(Array("a/b.txt".utf8), "hello", mode: "100755")],
      at: 1_699_999_000)
    try sample.finish()
    let history = try sample.history()
    #expect(try await folder.run([sample.path]).raised == 1)
    let appends = try await folder.appends()
    #expect(appends.map { $0.events.count } == [3, 1, 3])
    #expect(
      appends.map { $0.time.nanoseconds / 1_000_000_000 } == [1_700_000_000, 1_700_000_100, 1_700_000_100])
    #expect(appends[2].givenTime == Timestamp(nanoseconds: 1_699_999_000_000_000_000))
    for (append, hash) in zip(appends, history) {
      #expect(append.events[0].type == "git.commit" && append.events[0].stream == "commit/\(hash)")
      for event in append.events { #expect(try event.metadata() == ["commit": .string(hash)]) }
    }
    let commit = try appends[1].events[0].document()
    #expect(commit["author"] == "Ann Öther" && commit["email"] == "ann@example.org")
    #expect(commit["committer"] == "Cy \"The\" Bot" && commit["subject"] == "two")
    #expect(commit["committed"] == "2023-11-14T23:15:00+01:00" && commit["parents"] == [.string(history[0])])
    #expect(
      try appends[0].events[1].document() == [
        "author": "Ann Öther", "blob": "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "folder": "a",
        "mode": "100644",
        "name": "b.txt", "size": 5,
      ])
    let root = try appends[0].events[2].document()
    #expect(root["folder"] == "" && root["size"] == 0)
    let changes = Dictionary(uniqueKeysWithValues: appends[2].events.dropFirst().map { ($0.stream.text, $0) })
    #expect(changes["file/root"]?.type == "$delete")
    #expect(try changes["file/a/b.txt"]?.document()["mode"] == "100755")
  }

  @Test func `paths that are not UTF-8 are ids as git quotes them, and no other path has the same id`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    sample.commit("all", ImportGitSample.oddNames.map { .file($0, "x") }, at: 1_700_000_000)
    try sample.finish()
    try await folder.run([sample.path])
    let events = try await folder.appends()[0].events.dropFirst()
    #expect(Set(events.map(\.stream)).count == ImportGitSample.oddNames.count)
    #expect(events.count == ImportGitSample.oddNames.count)
    // As git prints them by itself, one on a line.
    let printed = Set(
      try sample.git(["-c", "core.quotePath=true", "ls-tree", "-r", "--name-only", "HEAD"]).split(
        separator: "\n"
      )
      .map { String($0) })
    for event in events {
      let document = try event.document()
      if document["quoted"] != nil { #expect(printed.contains(event.stream.id), "\(event.stream)") }
      #expect((document["quoted"] != nil) == event.stream.id.hasPrefix("\""))
    }
    #expect(events.contains { $0.stream.id == "\"caf\\351.txt\"" })
    #expect(events.contains { $0.stream.id == "\"\\\"caf\\\\351.txt\\\"\"" })
    #expect(events.contains { $0.stream.id == "new\nline" })
    let odd = try #require(events.first { $0.stream.id.hasPrefix("\"dir\\377/") }).document()
    #expect(odd["folder"] == "\"dir\\377\"" && odd["name"] == "ü\"\n\u{7}x")
  }

  @Test func `a history imported in parts is the same as one imported at once`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    let folder = try ImportFolder()
    let sample = try ImportGitSample.random(folder, commits: 61, seed: seed)
    let history = try sample.history()
    #expect(try await folder.run([sample.path, "--ref", history[29]]).appended == 30)
    let second = try await folder.run([sample.path])
    #expect(second.read == 61 && second.appended == 31 && second.known == 30)
    let other = try ImportFolder()
    #expect(try await other.run([sample.path]).appended == 61)
    #expect(try await folder.appends() == (try await other.appends()), "seed \(seed)")
    // Of a history that ends before what the store has, there is nothing to import.
    let third = try await folder.run([sample.path, "--ref", history[10]])
    #expect(third.appended == 0 && third.read == 61 && third.known == 61)
    #expect(
      folder.notes.withLock { $0.last }?.contains("\(history[10]) is in the history of \(history[60])")
        ?? false)
    #expect(try await folder.appends() == (try await other.appends()), "seed \(seed)")
  }

  @Test func `a history that was rewritten, or another one, is refused, and nothing is appended`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    sample.commit("one", [.file([0x61], "1")], at: 1_700_000_000)
    sample.commit("two", [.file([0x61], "2")], at: 1_700_000_001)
    try sample.finish()
    let old = try sample.history()
    try await folder.run([sample.path])
    let rewritten = try ImportGitSample(folder, name: "rewritten")
    rewritten.commit("one", [.file([0x61], "1")], at: 1_700_000_000)
    rewritten.commit("other", [.file([0x61], "3")], at: 1_700_000_002)
    try rewritten.finish()
    let failure = try await folder.failure(of: [rewritten.path])
    #expect(failure.code == ExitStatus.corrupt)
    #expect(failure.what.contains(old[1]) && failure.what.contains("both have \(old[0])"), "\(failure.what)")
    let foreign = try ImportGitSample(folder, name: "foreign")
    foreign.commit("else", [], at: 1_700_000_009)
    try foreign.finish()
    #expect(try await folder.failure(of: [foreign.path]).what.contains(old[0]))
    #expect(try await folder.appends().count == 2)
  }

  @Test func `a user's settings change nothing`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample.random(folder, commits: 20, seed: 7)
    try await folder.run([sample.path])
    for setting in [
      "log.showSignature=true", "diff.renames=copies", "core.quotePath=true", "log.showRoot=false",
      "color.ui=always",
      "diff.ignoreSubmodules=all", "log.diffMerges=separate", "diff.relative=true", "log.mailmap=true",
      "diff.noprefix=true",
      "log.follow=true", "format.pretty=oneline", "i18n.logOutputEncoding=latin1", "log.abbrevCommit=true",
      "core.abbrev=4",
      "log.decorate=full", "submodule.recurse=true", "diff.orderFile=/nowhere",
    ] {
      let parts = setting.split(separator: "=")
      try sample.git(["config", String(parts[0]), String(parts[1])])
    }
    let other = try ImportFolder()
    try await other.run([sample.path])
    #expect(try await folder.appends() == (try await other.appends()))
  }

  @Test func `a first commit of 100,000 files is one append`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    let files = (0..<100_000).map { number in
      ImportGitSample.Change.submodule(
        Array("some/folder/of/a/large/project/\(number % 100)/file-\(number).swift".utf8),
        String(repeating: "a1", count: 20))
    }
    sample.commit("all", files, at: 1_700_000_000)
    try sample.finish()
    #expect(
      try await folder.run([sample.path])
        == ImportReport(
          unit: "commits", read: 1, appended: 1, first: 1, last: 100_001, git: ImportGitCounts()))
    #expect(try await folder.appends()[0].events.count == 100_001)
  }

  @Test func `what is no repository, names no commit or takes no such option is said so`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    #expect(try await folder.failure(of: [sample.path]).code == ExitStatus.notFound)
    sample.commit("one", [], at: 1_700_000_000)
    try sample.finish()
    #expect(try await folder.failure(of: [sample.path, "--ref=--nowhere"]).code == ExitStatus.notFound)
    #expect(try await folder.failure(of: [folder.path, "--format", "git"]).code == ExitStatus.notFound)
    #expect(try await folder.failure(of: [sample.path, "--merge"]).code == ExitStatus.usage)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test func `a damaged repository ends the import, and what was imported stays`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample.random(folder, commits: 30, seed: 3)
    let history = try sample.history()
    let tree = try sample.git(["rev-parse", history[19] + "^{tree}"]).trimmingCharacters(
      in: .whitespacesAndNewlines)
    try sample.remove(tree)
    let failure = try await folder.failure(of: [sample.path])
    #expect(failure.code == ExitStatus.inputOutput && failure.what.contains(tree), "\(failure)")
    let appends = try await folder.appends()
    #expect(appends.map(\.id) == history.prefix(appends.count).map { $0 })
  }

  @Test func `a blob that is missing ends the import with its path and commit, and no size is made up`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    sample.commit("one", [.file([0x61], "1")], at: 1_700_000_000)
    let module = ImportGitSample.Change.submodule([0x73], String(repeating: "a1", count: 20))
    sample.commit("two", [.file(Array("d/b".utf8), "22"), .file([0x63], "3"), module], at: 1_700_000_001)
    try sample.finish()
    let history = try sample.history()
    let blob = try sample.git(["rev-parse", "HEAD:d/b"]).trimmingCharacters(in: .whitespacesAndNewlines)
    try sample.remove(blob)
    let failure = try await folder.failure(of: [sample.path])
    #expect(failure.code == ExitStatus.inputOutput)
    #expect(failure.what.contains("\(blob) of d/b is missing"), "\(failure.what)")
    #expect(failure.place == "commit \(history[1]) of \(sample.path)")
    #expect(failure.next.contains("git fsck") && failure.next.contains("1 commit is in the store"))
    #expect(try await folder.appends().map(\.id) == [history[0]])
  }
}
