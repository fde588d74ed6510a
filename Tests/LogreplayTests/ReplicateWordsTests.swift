// What `replicate` says: of mistakes, of places that cannot be looked at, and while it waits.

import Foundation
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite struct ReplicateWordsTests {
  /// A folder with a store of three rows.
  private func sample() async throws -> ImportFolder {
    let folder = try ImportFolder()
    let file = try folder.write((1...3).map { "{\"id\":\"T-\($0)\"}\n" }.joined(), to: "rows.jsonl")
    let made = try await LogreplayProcess.run("import", folder.store, file, "--table", "ticket", "--id", "id")
    #expect(made.code == 0, "\(made)")
    return folder
  }

  @discardableResult
  private func run(_ arguments: String..., code: Int32 = 0) async throws -> LogreplayProcess.Outcome {
    let outcome = try await LogreplayProcess(arguments).wait()
    #expect(outcome.code == code, "\(arguments): \(outcome)")
    return outcome
  }

  // MARK: Mistakes

  @Test(arguments: [
    (["STORE", "ftp://user:secret@host/x"], "the scheme ftp: is unknown"),
    (["STORE", "FILE:/x"], "the scheme FILE: is unknown"), (["http://x", "--status"], "nats://"),
    (["STORE", "/tmp/a b"], "as 'file:/tmp/a b'"), (["STORE", "file:~/x"], "replaces ~"),
    (["STORE"], "no place is given"), (["STORE", "--until", "3"], "--until needs URL FOLDER"),
    (["file:p", "--until", "3"], "the folder is missing"), (["file:p"], "URL --status"),
    (["file:p", "file:q"], "both are URLs"), (["file:p", "--take-over"], "STORE --take-over"),
    (["file:p", "--rejoin"], "STORE --rejoin"), (["STORE", "x", "--status"], "leave it out"),
    (["STORE", "--status", "--rejoin"], "--status and --rejoin cannot be combined"),
    (["file:p", "x", "--until", "3", "--follow"], "cannot be combined"),
    (["STORE", "file:p", "--follow"], "store.ship(to:)"), (["STORE", "--follow"], "store.ship(to:)"),
    (["STORE", "file:p", "--within", "-1s"], "'-1s' is not a length of time"),
    (["STORE", "--forget", ""], "the member is empty"), (["file:p", "x", "--start-over"], "that is shipped"),
    (["STORE", "--status", "--start-over"], "that is shipped"),
  ])
  func `each mistake in the arguments is said by itself`(arguments: [String], words: String) async throws {
    let folder = try await sample()
    let arguments = arguments.map { $0 == "STORE" ? folder.store : $0 }
    let outcome = try await LogreplayProcess(["replicate"] + arguments).wait()
    #expect(outcome.code == 64 && outcome.output.isEmpty, "\(arguments): \(outcome)")
    #expect(outcome.errors.contains(words) && !outcome.errors.contains("secret"), "\(outcome.errors)")
  }

  @Test func `a path where a URL belongs is written as one`() async throws {
    let folder = try await sample()
    let path = try await run("verify", folder.store, "--against", "/tmp/x", code: 64)
    #expect(path.errors.contains("write file:/tmp/x"), "\(path)")
    let scheme = try await run("verify", folder.store, "--against", "ftp://x", code: 64)
    #expect(scheme.errors.contains("the scheme ftp: is unknown"), "\(scheme)")
  }

  @Test func `what looks like a URL and is a folder is a store`() throws {
    #expect(CarrierName.isOne("file:x") && CarrierName.isOne("s3:x") && CarrierName.isOne("S3:x"))
    #expect(CarrierName.isOne("gopher://x") && CarrierName.isOne("c:/x"))
    for path in ["x", "/x:/y", "2024:/x", "a:b", "./file:x", ":/x", "a b:/x"] {
      #expect(!CarrierName.isOne(path), "\(path)")
    }
  }

  @Test(arguments: [
    ("a/b-c.d:e@f%20", "a/b-c.d:e@f%20"), ("", "''"), ("a b", "'a b'"), ("a'b", "'a'\\''b'"),
    ("a?b", "'a?b'"),
    ("ä", "'ä'"),
  ])
  func `an argument in a message is what a shell reads`(text: String, word: String) async throws {
    #expect(ShellWord.of(text) == word)
    let echoed = try await LogreplayProcess.shell("printf %s \(word)")
    #expect(echoed.output == text)
  }

  // MARK: Places

  @Test func `a store alone is shipped to where it was shipped before`() async throws {
    let folder = try await sample()
    let (place, copy) = ("file:\(folder.file("place"))", folder.file("copy"))
    try await run("replicate", folder.store, "--dry-run", code: 64)
    try await run("replicate", folder.store, place)
    try await run("put", folder.store, "ticket/new", "{}")
    #expect(try await run("replicate", folder.store, "--dry-run").output.contains("1 event would be shipped"))
    #expect(try await run("replicate", folder.store).output == "events up to 4 are in \(place)\n")
    try await run("replicate", place, copy)
    let follows = try await run("replicate", copy, code: 75)
    #expect(follows.errors.contains("logreplay replicate \(place) \(copy)"), "\(follows)")
    let fork = folder.file("fork")
    try await run("replicate", place, fork, "--until", "2")
    #expect(try await run("replicate", fork, code: 64).errors.contains("no place is given"))
  }

  @Test func `a dry run refuses a place and a folder with the words and the code of the run`() async throws {
    let folder = try await sample()
    let file = try folder.write("x", to: "file")
    let place = "file:\(folder.file("place"))"
    for (path, code) in [
      (folder.file("no/such"), Int32(74)), (file, 74), ("\(file)/x", 74),
      ("\(folder.store)/x", 69),
    ] {
      let plan = try await run("replicate", folder.store, "file:\(path)", "--dry-run", code: code)
      let real = try await run("replicate", folder.store, "file:\(path)", code: code)
      #expect(plan.errors == real.errors && plan.output.isEmpty, "\(plan) \(real)")
    }
    try await run("replicate", folder.store, place)
    for (path, code) in [(file, Int32(73)), ("\(file)/x", 73), (folder.store, 64)] {
      let plan = try await run("replicate", place, path, "--dry-run", code: code)
      let real = try await run("replicate", place, path, code: code)
      #expect(plan.errors == real.errors && plan.output.isEmpty, "\(plan) \(real)")
    }
    let deep = folder.file("no/such/copy")
    try await run("replicate", place, deep, "--dry-run")
    try await run("replicate", place, deep, "--until", "2", "--dry-run")
    #expect(!FileManager.default.fileExists(atPath: folder.file("no")))
    // What was refused is no member that an erasure would wait for.
    let status = try await run("replicate", place, "--status")
    #expect(status.lines.count == 2, "\(status)")
  }

  @Test func `the status of a place that cannot be looked at says why, and is no success`() async throws {
    let folder = try await sample()
    let (path, store) = (folder.file("place"), folder.store)
    try await run("replicate", store, "file:\(path)")
    try FileManager.default.moveItem(atPath: path, toPath: "\(path)-away")
    let gone = try await run("replicate", store, "--status", code: 66)
    #expect(gone.output.contains("where nothing is"), "\(gone)")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
    let refused = try await run("replicate", store, "--status", code: 74)
    #expect(refused.output.contains("could not be looked at: cannot look at: "), "\(refused)")
    let json = try await run("replicate", store, "--status", "-o", "json", code: 74)
    #expect(json.output.contains("\"unknown\":\"cannot look at: "), "\(json)")
    #expect(try await run("info", store).output.contains("could not be looked at"))
  }

  @Test func `a place that was emptied is shipped to only where that is meant`() async throws {
    let folder = try await sample()
    let (path, store) = (folder.file("place"), folder.store)
    try await run("replicate", store, "file:\(path)")
    try FileManager.default.removeItem(atPath: path)
    for dry in [["--dry-run"], []] {
      let refused = try await LogreplayProcess(["replicate", store] + dry).wait()
      #expect(refused.code == 69 && refused.errors.contains("--start-over"), "\(refused)")
    }
    let plan = try await run("replicate", store, "--start-over", "--dry-run")
    #expect(plan.output.contains("3 events would be shipped"), "\(plan)")
    try await run("replicate", store, "--start-over")
    #expect(try await run("replicate", store).output.contains("events up to 3"))
    #expect(try await run("replicate", "file:\(path)", "--status").output.contains("up to 3"))
  }

  @Test func `a new store that is empty is warned of`() async throws {
    let folder = try await sample()
    let place = "file:\(folder.file("place"))"
    try await run("replicate", folder.store, place)
    for (name, until) in [("a", "0"), ("b", "1999-01-01")] {
      for dry in [["--dry-run"], []] {
        let made = try await LogreplayProcess(
          ["replicate", place, folder.file(name), "--until", until] + dry
        ).wait()
        #expect(made.code == 0 && made.errors.contains("the new store is empty"), "\(made)")
      }
    }
    #expect(try await run("replicate", place, folder.file("c"), "--until", "1").errors.isEmpty)
  }

  // MARK: Waiting

  @Test(.timeLimit(.minutes(1)))
  func `a copy that goes on says when it has everything, and when trouble begins and ends`() async throws {
    let folder = try await sample()
    let path = folder.file("place")
    let place = "file:\(path)"
    try await run("replicate", folder.store, place)
    let follower = try LogreplayProcess(["replicate", place, folder.file("copy"), "--follow"])
    #expect(
      await follower.readErrorLine() == "\(folder.file("copy")) has the events up to 3, and waits for more")
    let object = "\(path)/log/00000000000000000002"
    try FileManager.default.createSymbolicLink(atPath: object, withDestinationPath: object)
    let begin = await follower.readErrorLine()
    #expect(begin.hasPrefix("\(place): ") && begin.hasSuffix("; it is tried again"), "\(begin)")
    try FileManager.default.removeItem(atPath: object)
    #expect(await follower.readErrorLine() == "\(place): the trouble is over, and it goes on")
    follower.interrupt()
    #expect(await follower.exitCode() == 130)
  }

  @Test func `lines are said once, and kept up to date on a terminal`() {
    nonisolated(unsafe) var text = ""
    var lines = WaitingLines("file:/p", isTerminal: false) { text += $0 }
    lines.trouble(nil)
    lines.position("up to 3")
    lines.position("up to 4")
    for what in ["gone", "gone", "away", nil, nil] { lines.trouble(what) }
    lines.trouble("full", of: .note)
    lines.trouble("gone\u{1B}")
    lines.trouble(nil, of: .note)
    #expect(
      text.split(separator: "\n") == [
        "up to 3", "file:/p: gone; it is tried again", "file:/p: the trouble is over, and it goes on",
        "file:/p has no note of how far this copy is, by which an erasure knows it: full; it is tried again",
        "file:/p: gone\\u{1b}; it is tried again", "file:/p has the note of this copy again",
      ], "\(text)")
    text = ""
    lines = WaitingLines("file:/p", isTerminal: true) { text += $0 }
    lines.position("up to 3")
    lines.position("up to 3")
    lines.position("up to 4")
    lines.trouble("gone")
    #expect(text == "\r\u{1B}[Kup to 3\r\u{1B}[Kup to 4\r\u{1B}[Kfile:/p: gone; it is tried again\nup to 4")
  }
}
