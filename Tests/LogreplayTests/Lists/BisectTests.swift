// `bisect`: the append that made something true, in one pass and by halves.

import Foundation
import Strata
import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayTables

struct BisectTests {
  /// What `bisect -o json` prints.
  private struct Report: Decodable {
    var table: String
    var first: UInt64?
    var append: [UInt64]?
    var earliest: UInt64?
    var row: String?
    var id: String?
    var begins: Bool?
    var flips: [UInt64]?
  }

  private static func report(_ outcome: LogreplayProcess.Outcome) throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
  }

  @Test func `bisect prints exactly what is promised`() async throws {
    let folder = try await SampleFolder.list()
    #expect(
      try await folder.answer("bisect", "--where", "n == 30", "-o", "json")
        == #"{"schema":1,"table":"incident","first":7,"append":[6,7],"#
        + #""time":"2026-01-01T00:00:04.000000000Z","id":null,"row":"c","begins":false,"flips":[7]}"# + "\n")
    #expect(
      try await folder.answer("bisect", "--where", "status == 'Open'", "--all-flips", "-o", "json")
        == #"{"schema":1,"table":"incident","first":1,"append":[1,1],"#
        + #""time":"2026-01-01T00:00:01.000000000Z","id":null,"row":"a","begins":false,"flips":[1,7]}"# + "\n"
    )
    #expect(
      try await folder.answer("bisect", "--where", "n == 30")
        == """
        append  6…7
        time    2026-01-01 00:00:04.000+00:00
        row     incident/c
        events  2
              6  2026-01-01 00:00:04.000+00:00  incident/b  $delete  null
              7  2026-01-01 00:00:04.000+00:00  incident/c  $put  {"n":30,"status":"Closed"}

        """)
    #expect(
      try await folder.answer("bisect", "--where", "status == 'Open'", "--all-flips")
        == """
              1  2026-01-01 00:00:01.000+00:00  true   incident/a
              7  2026-01-01 00:00:04.000+00:00  false

        """)
  }

  @Test func `where nothing becomes true, the answer is negative`() async throws {
    let folder = try await SampleFolder.list()
    let none = try await LogreplayProcess.run("bisect", folder.store, "--where", "n > 99", "-o", "json")
    #expect(none.code == 1)
    #expect(
      none.output == #"{"schema":1,"table":"incident","first":null,"append":null,"time":null,"id":null,"#
        + #""row":null,"begins":false,"flips":[]}"# + "\n")
    #expect(none.errors == "no append after seq 0 up to seq 8 made it true\n")
    let unknown = try await LogreplayProcess.run("bisect", folder.store, "--where", "stat == 'Open'")
    #expect(unknown.code == 1 && unknown.errors.contains("no row has a field stat"), "\(unknown)")
  }

  @Test(arguments: [
    (["--where", "n == 1"], ["--good", "4"], 64, "the list has items at seq 4 already"),
    (["--where", "n == 1"], ["--good", "3"], 64, "give 1, before that append, or 4, after it"),
    (["--where", "n == 1"], ["--bad", "6"], 64, "seq 6 is inside one"),
    (
      ["--where", "n == 1"], ["--good", "7", "--bad", "4"], 64, "there is no append after seq 7 up to seq 4"
    ),
    (["--where", "n == 1"], ["--bad", "99"], 66, "seq 99 is not in the log"),
    (["--where", "n == 1"], ["-o", "csv"], 64, "no output as csv"),
    (["--where", "n == 1"], ["--sort", "n"], 64, "--sort says how a list is shown"),
    (["--where", "n == 1"], ["--run"], 64, "a program is missing"),
    ([], ["--run", ""], 64, "the name of the program is empty"),
    ([], ["--limit-per-section", "0", "--run", "true"], 64, "a list are shown item by item"),
    (["--where", "n =="], [], 64, "the filter has an error"),
    ([], [], 64, "it is not said what should be true"),
    (["--all-flips"], ["--run", "true"], 64, "sees few of the changes"),
    ([], ["--run", "/no/such/program"], 64, "cannot start the program"),
    ([], ["--run", "grep -q x"], 64, "give the program and its arguments as words of their own: grep -q x"),
    ([], ["--run", "false"], 1, "calls seq 0 bad, which is --good"),
    ([], ["--run", "true"], 1, "calls seq 8 good, which is --bad"),
    ([], ["--run", "sh", "-c", "exit 125"], 1, "cannot judge seq 0, which is --good"),
    ([], ["--run", "sh", "-c", "exit 126"], 74, "the program ended with 126 at seq 0"),
    ([], ["--run", "sh", "-c", "kill -9 $$"], 74, "the program was ended by signal 9"),
  ])
  func `what cannot be searched says why`(
    list: [String], range: [String], code: Int32, what: String
  ) async throws {
    let folder = try await SampleFolder.list()
    let arguments = ["bisect", folder.store, "--table", "incident"] + list + range
    let outcome = try await LogreplayProcess(arguments).wait()
    #expect(outcome.code == code && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains(what), "\(outcome.errors)")
  }

  @Test func `of an append of many events those of the row are shown`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    try await store.append((1...30).map { NewEvent("$put", in: "t/\($0)", ["n": .int(Int64($0))]) })
    try await store.close()
    let lines = try await folder.answer("bisect", "--where", "n == 25", "--section-by", "n").split(
      separator: "\n")
    #expect(lines.count == 4 + 11 + 1 && lines[14].contains("t/25"), "\(lines)")
    #expect(lines[15] == "and more: logreplay log '\(folder.store)' 0..30")
    let log = try await LogreplayProcess.shell("$(dirname \"$0\")/" + lines[15].dropFirst("and more: ".count))
    #expect(log.lines.count == 30, "\(log)")
  }

  @Test func `an empty store has nothing to look at`() async throws {
    let folder = try SampleFolder()
    try await folder.open().close()
    let outcome = try await LogreplayProcess.run("bisect", folder.store, "--where", "n == 1")
    #expect(outcome.code == 66 && outcome.errors.contains("there is no append to look at"), "\(outcome)")
  }

  @Test func `a program reads what at prints, and what it prints is on standard error`() async throws {
    let folder = try await SampleFolder.list()
    // It ends the search where the list is another one than that of `at`, or the time is.
    let script = """
      cat >"$1.stdin"
      "$2" at "$1" "$LOGREPLAY_SEQ" --sort n:desc --fields n -o jsonl >"$1.at"
      cmp -s "$1.stdin" "$1.at" || exit 126
      if [ "$LOGREPLAY_SEQ" != 0 ]; then
        "$2" at "$1" "$LOGREPLAY_SEQ" -o json | grep -q "\\"time\\":\\"$LOGREPLAY_TIME\\"" || exit 126
      fi
      echo "asked at $LOGREPLAY_SEQ"
      ! grep -q '"n":30' "$1.stdin"
      """
    let outcome = try await LogreplayProcess.run(
      "bisect", folder.store, "--sort", "n:desc", "--fields", "n", "-o", "json", "--run", "sh", "-c", script,
      "sh", folder.store, LogreplayProcess.executable.path)
    #expect(outcome.code == 0, "\(outcome)")
    let report = try Self.report(outcome)
    #expect(
      report.table == "incident" && report.first == 7 && report.append == [6, 7] && report.flips == nil)
    #expect(outcome.errors.contains("asked at 0\n") && outcome.errors.contains("seq 7 is bad\n"))
  }

  @Test func `a program that does not read its input, or asks for signs, is run as it is`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    // More than a pipe holds.
    for number in 0..<40 {
      let text = String(repeating: "x", count: 10_000)
      try await store.append([NewEvent("$put", in: "t/\(number)", ["text": .string(text)])])
    }
    try await store.close()
    let outcome = try await LogreplayProcess.run(
      "bisect", folder.store, "-o", "json", "--run", "sh", "-c",
      #"[ "$1" = -2h ] && [ $LOGREPLAY_SEQ -lt 23 ]"#,
      "sh", "-2h", "-o", "table", "--help")
    #expect(try Self.report(outcome).first == 23, "\(outcome)")
    #expect(outcome.errors.split(separator: "\n").count <= 9, "by halves: \(outcome.errors)")
  }

  @Test func `a program fails also where the parent ignores ends of children`() async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess.shell(
      """
      trap '' CHLD
      "$0" bisect "$1" --table incident --run false || echo $?
      """, folder.store)
    #expect(outcome.lines == ["1"] && outcome.errors.contains("calls seq 0 bad"), "\(outcome)")
  }

  @Test func `of a damaged store the damage is said, and not that nothing was found`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for number in Int64(1)...200 {
      try await store.append([NewEvent("$put", in: "t/\(number)", ["n": .int(number)])])
    }
    try await store.close()
    let path = try #require(
      FileManager.default.enumerator(atPath: "\(folder.store)/log")?.allObjects.first as? String)
    let file = URL(fileURLWithPath: "\(folder.store)/log/\(path)")
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count / 2] ^= 0xFF
    try bytes.write(to: file)
    for program in [["--run", "true"], ["--where", "n == 200"], ["--good", "head", "--run", "true"]] {
      let outcome = try await LogreplayProcess(["bisect", folder.store] + program).wait()
      #expect(outcome.code == 65, "\(outcome)")
    }
  }

  @Test func `appends that cannot be judged are said to be possible`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for number in 1...20 { try await store.append([NewEvent("$put", in: "t/\(number)", ["n": 1])]) }
    try await store.close()
    let script =
      "[ $LOGREPLAY_SEQ -ge 8 ] && [ $LOGREPLAY_SEQ -le 11 ] && exit 125; [ $LOGREPLAY_SEQ -lt 10 ]"
    let json = try await LogreplayProcess.run(
      "bisect", folder.store, "-o", "json", "--run", "sh", "-c", script)
    #expect(json.code == 3)
    let report = try Self.report(json)
    #expect(report.first == 12 && report.earliest == 8)
    let text = try await LogreplayProcess.run("bisect", folder.store, "--run", "sh", "-c", script)
    #expect(text.code == 3 && text.output.contains("or any in  8…12\n"), "\(text)")
  }

  @Test func `rows that a list cannot show are said, and make the code 3`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    try await store.append([NewEvent("$put", in: "t/a", ["n": [1]])])
    try await store.append([NewEvent("$put", in: "t/b", ["n": 2])])
    try await store.close()
    let outcome = try await LogreplayProcess.run(
      "bisect", folder.store, "--sort", "n", "-o", "json", "--run", "sh", "-c", "! grep -q b")
    #expect(outcome.code == 3 && outcome.errors.contains("1 row is left out"), "\(outcome)")
    #expect(try Self.report(outcome).first == 2)
  }

  @Test func `in random stores the flips are those of a model, and the first is found in any range`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (flipCount, found) = (0, 0)
    for _ in 0..<16 {
      let folder = try SampleFolder()
      let store = try await folder.open(segmentSize: 4_096)
      var rows: [Int: Int64] = [:]
      // What matches once matches from then on.
      let isGrowing = Bool.random(using: &random)
      // The end of each append, and whether a row matches then.
      var states: [(end: UInt64, isTrue: Bool)] = [(0, false)]
      for _ in 0..<Int.random(in: 5...60, using: &random) {
        let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in
          let id = isGrowing ? rows.count : Int.random(in: 0..<4, using: &random)
          let stream = StreamName(category: "t", id: "\(id)")
          guard isGrowing || rows.isEmpty || Int.random(in: 0..<4, using: &random) > 0 else {
            rows[id] = nil
            return NewEvent("$delete", in: stream, .null)
          }
          let number = Int64.random(in: 0..<(isGrowing ? 7 : 9), using: &random)
          rows[id] = number
          return NewEvent("$put", in: stream, ["n": .int(number)])
        }
        try await store.append(events)
        states.append((store.head.sequence, rows.values.contains { $0 >= 6 }))
      }
      try await store.close()
      let begins = isGrowing ? 0..<1 : 0..<states.count - 1
      let (first, last) = (Int.random(in: begins, using: &random), states.count - 1)
      let range = states[first...last]
      var expected: [UInt64] = []
      for (old, new) in zip(range, range.dropFirst()) where old.isTrue != new.isTrue {
        expected.append(new.end)
      }
      let options = [
        "bisect", folder.store, "--good", "\(states[first].end)", "--bad", "\(states[last].end)", "--table",
        "t", "--where", "n >= 6", "-o", "json",
      ]
      let all = try await LogreplayProcess(options + ["--all-flips"]).wait()
      let report = try Self.report(all)
      #expect(report.flips == expected && report.begins == states[first].isTrue, "\(all)")
      #expect(all.code == (expected.isEmpty ? 1 : 0))
      flipCount += expected.count
      guard !states[first].isTrue else { continue }
      let one = try await LogreplayProcess(options).wait()
      #expect(
        try Self.report(one).first == expected.first && one.code == (expected.isEmpty ? 1 : 0), "\(one)")
      // Of what stays true, halves find the same.
      guard let firstTrue = expected.first, range.drop(while: { !$0.isTrue }).allSatisfy(\.isTrue) else {
        continue
      }
      found += 1
      let halves = try await LogreplayProcess(options + ["--run", "sh", "-c", "! grep -q ."]).wait()
      #expect(try Self.report(halves).first == firstTrue, "\(halves)")
    }
    print("flips: \(flipCount), by halves \(found)")
    #expect(flipCount > 8 && found > 0)
  }

  @Test func `git finds the same commits in the same history`() async throws {
    let folder = try SampleFolder()
    let script = #"""
      cd "$1"; export HOME="$1" GIT_CONFIG_NOSYSTEM=1
      git init -q repository; cd repository
      git config user.name a; git config user.email a@example.org
      for n in $(seq 1 30); do
        echo $n >file$n; [ $((n % 4)) != 0 ] || git rm -q --cached file$((n / 4))
        git add file$n; git commit -q --allow-empty -m $n
      done
      "$0" import ../store . --format git >/dev/null 2>&1
      first=$(git rev-list --max-parents=0 HEAD)
      git stash -q -u
      git bisect start HEAD "$first" >/dev/null 2>&1
      git bisect run sh -c 'test $(git ls-files | wc -l) -lt 17' | sed -n 's/ is the first bad commit$//p'
      "$0" bisect ../store --good "id:$first" --run sh -c 'test $(wc -l) -lt 17' 2>/dev/null |
        sed -n 's/^id *//p'
      git bisect reset >/dev/null 2>&1
      for name in file1 file11 file30; do
        git log --format=%H --diff-filter=A --reverse -- $name | head -n 1
        "$0" bisect ../store --where "name == '$name'" | sed -n 's/^id *//p'
      done
      """#
    let outcome = try await LogreplayProcess.shell(script, folder.path)
    let lines = outcome.lines
    try #require(outcome.code == 0 && lines.count == 8, "\(outcome)")
    for index in stride(from: 0, to: 8, by: 2) {
      #expect(lines[index].count == 40 && lines[index] == lines[index + 1], "\(outcome)")
    }
  }

  @Test func `a search by halves ends at a bad number after a good one, or after skipped ones`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<2_000 {
      let count = UInt64.random(in: 1...200, using: &random)
      let firstBad = UInt64.random(in: 1...count, using: &random)
      let skips = Bool.random(using: &random)
      let skipped = Set((1..<count + 1).filter { _ in skips && Int.random(in: 0..<3, using: &random) == 0 })
      var search = HalvingSearch(good: 0, bad: count)
      var asked: Set<UInt64> = []
      while let next = search.next {
        #expect(asked.insert(next).inserted, "\(next) is asked about twice")
        search.note(skipped.contains(next) ? .skipped : next < firstBad ? .good : .bad, of: next)
      }
      #expect(search.good < firstBad && search.bad >= firstBad)
      #expect((search.good + 1..<search.bad).allSatisfy(skipped.contains), "what was not looked at is left")
      // What is skipped moves the middle.
      let judged = asked.subtracting(skipped).count
      #expect(judged <= (skips ? 16 : 8), "\(judged) of \(count)")
    }
  }
}
