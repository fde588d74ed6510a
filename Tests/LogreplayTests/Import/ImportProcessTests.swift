// The command as it is run: killed at any time, fed through a pipe, watched by programs.

import Foundation
import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite(.serialized)
struct ImportProcessTests {
  @Test func `an import that is killed at any time loses and doubles nothing when it is run again`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let lines = 12_000
    let source = try ImportFolder()
    try source.write(importedLines(1...lines))
    try source.write("id,n\n" + (1...lines).map { "i\($0 % 97),\($0)\n" }.joined(), to: "rows.csv")
    func arguments(_ store: String, _ round: Int) -> [String] {
      let file = source.file(round.isMultiple(of: 2) ? "lines.jsonl" : "rows.csv")
      return ["import", store, file, "--table", "t", "--id", "id", "-o", "json"]
    }
    let began = MonotonicTime.now()
    try ImportProcess.run(ImportProcess.command, arguments(source.store, 0))
    let whole = UInt64(MonotonicTime.now().nanoseconds - began.nanoseconds)
    var resumed = 0
    for round in 1...20 {
      let folder = try ImportFolder()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        try ImportProcess.kill(
          after: UInt64.random(in: 0...whole, using: &random), arguments(folder.store, round))
      }
      let exists = FileManager.default.fileExists(atPath: folder.store + "/HEAD")
      let before = exists ? try await folder.appends().map(\.line) : []
      #expect(before == before.indices.map { $0 + 1 }, "seed \(seed), round \(round)")
      if before.count > 0, before.count < lines { resumed += 1 }
      let result = try ImportProcess.run(ImportProcess.command, arguments(folder.store, round))
      #expect(result.code == 0, "\(result.errors), seed \(seed), round \(round)")
      #expect(result.output.contains("\"known\":\(before.count),"), "\(result.output), seed \(seed)")
      let after = try await folder.appends().map(\.line)
      #expect(after == Array(1...lines), "seed \(seed), round \(round)")
    }
    #expect(resumed > 0, "no round was killed in the middle; seed \(seed)")
  }

  @Test func `standard input is read, plain or compressed, and is resumable where it has a name`()
    async throws
  {
    let folder = try ImportFolder()
    let bytes = Array(importedLines(1...5000).utf8)
    let options = ["--table", "t", "--id", "id", "-o", "json"]
    let arguments = ["import", folder.store, "-"] + options
    let plain = try ImportProcess.run(
      ImportProcess.command, arguments + ["--source", "s"], input: bytes)
    #expect(
      plain.output
        == "{\"schema\":1,\"read\":5000,\"appended\":5000,\"known\":0,\"skipped\":0,\"first\":1,\"last\":5000,\"raised\":0,\"ahead\":0,\"late\":0,\"rounded\":0,\"tables\":[{\"table\":\"t\",\"put\":5000,\"merged\":0,\"deleted\":0}]}\n"
    )
    #expect(plain.errors.isEmpty)
    let zipped = try ImportProcess.run(
      ImportProcess.command, arguments + ["--source", "s"], input: try ImportProcess.gzip(bytes))
    #expect(zipped.output.contains("\"appended\":0,\"known\":5000"), "\(zipped)")
    let unnamed = try ImportProcess.run(ImportProcess.command, arguments, input: bytes)
    #expect(unnamed.output.contains("\"appended\":5000"))
    #expect(unnamed.errors.contains("--source"))
    #expect(try await folder.appends().last?.id == nil)
    let cut = try ImportProcess.run(
      ImportProcess.command, ["import", folder.file("other"), "-", "--source", "s"] + options,
      input: Array(try ImportProcess.gzip(bytes).dropLast(20)))
    #expect(cut.code != 0 && cut.errors.contains("gzip"), "\(cut)")
  }

  @Test func `a pipe in place of a file has no name that another pipe could have`() async throws {
    let folder = try ImportFolder()
    try folder.write(importedLines(1...3), to: "a")
    try folder.write(importedLines(4...5), to: "b")
    func importing(_ name: String, _ more: String = "") throws -> ImportProcess {
      try ImportProcess.run(
        "/bin/bash",
        [
          "-c", "\"$0\" import \"$1\" <(cat \"$2\") --table t --id id \(more)", ImportProcess.command,
          folder.store, folder.file(name),
        ])
    }
    for name in ["a", "b"] {
      let result = try importing(name)
      #expect(result.code == 0 && result.errors.contains("a pipe without --source"), "\(result)")
    }
    #expect(try await folder.appends().map(\.id) == [nil, nil, nil, nil, nil])
    for known in [0, 3] {
      let result = try importing("a", "--source s")
      #expect(
        result.code == 0 && result.errors.isEmpty && result.output.contains("\(known) known"), "\(result)")
    }
    #expect(try await folder.appends().last?.id?.hasPrefix("s:3:") == true)
  }

  @Test func `bad lines that are passed over give exit code 3 and are named on standard error`() throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\nx\n" + String(repeating: "y\n", count: 30))
    let result = try ImportProcess.run(
      ImportProcess.command,
      ["import", folder.store, folder.file("lines.jsonl"), "--table", "t", "--id", "id", "--skip-bad"])
    #expect(result.code == ExitStatus.skipped)
    #expect(result.output == "32 lines read, 1 appended as sequence 1, 0 known, 31 skipped\n  t: 1 put\n")
    #expect(result.errors.contains("lines.jsonl:2:1: unexpected 'x'"))
    #expect(result.errors.split(separator: "\n").count == 21)
  }

  @Test func `a missing gzip is said so`() async throws {
    let folder = try ImportFolder()
    try folder.write(try ImportProcess.gzip([1, 2, 3]), to: "a.gz")
    let result = try ImportProcess.run(
      ImportProcess.command, ["import", folder.store, folder.file("a.gz"), "--table", "t", "--id", "id"],
      environment: ["PATH": folder.path])
    #expect(result.code != 0 && result.errors.contains("no gzip"), "\(result)")
  }

  @Test func `a git that cannot be started for lack of descriptors is not said to be missing`() throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    sample.commit("one", [.file([0x61], "1")], at: 1_700_000_000)
    try sample.finish()
    var refused = 0
    for limit in 10...100 {
      let result = try ImportProcess.run(
        "/bin/bash",
        [
          "-c", "ulimit -n \(limit) && exec \"$0\" import \"$1\" \"$2\"", ImportProcess.command, folder.store,
          sample.path,
        ])
      #expect(!result.errors.contains("install git"), "\(result)")
      if result.code == 0 { break }
      guard result.errors.contains("cannot start git: Too many open files") else { continue }
      #expect(result.code == ExitStatus.inputOutput && result.errors.contains("ulimit -n"), "\(result)")
      refused += 1
    }
    #expect(refused > 0)
  }

  @Test func `what to do about a program that does not start depends on why`() {
    func step(_ code: Int32) -> String {
      ChildProgram.nextStep(after: .refused("start", "gzip", code: code), starting: "gzip")
    }
    #expect(step(SystemErrorCode.notFound) == "install gzip")
    #expect(step(SystemErrorCode.tooManyOpenFiles).contains("ulimit -n"))
    #expect(!step(SystemErrorCode.accessDenied).contains("install"))
    func missing(_ program: String) -> String {
      ChildProgram.nextStep(
        after: .refused("start", program, code: SystemErrorCode.notFound), starting: program)
    }
    #expect(missing("grep -q x") == "give the program and its arguments as words of their own: grep -q x")
    #expect(missing("./check.sh") == "check the path of the program")
    #expect(missing("/usr/bin/my grep") == "check the path of the program")
  }

  @Test func `what a program says is one line, without tabs, and without a semicolon after what announces`() {
    let git = """
      fatal: detected dubious ownership in repository at '/x'
      To add an exception for this directory, call:

      \tgit config --global --add safe.directory /x

      """
    #expect(
      ChildProgram.oneLine(git)
        == "fatal: detected dubious ownership in repository at '/x'; To add an exception for this directory, call: "
        + "git config --global --add safe.directory /x")
    #expect(ChildProgram.oneLine("a\r\n\t \n b\tc.\nd") == "a; b c. d")
    #expect(ChildProgram.oneLine("\n\t\n") == "")
  }

  @Test func `a repository that git does not trust is refused with git's own advice, which can be run`()
    throws
  {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    sample.commit("one", [], at: 1_700_000_000)
    try sample.finish()
    guard chown(sample.path, 54_321, 54_321) == 0 else { return }
    let result = try ImportProcess.run(
      ImportProcess.command, ["import", folder.store, sample.path],
      environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path])
    #expect(result.code == ExitStatus.notFound, "\(result)")
    #expect(
      result.errors.contains("call: git config --global --add safe.directory \(sample.path)"), "\(result)")
    #expect(!result.errors.contains(#"\u{"#), "\(result)")
  }

  @Test func `a path in an error is shortened in its middle`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    let path = "begin/" + String(repeating: "é", count: 3000) + "/end.txt"
    sample.commit("one", [.file(Array(path.utf8), "1")], at: 1_700_000_000)
    try sample.finish()
    try sample.remove(
      try sample.git(["rev-parse", "HEAD:" + path]).trimmingCharacters(in: .whitespacesAndNewlines))
    let failure = try await folder.failure(of: [sample.path])
    #expect(
      failure.what.contains(" of begin/éé") && failure.what.contains("éé/end.txt is missing"), "\(failure)")
    #expect(failure.what.count < 300, "\(failure)")
    #expect(PeopleText.shortened("short") == "short")
    #expect(PeopleText.shortened("0123456789", to: 10) == "0123456789")
    #expect(PeopleText.shortened("0123456789a", to: 10) == "0123…789a")
  }

  @Test func `the bar says how much is done, how fast, and how long it will take`() {
    let progress = TransferProgress(unit: "lines", isTerminal: true)
    #expect(progress.text(10, fraction: nil).hasPrefix("10 lines, "))
    #expect(progress.text(10, fraction: 0.5).hasPrefix("[###############---------------] 50 %  10 lines, "))
    #expect(progress.text(10, fraction: 0.5).hasSuffix("s left"))
  }
}
