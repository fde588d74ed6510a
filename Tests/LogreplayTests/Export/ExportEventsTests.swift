// Events out of a store and into another one, as a shell sees it.

import Foundation
import StrataBase
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite(.serialized)
struct ExportEventsTests {
  /// A store of rows, with an erasure.
  private func sample(_ lines: Int = 300) async throws -> ImportFolder {
    let folder = try ImportFolder()
    try folder.write(importedLines(1...lines))
    try await folder.importLines("lines.jsonl", "--time", "time", "--clamp-time")
    let store = try EventStore.openBlocking(at: folder.store)
    try store.eraseBlocking(Erasure(sequences: [3...5], because: "asked to"))
    try store.closeBlocking()
    return folder
  }

  private func names(_ folder: ImportFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test
  func `what is exported and imported has the same chain, the same states, and is known the second time`()
    async throws
  {
    let folder = try await sample()
    let outcome = try await LogreplayProcess.shell(
      """
      cd "$1"
      "$0" export store events.jsonl.gz --events -o json
      "$0" import copy events.jsonl.gz --events -o json
      "$0" import copy events.jsonl.gz --events
      "$0" export copy - --events > again.jsonl
      # The chain is where blocks end, which may be elsewhere in a copy.
      plain() { tail -n +2 | sed 's/,"chain":"[0-9a-f]*"}$/}/'; }
      gzip -dc events.jsonl.gz | plain > one; plain < again.jsonl > two; cmp one two
      for s in store copy; do "$0" replay $s -o json | sed 's/.*"hash"/hash/'; "$0" at $s seq:40 --table t | cksum; done
      "$0" verify copy --deep
      python3 -c 'import json; print(len([json.loads(l) for l in open("again.jsonl")]))'
      """, folder.path)
    #expect(outcome.code == 0, "\(outcome)")
    let lines = outcome.lines
    guard lines.count > 7 else { return }
    #expect(lines[0].hasPrefix(#"{"schema":1,"events":302,"appends":302,"last":302,"bytes":"#), "\(lines[0])")
    #expect(
      lines[1].hasPrefix(#"{"schema":1,"read":302,"appended":302,"known":0,"#)
        && lines[1].hasSuffix(#""events":302,"own":0,"erased":0,"erasedNow":0,"openOrders":0,"same":true}"#),
      "\(lines[1])")
    #expect(lines[2] == "302 appends read, 0 appended, 302 known, 0 skipped, with the same chain")
    #expect(lines[3] == lines[5] && lines[4] == lines[6], "\(lines)")
    #expect(lines.last == "304")
    #expect(
      try names(folder) == ["again.jsonl", "copy", "events.jsonl.gz", "lines.jsonl", "one", "store", "two"])
  }

  @Test func `a file that is there stays, unless it is to be replaced, and then gets the name at the end`()
    async throws
  {
    let folder = try await sample(20)
    let target = try folder.write("mine", to: "out.jsonl")
    let refused = try await LogreplayProcess.run("export", folder.store, target, "--events")
    #expect(refused.code == 73 && refused.errors.contains("--force"), "\(refused)")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
    // An export that fails leaves what is there, too.
    let failed = try await LogreplayProcess.run("export", folder.store, target, "9..5", "--events", "--force")
    #expect(failed.code == 64, "\(failed)")
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
    let replaced = try await LogreplayProcess.run("export", folder.store, target, "--events", "--force")
    #expect(replaced.code == 0, "\(replaced)")
    #expect(
      try String(contentsOfFile: target, encoding: .utf8).hasPrefix(#"{"strata":"events","version":1,"#))
    #expect(try names(folder) == ["lines.jsonl", "out.jsonl", "store"])
  }

  @Test func `fault 123: a reader that has enough is a success, and a disk that is full is not`() async throws
  {
    let folder = try await sample(4_000)
    let outcome = try await LogreplayProcess(
      [
        "-o", "pipefail", "-uc", #""$0" export "$1" - --events | head -n 2 | wc -l"#,
        LogreplayProcess.executable.path, folder.store,
      ],
      program: URL(fileURLWithPath: "/bin/bash")
    ).wait()
    #expect(outcome.code == 0 && outcome.lines == ["2"] && outcome.errors.isEmpty, "\(outcome)")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("full.gz"), withDestinationPath: "/dev/full")
    for target in ["/dev/full", folder.file("full.gz")] {
      let full = try await LogreplayProcess.run("export", folder.store, target, "--events")
      #expect(full.code == 74 && full.errors.contains("the disk is full"), "\(full)")
    }
    let missing = try await LogreplayProcess.run(
      "export", folder.store, folder.file("no/where.jsonl"), "--events")
    #expect(missing.code == 73, "\(missing)")
  }

  @Test
  func
    `fault 123: an export that is killed leaves nothing under the name, and one that is interrupted nothing at all`()
    async throws
  {
    let folder = try await sample(4_000)
    // A pipe in place of a store's reader would not be read: the export stops at a full pipe, and is there to be killed.
    for (signal, left, code) in [
      ("KILL", true, 137), ("INT", false, 130), ("TERM", false, 143), ("HUP", false, 129),
    ] {
      let outcome = try await LogreplayProcess.shell(
        """
        cd "$1"; mkfifo pipe
        printf '#!/bin/sh\\ncat pipe\\n' > gzip; chmod +x gzip
        PATH="$1:$PATH" "$0" export store out.jsonl.gz --events & child=$!
        until ls | grep -q 'out.jsonl.gz-.*tmp'; do :; done
        kill -\(signal) $child; wait $child || echo "code $?"
        : > pipe & ls; rm -f gzip pipe out.jsonl.gz-*; kill $! || true
        """, folder.path)
      #expect(!outcome.lines.contains("out.jsonl.gz"), "\(outcome)")
      #expect(outcome.lines.first == "code \(code)", "\(outcome)")
      #expect(outcome.lines.contains { $0.hasPrefix("out.jsonl.gz-") } == left, "\(signal): \(outcome)")
    }
  }

  @Test func `fault 121: an import of events that is killed at any time goes on where it was`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let folder = try await sample(3_000)
    let lines = folder.file("events.jsonl")
    let export = try await LogreplayProcess.run("export", folder.store, lines, "--events")
    #expect(export.code == 0, "\(export)")
    let chain = try await LogreplayProcess.run("info", folder.store, "-o", "json")
    let began = MonotonicTime.now()
    try ImportProcess.run(ImportProcess.command, ["import", folder.file("whole"), lines, "--events"])
    let whole = UInt64(MonotonicTime.now().nanoseconds - began.nanoseconds)
    for round in 0..<4 {
      let store = folder.file("copy\(round)")
      try ImportProcess.kill(
        after: UInt64.random(in: 0...whole, using: &random), ["import", store, lines, "--events"])
      let result = try ImportProcess.run(
        ImportProcess.command, ["import", store, lines, "--events", "-o", "json"])
      #expect(result.code == 0 && result.output.contains(#""same":true"#), "\(result), seed \(seed)")
      let info = try await LogreplayProcess.run("info", store, "-o", "json")
      func chainOf(_ text: String) -> Substring? {
        text.split(separator: #""chain":""#).dropFirst().first?.prefix(16)
      }
      #expect(chainOf(info.output) == chainOf(chain.output), "\(info.output), seed \(seed)")
    }
  }

  @Test func `import names the command for an export, and a damaged one with its line`() async throws {
    let folder = try await sample(30)
    let lines = folder.file("events.jsonl")
    let export = try await LogreplayProcess.run("export", folder.store, lines, "--events")
    #expect(export.code == 0, "\(export)")
    let other = folder.file("other")
    for more in [[], ["--table", "t", "--id", "id"]] {
      let refused = try ImportProcess.run(ImportProcess.command, ["import", other, lines] + more)
      #expect(refused.code == 64 && refused.errors.contains("import STORE \(lines) --events"), "\(refused)")
    }
    let piped = try ImportProcess.run(
      ImportProcess.command, ["import", other, "-", "--table", "t", "--id", "id"],
      input: Array(try Data(contentsOf: URL(fileURLWithPath: lines))))
    #expect(piped.code == 64 && piped.errors.contains("--events"), "\(piped)")
    #expect(!FileManager.default.fileExists(atPath: other))
    let text = try String(contentsOfFile: lines, encoding: .utf8)
    try folder.write(String(text.dropLast(100)), to: "cut.jsonl")
    let cut = try await folder.failure(of: [folder.file("cut.jsonl"), "--events"])
    #expect(cut.code == 65 && cut.what.contains("cut off"), "\(cut)")
    try folder.write(text.replacingOccurrences(of: "\"n\":17,", with: "\"n\":71,"), to: "changed.jsonl")
    let changed = try ImportProcess.run(
      ImportProcess.command, ["import", other, folder.file("changed.jsonl"), "--events"])
    #expect(changed.code == 65 && changed.errors.contains("are not those that were exported"), "\(changed)")
    #expect(changed.errors.contains("changed.jsonl"), "\(changed)")
  }

  @Test func `chosen events and ranges are exported, and points inside an append are refused`() async throws {
    let folder = try ImportFolder()
    let byHand = """
      {"append":2,"stream":"a/1","type":"x"}
      {"stream":"b/1","type":"y"}
      {"stream":"a/2","type":"y","time":"2020-01-01T00:00:00Z"}
      """
    try folder.write(byHand, to: "hand.jsonl")
    let report = try await folder.run([folder.file("hand.jsonl"), "--events"])
    #expect(report.appended == 2 && report.events?.events.eventsRead == 3)
    #expect(try await folder.appends().map(\.id) == ["hand.jsonl#1", "hand.jsonl#3"])
    func exported(_ arguments: String...) async throws -> [String] {
      let process = try LogreplayProcess(["export", folder.store, "-", "--events"] + arguments)
      let outcome = try await process.wait()
      #expect(outcome.code == 0, "\(outcome)")
      return outcome.lines.dropFirst().dropLast().map {
        String($0.split(separator: #""stream":""#)[1].prefix(3))
      }
    }
    #expect(try await exported() == ["a/1", "b/1", "a/2"])
    #expect(try await exported("--category", "a") == ["a/1", "a/2"])
    #expect(try await exported("--stream", "*/1", "--type", "y") == ["b/1"])
    #expect(try await exported("2..") == ["a/2"])
    let inside = try await LogreplayProcess.run("export", folder.store, "-", "1", "--events")
    #expect(inside.code == 64 && inside.errors.contains("give 0 or 2"), "\(inside)")
    let both = try await LogreplayProcess.run("export", folder.store, "-", "--events", "--table", "a")
    #expect(both.code == 64, "\(both)")
    let form = try await LogreplayProcess.run("export", folder.store, folder.file("x.csv"), "--events")
    #expect(form.code == 64 && form.errors.contains("lines of JSON"), "\(form)")
  }
}
