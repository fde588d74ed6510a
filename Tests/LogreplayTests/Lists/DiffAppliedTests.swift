// The JSON of `diff` turns one `at` into the other, also where rows were changed and changed back.

import ArgumentParser
import Foundation
import LogreplayPoints
import Strata
import StrataDocuments
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite struct DiffAppliedTests {
  private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  private static let caseCount = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 500

  private static func put(_ id: String, _ fields: DocumentObject) -> NewEvent {
    NewEvent("$put", in: StreamName(category: "t", id: id), .object(fields))
  }

  /// After 2: a and b. 4 changes a and 5 changes it back; 6 and 7 delete b and put it again; 8 changes c, which is put
  /// in 3, and back in one append.
  private static func revised() async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for events in [
      [put("a", ["n": 1])], [put("b", ["n": 2])], [put("c", ["n": 3])], [put("a", ["n": 9])],
      [put("a", ["n": 1])],
      [NewEvent("$delete", in: "t/b", .null)], [put("b", ["n": 2])],
      [put("c", ["n": 9]), put("c", ["n": 3])],
    ] { try await store.append(events) }
    try await store.close()
    return folder
  }

  @Test func `rows of which only the revision differs are named beside the changes`() async throws {
    let folder = try await Self.revised()
    func changes(_ words: String...) async throws -> String {
      let outcome = try await LogreplayProcess(["diff", folder.store, "--sort", "n"] + words).wait()
      #expect(outcome.code == 0)
      return outcome.output.split(separator: "},\"changes\"").last.map(String.init) ?? ""
    }
    let revisions = #""revisions":[{"id":"a","revision":[1,5]},{"id":"b","revision":[2,7]},"#
    #expect(
      try await changes("3..", "-o", "json") == ":[],\(revisions){\"id\":\"c\",\"revision\":[3,9]}]}\n")
    #expect(
      try await changes("..3", "-R", "-o", "json").contains("revisions") == false, "rows that came have none")
    #expect(
      try await changes("9..3", "--where", "n == 2", "-o", "json")
        == #":[],"revisions":[{"id":"b","revision":[7,2]}]}"# + "\n")
    // A row that a window hides on one side is not named; one that moves and is the same is.
    #expect(
      try await changes("3..7", "--limit", "1", "-o", "json")
        == #":[],"revisions":[{"id":"a","revision":[1,5]}]}"# + "\n")
    let created = try await LogreplayProcess.run("diff", folder.store, "3..7", "-o", "jsonl").lines
    #expect(
      created == [
        #"{"schema":1,"op":"move","id":"b","from":[0,1],"to":[0,2]}"#,
        #"{"schema":1,"op":"revision","id":"a","revision":[1,5]}"#,
        #"{"schema":1,"op":"revision","id":"b","revision":[2,7]}"#,
      ])
  }

  @Test func `what was changed and changed back is no change for people and for the exit code`() async throws
  {
    let folder = try await Self.revised()
    for words in [["-o", "json"], ["-o", "short"], ["--summary"]] {
      let outcome = try await LogreplayProcess(
        ["diff", folder.store, "3..", "--sort", "n", "--exit-code"] + words
      )
      .wait()
      #expect(outcome.code == 0)
    }
    let summary = try await LogreplayProcess.run("diff", folder.store, "3..", "--sort", "n", "--summary")
    #expect(summary.output == "0 inserted, 0 deleted, 0 moved, 0 updated; 3 items\n")
  }

  @Test func `a list that is followed names the rows that one append changed and changed back`() async throws
  {
    let folder = try await Self.revised()
    let outcome = try await LogreplayProcess.run(
      "follow", folder.store, "--table", "t", "--sort", "n", "--from", "7", "--until-caught-up", "-o", "jsonl"
    )
    #expect(outcome.lines.count == 2)
    #expect(
      outcome.lines.last?.hasSuffix(#""changes":[],"revisions":[{"id":"c","revision":[3,9]}]}"#) == true)
    let text = try await LogreplayProcess.run(
      "follow", folder.store, "--sort", "n", "--from", "7", "--until-caught-up")
    #expect(text.output == "t  3\n  a  n=1\n  b  n=2\n  c  n=3\n")
  }

  // MARK: At random

  static let lists = [
    ["--sort", "n"], [], ["--section-by", "s", "--sort", "n"], ["--sort", "n", "--limit", "3"],
    ["--section-by", "s", "--sort", "$revision:desc"], ["--sort", "s", "--fields", "n"],
    ["--section-by", "s", "--sort", "n:desc", "--limit-per-section", "2", "--where", "n > 1"],
  ]

  static let aggregates = [
    [], ["--aggregate", "sum:n", "--aggregate", "max:n", "--aggregate", "last:n"],
    ["--aggregate", "avg:s", "--aggregate", "count:n"],
  ]

  /// Appends that often write what was there before.
  static func fill(_ store: EventStore, _ random: inout SeededGenerator) async throws {
    for _ in 0..<40 {
      let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        let id = ["a", "b", "é", "e\u{301}", "x"].randomElement(using: &random)!
        if Int.random(in: 0..<5, using: &random) == 0 {
          return NewEvent("$delete", in: StreamName(category: "t", id: id), .null)
        }
        return put(
          id, ["n": .int(.random(in: 1...3, using: &random)), "s": .bool(.random(using: &random)), "z": 0])
      }
      try await store.append(events)
    }
  }

  /// Applies each diff to its list with the program of README, and prints the number of the cases that go wrong.
  private static let script = """
    import json, sys
    sys.path.insert(0, sys.argv[1])
    from apply_changes import apply
    from lists_laws import broken_laws
    wrong = []
    for number, line in enumerate(sys.stdin.buffer):
        old, diff, new = json.loads(line)
        try:
            found = apply(old, diff)
        except (ValueError, LookupError) as problem:
            found = problem
        if json.dumps(found) != json.dumps(new) if isinstance(found, dict) else True:
            wrong.append("case %d: %s" % (number, found))
        wrong += ["case %d: %s" % (number, sentence) for sentence in broken_laws(old, new, diff)]
    print("\\n".join(wrong[:10]), end="")
    """

  @Test(
    .enabled(if: python != nil, "python3 is not installed: nothing independent to apply the changes with"))
  func `every difference turns the list at one point into the list at the other, with its revisions`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var lines: [String] = []
    var withRevisions = 0
    while lines.count < Self.caseCount {
      let folder = try SampleFolder()
      let store = try await folder.open()
      try await Self.fill(store, &random)
      let head = store.head.sequence
      try await store.close()
      let opened = try OpenedStore.open(folder.store)
      let times = TimeText(now: 0, zone: .utc)
      let query = try AggregateOptions.parse(Self.aggregates.randomElement(using: &random)!).added(
        to: ListQuery(
          ListOptions.parse(["--table", "t"] + Self.lists.randomElement(using: &random)!), in: opened,
          times: times))
      let replay = try ListReplay(opened, query, from: 0)
      let points = (0..<12).map { _ in UInt64.random(in: 0...head, using: &random) }.sorted()
      let states = try points.map { point in
        let named = try #require(try PointRange(["0..\(point)"], times: times).to)
        return try replay.state(at: PointResolver(store: opened).resolve(named))
      }
      for _ in 0..<50 {
        let (old, new) = (states.randomElement(using: &random)!, states.randomElement(using: &random)!)
        let diff = DiffJSON(diff: ListComparison(from: old, to: new), fields: query.fields)
        let texts = try [
          Self.text { try ListJSON.write(old, query.fields, to: &$0) }, Self.text { try diff.write(to: &$0) },
          Self.text { try ListJSON.write(new, query.fields, to: &$0) },
        ]
        if texts[1].contains(#""revisions":"#) { withRevisions += 1 }
        lines.append("[\(texts.joined(separator: ","))]")
      }
    }
    #expect(withRevisions > Self.caseCount / 20, "only \(withRevisions) differences name revisions")
    #expect(try Self.wrong(lines) == "")
  }

  static func text(_ body: (inout OutputWriter) throws -> Void) rethrows -> String {
    var writer = OutputWriter()
    try body(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func wrong(_ lines: [String]) throws -> String {
    let folder = try SampleFolder()
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: folder.file("input")))
    let oracle = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Oracle").path
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(python))
    process.arguments = ["-c", script, oracle]
    process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.file("input")))
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: bytes, as: UTF8.self)
  }
}
