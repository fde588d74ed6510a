// Laws of importing clones that lack a part of their repository, and histories that were replaced.

import Foundation
import StrataEvents
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportGitCloneTests {
  private static func sample(_ folder: ImportFolder) throws -> ImportGitSample {
    let sample = try ImportGitSample(folder)
    for number in 1...4 {
      sample.commit("\(number)", [.file(Array("f\(number)".utf8), "\(number)")], at: 1_700_000_000 + number)
    }
    try sample.finish()
    try sample.git(["config", "uploadpack.allowFilter", "true"])
    return sample
  }

  /// Clones a repository, and returns the clone's path.
  private static func clone(_ sample: ImportGitSample, _ folder: ImportFolder, _ options: String...) throws
    -> String
  {
    let path = folder.file("clone")
    try sample.git(["clone", "-q", "--bare"] + options + ["file://" + sample.path, path])
    return path
  }

  @Test func `fault 114: a shallow clone is refused, and nothing is made`() async throws {
    let folder = try ImportFolder()
    let sample = try Self.sample(folder)
    let clone = try Self.clone(sample, folder, "--depth", "2")
    let failure = try await folder.failure(of: [clone])
    #expect(failure.code == ExitStatus.corrupt && failure.what.contains("shallow"), "\(failure)")
    #expect(failure.next.contains("git fetch --unshallow") && failure.next.contains("--shallow"))
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test
  func `fault 114: with --shallow, the report and the first commit say that it includes all before it`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try Self.sample(folder)
    let history = try sample.history()
    let clone = try Self.clone(sample, folder, "--depth", "2")
    let report = try await folder.run([clone, "--shallow"])
    #expect(report.appended == 2 && report.git?.begin == history[2])
    #expect(report.json.contains(#""shallow":"\#(history[2])""#))
    #expect(
      report.short.contains("the repository is shallow: \(history[2]) includes all commits before it"))
    let first = try await folder.appends()[0].events
    #expect(try first[0].document()["shallow"] == true && first.count == 4)
    // The rest of the history goes on from there, shallow or not.
    sample.commit("5", [.file([0x35], "5")], at: 1_700_000_005)
    let more = try sample.oddCommit(after: history[3])
    #expect(try await folder.run([sample.path, "--ref", more]).appended == 1)
    #expect(try await folder.appends().map(\.id) == [history[2], history[3], more])
    // A repository that is whole is the same with the option.
    let other = try ImportFolder()
    let whole = try await other.run([sample.path, "--shallow"])
    #expect(whole.appended == 4 && whole.git?.begin == nil)
    #expect(try await other.appends()[0].events[0].document()["shallow"] == nil)
  }

  @Test func `an import goes on where the record of a shallow clone's first commit was erased`() async throws
  {
    let folder = try ImportFolder()
    let sample = try Self.sample(folder)
    let history = try sample.history()
    try await folder.run([try Self.clone(sample, folder, "--depth", "2"), "--shallow"])
    let erase = try await LogreplayProcess.run(
      "erase", folder.store, "--stream", "commit/\(history[2])", "--reason", "test", "--yes")
    #expect(erase.code == 0, "\(erase)")
    let next = try sample.oddCommit(after: history[3])
    #expect(try await folder.run([sample.path, "--ref", next]).appended == 1)
  }

  @Test(arguments: ["nowhere", "^HEAD"])
  func `a name that git does not know is an error without a hint of grafts`(name: String) async throws {
    let folder = try ImportFolder()
    let sample = try Self.sample(folder)
    let failure = try await folder.failure(of: [sample.path, "--ref=\(name)"])
    #expect(failure.code == ExitStatus.notFound, "\(failure)")
    #expect(!failure.what.contains("hint") && !failure.what.contains("grafts"), "\(failure)")
  }

  @Test func `fault 114: a shallow clone that lacks the last imported commit says what to fetch`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try Self.sample(folder)
    try await folder.run([sample.path, "--ref", try sample.history()[0]])
    let clone = try Self.clone(sample, folder, "--depth", "2")
    let failure = try await folder.failure(of: [clone, "--shallow"])
    #expect(
      failure.code == ExitStatus.corrupt && failure.next.contains("git fetch --unshallow"), "\(failure)")
  }

  @Test func `fault 114: a blob that a partial clone lacks is named, and nothing is fetched or started`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try Self.sample(folder)
    let clone = try Self.clone(sample, folder, "--filter=blob:none")
    let marker = folder.file("started")
    // Programs that git starts for one command or another, each of which would leave a file.
    for setting in [
      "core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.pager", "core.editor", "core.askPass",
      "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.smudge", "gpg.program",
      "credential.helper",
      "pager.log", "remote.origin.uploadpack", "core.alternateRefsCommand", "sequence.editor",
    ] {
      try sample.git(["config", setting, "touch \(marker)"], in: clone)
    }
    try folder.write("* diff=x filter=x\n", to: "clone/info/attributes")
    try FileManager.default.createDirectory(atPath: clone + "/my-hooks", withIntermediateDirectories: true)
    for hook in ["reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"] {
      let path = try folder.write("#!/bin/sh\ntouch \(marker)\n", to: "clone/my-hooks/\(hook)")
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    try sample.git(["config", "core.hooksPath", clone + "/my-hooks"], in: clone)
    try sample.git(["config", "protocol.ext.allow", "always"], in: clone)
    let missing = try sample.git(["rev-list", "--objects", "--missing=print", "HEAD"], in: clone)
    for remote in ["file://" + sample.path, "ext::touch \(marker)"] {
      try sample.git(["config", "remote.origin.url", remote], in: clone)
      let failure = try await folder.failure(of: [clone])
      #expect(
        failure.code == ExitStatus.inputOutput && failure.what.contains("of f1 is missing"), "\(failure)")
      #expect(failure.next.contains("git fetch --refetch --no-filter"), "\(failure)")
      #expect(!FileManager.default.fileExists(atPath: marker), "\(remote)")
    }
    #expect(missing.contains("?"))
    #expect(try sample.git(["rev-list", "--objects", "--missing=print", "HEAD"], in: clone) == missing)
    #expect(try await folder.appends().isEmpty)
    // What the message says makes it whole.
    try sample.git(["config", "remote.origin.url", "file://" + sample.path], in: clone)
    try sample.git(["config", "--unset", "remote.origin.uploadpack"], in: clone)
    try sample.git(["-c", "core.hooksPath=/dev/null", "fetch", "-q", "--refetch", "--no-filter"], in: clone)
    try? FileManager.default.removeItem(atPath: marker)
    #expect(try await folder.run([clone]).appended == 4)
    #expect(!FileManager.default.fileExists(atPath: marker))
  }

  @Test func `a tree that a partial clone lacks ends the import with the same advice`() async throws {
    let folder = try ImportFolder()
    let sample = try Self.sample(folder)
    let clone = try Self.clone(sample, folder, "--filter=tree:0")
    let failure = try await folder.failure(of: [clone])
    #expect(failure.code == ExitStatus.inputOutput, "\(failure)")
    #expect(failure.next.contains("git fetch --refetch --no-filter"), "\(failure)")
  }

  @Test func `grafts and replaced objects do not count`() async throws {
    let folder = try ImportFolder()
    let sample = try Self.sample(folder)
    let history = try sample.history()
    try await folder.run([sample.path])
    let odd = try sample.oddCommit(after: history[0])
    try sample.git(["replace", history[2], odd])
    try folder.write(history[3] + "\n", to: "repository/info/grafts")
    #expect(try sample.history() != history)
    let other = try ImportFolder()
    #expect(try await other.run([sample.path]).appended == 4)
    #expect(try await other.appends() == (try await folder.appends()))
  }

  @Test func `a history of empty commits has its table, which is empty`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    for number in 1...3 { sample.commit("\(number)", [], at: 1_700_000_000 + number) }
    try sample.finish()
    try await folder.run([sample.path])
    for words in [["--table", "file"], []] {
      let run = try await LogreplayProcess(["at", folder.store, "-o", "json"] + words).wait()
      #expect(run.code == 0 && run.output.contains(#""count":0"#), "\(run)")
    }
    let diff = try await LogreplayProcess.run(
      "diff", folder.store, "head~1..head", "--table", "file", "--summary")
    #expect(diff.code == 0, "\(diff)")
    let other = try await LogreplayProcess.run("at", folder.store, "--table", "files")
    #expect(other.code == ExitStatus.notFound && other.errors.contains("the store has file"), "\(other)")
  }
}
