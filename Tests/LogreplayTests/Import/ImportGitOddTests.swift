// Laws of importing commits that are odd: their times, their paths, and how much they change.

import Foundation
import StrataBase
import LogreplayPoints
import StrataDocuments
import StrataEvents
import StrataLog
import StrataTables
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportGitOddTests {
  private static let before = 1_700_000_000

  /// A history of three commits, of which the second has these lines.
  private static func imported(
    author: String? = nil, committer: String? = nil
  ) async throws -> (report: ImportReport, appends: [RecordedAppend]) {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    sample.commit("one", [.file([0x61], "1")], at: before)
    sample.commit("three", [.file([0x62], "1")], at: before + 9)
    try sample.finish()
    let history = try sample.history()
    let good = "Cy <cy@example.org> 1700000005 +0000"
    let odd = try sample.oddCommit(after: history[0], author: author ?? good, committer: committer ?? good)
    let last = try sample.oddCommit(
      after: odd, committer: "Cy <cy@example.org> 1700000009 +0000", tree: history[1])
    let report = try await folder.run([sample.path, "--ref", last])
    let appends = try await folder.appends()
    #expect(appends.map(\.id) == [history[0], odd, last])
    return (report, appends)
  }

  @Test(arguments: [
    "nobody", "Cy <cy@example.org> -1 +0000", "Cy <cy@example.org>", "Cy <cy@example.org> 1288373970 --700",
    "Cy <cy@example.org> 99999999999999999999 +0000", "Cy <cy@example.org> 99999999999 +0000",
    "Cy <cy@example.org> 9999999999 +0000", "Cy <cy@example.org> 9223372037 +0000",
    "Cy <cy@example.org> 1600000100.5 +0000",
  ])
  func `a committer's time that cannot be kept is that of the commit before, and its line is kept`(
    committer: String
  ) async throws {
    let (report, appends) = try await Self.imported(committer: committer)
    #expect(
      appends.map { ($0.givenTime ?? $0.time).nanoseconds / 1_000_000_000 } == [
        1_700_000_000, 1_700_000_000, 1_700_000_009,
      ])
    let document = try appends[1].events[0].document()
    #expect(document["committerLine"] == .string(committer) && document["authorLine"] == nil)
    #expect(report.git?.undated == 1 && report.appended == 3)
    #expect(report.json.contains(#""undated":1"#))
    #expect(report.short.contains("1 without a time that can be kept, dated as the one before"))
    #expect(try appends[2].events[0].document()["committerLine"] == nil)
    #expect(appends[2].events.count == 2)
  }

  @Test func `a commit without a time after an import has that of the commit imported last`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    sample.commit("one", [], at: Self.before)
    // The store's own time is later than that of its last commit.
    sample.commit("two", [], at: Self.before - 50)
    try sample.finish()
    let odd = try sample.oddCommit(after: try sample.history()[1], committer: "nobody")
    try await folder.run([sample.path])
    try await folder.run([sample.path, "--ref", odd])
    let appends = try await folder.appends()
    #expect(appends[2].givenTime == Timestamp(nanoseconds: Int64(Self.before - 50) * 1_000_000_000))
    // The first commit of all has none before it.
    let other = try ImportFolder()
    let root = try sample.git(["rev-parse", "HEAD^{tree}"])
    let text = "tree \(root)author nobody\ncommitter nobody\n\nodd\n"
    let written = try ImportProcess.run(
      "/usr/bin/env",
      ["git", "-C", sample.path, "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
      input: Array(text.utf8))
    try await other.run([sample.path, "--ref", String(written.output.prefix(40))])
    #expect(try await other.appends()[0].time == Timestamp(nanoseconds: 0))
  }

  @Test(arguments: [
    ("0 -0500", "1969-12-31T19:00:00-05:00", true), ("3600 -0500", "1969-12-31T20:00:00-05:00", true),
    ("1600000100 +51800", "2020-09-13T12:28:20+00:00", false),
    ("1600000100 -9999", "2020-09-13T12:28:20+00:00", false),
    ("1600000100 +0060", "2020-09-13T12:28:20+00:00", false),
    ("1600000100 +2459", "2020-09-13T12:28:20+00:00", false),
    ("1600000100 +2359", "2020-09-14T12:27:20+23:59", true),
    ("1600000100 -0330", "2020-09-13T08:58:20-03:30", true),
    ("9999999999 +0000", "2286-11-20T17:46:39+00:00", true),
    ("253402300799 +0000", "9999-12-31T23:59:59+00:00", true),
    ("253402300799 +0100", "", false), ("253402300800 -0100", "9999-12-31T23:00:00-01:00", true),
    ("99999999999999999999 +0000", "", false), ("-1 +0000", "", false), ("", "", false),
  ])
  func `authored is a time or empty, and then the author's line is kept`(
    text: String, authored: String, isWhole: Bool
  ) async throws {
    let line = "Ann <ann@example.org>\(text.isEmpty ? "" : " ")\(text)"
    let (report, appends) = try await Self.imported(author: line)
    let document = try appends[1].events[0].document()
    #expect(document["authored"] == .string(authored))
    #expect(document["authorLine"] == (isWhole ? nil : .string(line)))
    #expect(report.git?.undated == 0)
    #expect(appends[1].time.nanoseconds == 1_700_000_005_000_000_000)
    if !authored.isEmpty {
      let bytes = Array(authored.utf8)
      #expect(bytes.withUnsafeBytes { InstantText.instant($0) } != nil)
    }
  }

  @Test func `an author's time is what git prints`() throws {
    let sample = try ImportGitSample(try ImportFolder())
    sample.commit("one", [], at: Self.before)
    try sample.finish()
    let first = try sample.history()[0]
    for offset in ["+0000", "-0000", "+0530", "-1200", "+1400", "+0001", "-0001", "+2359"] {
      for seconds in [951_782_399, 1_709_164_800, 1_735_689_599, 86_400] {
        let time = ImportGitTime(seconds: "\(seconds)", raw: "\(seconds) \(offset)")
        let hash = try sample.oddCommit(after: first, author: "Ann <ann@example.org> \(seconds) \(offset)")
        let printed = try sample.git(["log", "-1", "--format=%aI", hash]).dropLast()
        // Later versions of git print UTC as Z.
        #expect(time.text == (printed.hasSuffix("Z") ? "\(printed.dropLast())+00:00" : String(printed)))
        #expect(InstantText.named(time.text)?.seconds == Int64(seconds), "\(time.text)")
      }
    }
  }

  @Test func `a commit that is dated ahead of the clock is named before it is taken`() async throws {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    let now = Int(Date().timeIntervalSince1970)
    sample.commit("now", [], at: now)
    sample.commit("soon", [], at: now + 80_000)
    sample.commit("ahead", [], at: now + 200_000)
    sample.commit("after", [], at: now)
    try sample.finish()
    let history = try sample.history()
    let report = try await folder.run([sample.path])
    #expect(report.ahead == 1 && report.appended == 4)
    let notes = folder.notes.withLock { $0 }
    #expect(notes.count == 1 && notes[0].contains("commit \(history[2])"), "\(notes)")
    let appends = try await folder.appends()
    #expect(
      appends.map { ($0.givenTime ?? $0.time).nanoseconds / 1_000_000_000 }.map { Int($0) - now } == [
        0, 80_000, 200_000, 0,
      ])
  }

  @Test func `commits keep their own times where they run back, also from one import to the next`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    for step in [0, 50, 20, 70, 10] { sample.commit("\(step)", [], at: Self.before + step) }
    try sample.finish()
    for hash in try sample.history() { try await folder.run([sample.path, "--ref", hash]) }
    #expect(
      try await folder.appends().map { ($0.givenTime ?? $0.time).nanoseconds / 1_000_000_000 }
        == [0, 50, 20, 70, 10].map { Int64(Self.before + $0) })
  }

  // MARK: Paths

  @Test func `a path that is longer than an id is shortened in ids, and the path is whole in its row`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    let longest = Array(("d/" + String(repeating: "x", count: 1017)).utf8)
    let long = Array(("d/" + String(repeating: "x", count: 1018)).utf8)
    let wide = Array((String(repeating: "y", count: 1001) + String(repeating: "é", count: 2000)).utf8)
    let raw = [UInt8](repeating: 0xFF, count: 400)
    let paths = [longest, long, long + [0x31], wide, raw]
    sample.commit("all", paths.map { .file($0, "x") }, at: Self.before)
    // The id of one is the path of another.
    let taken = Array(ImportGitPath(long).id.utf8)
    sample.commit("taken", [.file(taken, "other")], at: Self.before + 1)
    sample.commit("none", paths.dropFirst().map { .delete($0) }, at: Self.before + 2)
    try sample.finish()
    #expect(try await folder.run([sample.path]).appended == 3)
    let appends = try await folder.appends()
    let events = appends[0].events.dropFirst() + appends[1].events.dropFirst()
    #expect(Set(events.map(\.stream)).count == 6)
    #expect(events.allSatisfy { $0.stream.text.utf8.count <= 1024 })
    var whole = 0
    for event in events {
      let document = try event.document()
      guard case .string(let path)? = document["path"] else { continue }
      whole += 1
      #expect(event.stream.id != path && event.stream.id.contains("~"))
      #expect(event.stream.id.prefix(900) == path.prefix(900))
      guard case .string(let folder)? = document["folder"], case .string(let name)? = document["name"] else {
        Issue.record("no folder and name")
        continue
      }
      if document["quoted"] == nil { #expect((folder.isEmpty ? "" : folder + "/") + name == path) }
    }
    #expect(whole == 5)
    // What is left is the longest path that is an id, and the one that looks shortened.
    var state = ImportGitState()
    for append in appends { try state.apply(append) }
    #expect(
      Set(state.items.keys.map(\.id)) == [String(decoding: longest, as: UTF8.self), ImportGitPath(taken).id])
  }

  // MARK: Large commits

  private static func large(_ folder: ImportFolder) throws -> ImportGitSample {
    let sample = try ImportGitSample(folder)
    sample.commit("small", [.file(Array("first".utf8), "x")], at: before)
    sample.commit("large", (0..<60).map { .file(Array("some/folder/f\($0)".utf8), "\($0)") }, at: before + 1)
    sample.commit("last", [.file(Array("last".utf8), "x")], at: before + 2)
    try sample.finish()
    return sample
  }

  @Test func `a commit that changes too much for one append is several, of which the last has its hash`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try Self.large(folder)
    let history = try sample.history()
    let report = try folder.importGit(sample, appendSizeMax: 4000)
    #expect(report.read == 3 && report.appended == 3 && report.git?.split == 1)
    #expect(report.json.contains(#""split":1"#) && report.short.contains("1 in several appends"))
    let appends = try await folder.appends()
    let large = appends.dropFirst().dropLast()
    #expect(large.count > 3)
    #expect(large.dropLast().map(\.id) == (1..<large.count).map { "\(history[1]).\($0)" })
    #expect(large.last?.id == history[1] && appends.last?.id == history[2])
    #expect(large.dropLast().allSatisfy { $0.events.last?.stream == "commit/parts" })
    #expect(Set(large.map(\.time)).count == 1)
    // Without what says so, they hold what one append would.
    let other = try ImportFolder()
    #expect(try other.importGit(sample, appendSizeMax: 4 << 20).git?.split == 0)
    let one = try await other.appends()[1].events
    let all = large.flatMap(\.events).filter { $0.type != "git.part" }
    #expect(all.map(\.stream) == one.map(\.stream) && all.map(\.type) == one.map(\.type))
    #expect(try all.map { try $0.document() } == one.map { try $0.document() })
    #expect(try large.flatMap(\.events).allSatisfy { try $0.metadata() == ["commit": .string(history[1])] })
    // Importing again appends nothing, with any limit.
    #expect(try await folder.run([sample.path]).appended == 0)
  }

  @Test func `a commit of several appends that was interrupted between any two of them is finished`()
    async throws
  {
    let folder = try ImportFolder()
    let sample = try Self.large(folder)
    let history = try sample.history()
    _ = try folder.importGit(sample, appendSizeMax: 4000)
    let whole = try await folder.appends()
    for count in 1..<whole.count {
      let other = try ImportFolder()
      let options = { () -> StoreOptions in
        var options = StoreOptions()
        options.appendSizeMax = 4000
        options.payloadSizeMax = 4000
        return options
      }()
      let store = try await EventStore.open(at: other.store, .readWrite, options: options)
      for append in whole.prefix(count) {
        let events = try append.events.map {
          NewEvent($0.type, in: $0.stream, try $0.document(), metadata: try $0.metadata())
        }
        try await store.append(events, id: append.id, time: append.givenTime ?? append.time)
      }
      try await store.close()
      if count > 1, count < whole.count - 2 {
        // Another history would leave the first files of the commit behind.
        let odd = try sample.oddCommit(after: history[0])
        let failure = #expect(throws: CommandFailure.self) {
          try other.importGit(sample, odd, appendSizeMax: 4000)
        }
        #expect(failure?.what.contains("the store has a part of the commit \(history[1])") ?? false)
      }
      let report = try other.importGit(sample, appendSizeMax: 4000)
      #expect(report.read == 3, "\(count)")
      #expect(try await other.appends().map(\.id) == whole.map(\.id), "\(count)")
      #expect(try await other.appends().map(\.events) == whole.map(\.events), "\(count)")
    }
  }

  @Test func `events of others in the stream of parts make no append a part, beside a git history or not`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write((1...3).map { "{\"id\":\"parts\",\"v\":\($0)}\n" }.joined() + "{\"id\":\"x\"}\n")
    try await folder.run([folder.file("lines.jsonl"), "--table", "commit", "--id", "id"])
    let run = try await LogreplayProcess.run("at", folder.store, "head~1", "--table", "commit")
    #expect(run.code == 0 && run.errors.contains("head~1 → seq 3 "), "\(run)")
    // Of the same name, type and stream, it still has no id of a part, or is not the last of its append.
    let sample = try Self.large(folder)
    try folder.importGit(sample, appendSizeMax: 4000)
    let store = try await EventStore.open(at: folder.store)
    let parts = SplitCommits(store.log).parts
    #expect(parts.count > 1)
    let part = NewEvent(SplitCommits.partType, in: "commit/parts", ["part": 1])
    try await store.append([part], id: "a.1")
    try await store.append([part])
    try await store.append([part, NewEvent("$put", in: "file/x", [:])], id: try sample.history()[0] + ".9")
    #expect(SplitCommits(store.log).parts == parts)
    try await store.close()
    let head = try await LogreplayProcess.run("at", folder.store, "head~1", "--table", "file")
    #expect(head.errors.contains("head~1 → seq \(store.head.sequence - 2) "), "\(head)")
  }

  @Test func `a point inside of a commit of several appends says so, and head counts it once`() async throws {
    let folder = try ImportFolder()
    let sample = try Self.large(folder)
    let history = try sample.history()
    _ = try folder.importGit(sample, appendSizeMax: 4000)
    let appends = try await folder.appends()
    let parts = appends.dropFirst().dropLast()
    func at(_ point: String) async throws -> LogreplayProcess.Outcome {
      try await LogreplayProcess.run("at", folder.store, point, "--table", "file", "-o", "json")
    }
    for (part, number) in zip(parts.dropLast(), 1...) {
      let run = try await at("\(part.sequences.upperBound)")
      #expect(run.output.contains(#""partial":true"#), "\(run)")
      #expect(
        run.errors.contains("is inside the commit \(history[1]), after the first \(number) append"), "\(run)")
      #expect(run.errors.contains("it is whole at seq \(parts.last?.sequences.upperBound ?? 0)"), "\(run)")
    }
    for (point, count) in [
      ("head", 62), ("head~1", 61), ("head~2", 1), ("id:\(history[1])", 61),
      ("id:\(history[1].prefix(8))", 61),
    ] {
      let run = try await at(point)
      #expect(run.code == 0 && run.output.contains(#""count":\#(count),"#), "\(point): \(run)")
      #expect(!run.output.contains(#""partial":true"#) && !run.errors.contains("inside"), "\(point): \(run)")
    }
    #expect(try await at("head~3").output.contains(#""sequence":0,"#))
    #expect(try await at("head~4").code == ExitStatus.notFound)
  }

  @Test func `bisect takes a commit of several appends for one`() async throws {
    let folder = try ImportFolder()
    let sample = try Self.large(folder)
    let history = try sample.history()
    _ = try folder.importGit(sample, appendSizeMax: 4000)
    let appends = try await folder.appends()
    let end = appends.first { $0.id == history[1] }?.sequences.upperBound ?? 0
    let begin = appends[1].sequences.lowerBound
    for words in [
      ["--where", "name == 'f0'"], ["--where", "name == 'f0'", "--all-flips"],
      ["--table", "file", "--run", "sh", "-c", "! grep -q f0"],
    ] {
      let run = try await LogreplayProcess(["bisect", folder.store, "-o", "json"] + words).wait()
      #expect(run.code == 0 && run.output.contains(#""first":\#(end),"#), "\(words): \(run)")
      #expect(run.output.contains(#""append":[\#(begin),\#(end)],"#), "\(words): \(run)")
      #expect(run.output.contains(#""id":"\#(history[1])""#), "\(words): \(run)")
      let asked = run.errors.split(separator: "\n").filter { $0.hasPrefix("seq ") }
      #expect(asked.count <= 4, "\(words): \(asked)")
    }
    let run = try await LogreplayProcess.run("bisect", folder.store, "--where", "name == 'f1'")
    #expect(run.code == 0 && run.output.contains("\(begin)…\(end)"), "\(run)")
    #expect(
      run.output.contains("file/some/folder/f1\n") || run.output.contains("file/some/folder/f1 "), "\(run)")
    #expect(run.output.contains("and more: logreplay log '\(folder.store)' \(begin - 1)..\(end)"), "\(run)")
    let inside = try await LogreplayProcess.run(
      "bisect", folder.store, "--good", "\(appends[1].sequences.upperBound)", "--where", "name == 'f1'")
    #expect(
      inside.code == ExitStatus.usage && inside.errors.contains("give \(begin - 1), before that append"),
      "\(inside)")
  }

  @Test func `ids of the appends of a commit fit, also of SHA-256`() {
    for hash in [String(repeating: "a1", count: 20), String(repeating: "b2", count: 32)] {
      for number in [1, 9, 10, 99_999] {
        let id = SplitCommits.id(of: hash, part: number)
        #expect(id.utf8.count <= 64)
        let part = SplitCommits.part(id: id.utf8)
        #expect(part?.number == number && hash.hasPrefix(part?.hash ?? "-"))
      }
    }
    for id in ["", "a.1", String(repeating: "a", count: 40), String(repeating: "a", count: 40) + ".0"] {
      #expect(SplitCommits.part(id: id.utf8) == nil)
    }
    #expect(SplitCommits.part(id: (String(repeating: "a", count: 40) + ".01").utf8) == nil)
    #expect(SplitCommits.part(id: (String(repeating: "g", count: 40) + ".1").utf8) == nil)
    #expect(SplitCommits.part(id: (String(repeating: "a", count: 50) + ".1").utf8) == nil)
  }
}
