// `write`: lines against a model, as one append and as many.

import ArgumentParser
import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
@testable import StrataPast
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite(.serialized)
struct WriteLinesTests {
  /// Applies lines as `write` describes them to dictionaries, and compares the result with what the command prints.
  private static let model = """
    import json, sys
    def merge(target, patch):
        if not isinstance(patch, dict): return patch
        target = dict(target) if isinstance(target, dict) else {}
        for key, value in patch.items():
            if value is None: target.pop(key, None)
            else: target[key] = merge(target.get(key), value)
        return target
    def text(value): return json.dumps(value, sort_keys=True)
    lines, log, *tables = sys.argv[1:]
    rows, events = {}, []
    for line in open(lines, encoding="utf-8"):
        if not line.strip(): continue
        write = json.loads(line)
        kind = next(kind for kind in ("put", "merge", "delete", "append") if kind in write)
        name, data = write[kind], write.get("data")
        events.append([name, write["type"] if kind == "append" else "$" + kind, data, write.get("meta", {})])
        if kind == "append": continue
        table, id = name.split("/", 1)
        table = rows.setdefault(table, {})
        if kind == "put": table[id] = data
        elif kind == "merge": table[id] = merge(table.get(id, {}), data)
        else: table.pop(id, None)
    recorded = [json.loads(line) for line in open(log, encoding="utf-8")]
    recorded = [[e["stream"], e["type"], e["payload"], e["metadata"]] for e in recorded]
    for a, b in zip(events, recorded): assert text(a) == text(b), (a, b)
    assert len(events) == len(recorded), (len(events), len(recorded))
    for name, file in zip(tables[::2], tables[1::2]):
        items = json.load(open(file, encoding="utf-8"))["sections"][0]["items"]
        found = {item["id"]: item["fields"] for item in items}
        assert text(found) == text(rows.get(name, {})), (name, found, rows.get(name))
    print(len(events), sum(len(table) for table in rows.values()))
    """

  @Test(arguments: [[], ["--each", "10"]])
  func `a state that was saved is saved again after many lines, and not after a single write`(more: [String])
    async throws
  {
    let folder = try ImportFolder()
    try folder.write((1...50).map { #"{"put":"t/\#($0)","data":{"n":\#($0)}}"# + "\n" }.joined())
    let outcome = try await LogreplayProcess.shell(
      """
      saved() { "$0" info "$1" -o json | sed 's/.*"checkpoints":\\[\\([^]]*\\).*/\\1/' | grep -o '"sequence":[0-9]*' || echo none; }
      "$0" write "$1" "$2" --create \(more.joined(separator: " ")) >&2; saved "$1"
      "$0" checkpoint "$1" >&2; saved "$1"
      "$0" write "$1" "$2" \(more.joined(separator: " ")) >&2; saved "$1"
      "$0" put "$1" t/1 '{"n":1}' >&2; saved "$1"
      """, folder.store, folder.file("lines.jsonl"))
    #expect(
      outcome.lines == ["none", "\"sequence\":50", "\"sequence\":100", "\"sequence\":100"], "\(outcome)")
  }

  @Test func `a random program of writes makes the rows and events that a model makes`() throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    var all: [String] = []
    for round in 0..<7 {
      let lines = (0..<Int.random(in: 1...30, using: &random)).map { _ in RandomWrite.line(using: &random) }
      all += lines.map(\.json)
      if Bool.random(using: &random) {
        let each = Int.random(in: 1...12, using: &random)
        let text = lines.map { $0.json + ["\n", "\r\n", "\n \n"].randomElement(using: &random)! }.joined()
        let options = Bool.random(using: &random) ? [] : ["--each", String(each), "--id", "round \(round)"]
        try folder.writeText(text, options + ["--create"])
      } else {
        for line in lines { try line.run(in: folder) }
      }
    }
    let lines = try folder.write(all.map { $0 + "\n" }.joined(), to: "all")
    var arguments = ["-c", Self.model, lines]
    func print(_ name: String, _ command: [String]) throws {
      let result = try ImportProcess.run(ImportProcess.command, command + ["--utc"])
      #expect(result.code == 0, "\(result.errors)")
      arguments.append(try folder.write(result.output, to: name))
    }
    try print("log", ["log", folder.store, "-o", "jsonl"])
    for table in RandomWrite.tables {
      arguments.append(table)
      try print("at-\(table)", ["at", folder.store, "--table", table, "-o", "json"])
    }
    let result = try ImportProcess.run("/usr/bin/env", ["python3"] + arguments)
    #expect(result.code == 0, "seed \(seed): \(result.errors.suffix(2000))")
    let counts = result.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    #expect(counts.count == 2 && counts[0] == all.count && counts[1] > 0, "seed \(seed): \(result.output)")
  }

  @Test func `an expected version is that just before the line, in whichever append it is`() throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    var (refused, whole) = (0, 0)
    for _ in 0..<16 {
      let folder = try ImportFolder()
      try folder.writeLines([#"{"append":"a","type":"x"}"#], "--create")
      var versions: [String: UInt64] = ["a": 1]
      // As a model of each line: the stream, and whether its expectation holds if all lines before it are appended.
      var lines: [(json: String, isMet: Bool)] = []
      for _ in 0..<Int.random(in: 1...9, using: &random) {
        let stream = ["a", "b"].randomElement(using: &random)!
        let version = versions[stream, default: 0]
        let wanted = Int.random(in: 0..<12, using: &random)
        let (text, isMet): (String?, Bool) =
          switch wanted {
          case 0: (#""none""#, version == 0)
          case 1: (#""exists""#, version > 0)
          case 2: (#""any""#, true)
          case 3: (String(version + 1), false)
          case 4...8: (String(version), true)
          default: (nil, true)
          }
        lines.append(
          ("{\"append\":\"\(stream)\",\"type\":\"x\"\(text.map { ",\"expecting\":\($0)" } ?? "")}", isMet))
        versions[stream] = version + 1
      }
      let each = [nil, 1, 2, 3].randomElement(using: &random)!
      let size = each ?? lines.count
      var kept = 0
      while kept < lines.count, lines[kept..<min(kept + size, lines.count)].allSatisfy(\.isMet) {
        kept += size
      }
      kept = min(kept, lines.count)
      let options = each.map { ["--each", String($0)] } ?? []
      let text = lines.map { $0.json + "\n" }.joined()
      if kept == lines.count {
        whole += 1
        try folder.writeText(text, options)
      } else {
        refused += 1
        let failure = try folder.failed { try folder.writeText(text, options) }
        #expect(failure.code == 67 || failure.code == 65, "seed \(seed): \(failure)")
        let line = failure.numbers.first { "\($0.name)" == "line" }?.value ?? 0
        #expect(
          line > UInt64(kept) && line <= UInt64(min(kept + size, lines.count)),
          "seed \(seed): \(failure)\n\(text)")
      }
      #expect(try folder.head() == 1 + UInt64(kept), "seed \(seed): \(text)")
    }
    #expect(refused > 0 && whole > 0)
  }

  /// A line, and what the error about it says.
  private static let wrong: [(String, String)] = [
    ("{", "ends inside"), ("[]", "not an object"), ("{}", "none of put"),
    (#"{"put":"t/a","delete":"t/a"}"#, "put and delete"),
    (#"{"put":"t/a"}"#, "no data"), (#"{"put":"t/a","data":1}"#, "not an object"),
    (#"{"put":1,"data":{}}"#, "not a string"),
    (#"{"put":"t","data":{}}"#, "names no row"), (#"{"put":"$views/a","data":{}}"#, "reserved"),
    (#"{"append":"$erasures","type":"x"}"#, "reserved"), (#"{"append":"s","type":"$put"}"#, "reserved"),
    (#"{"append":"s"}"#, "no type"), (#"{"append":"s","type":null}"#, "not a string"),
    (#"{"delete":"t/a","data":null}"#, "no member 'data'"),
    (#"{"put":"t/a","dat":{},"data":{}}"#, "no member 'dat'"),
    (#"{"put":"t/a","data":{},"expectng":1}"#, "did you mean expecting?"),
    (#"{"put":"t/a","data":{},"expecting":-1}"#, "not a version"),
    (#"{"put":"t/a","data":{},"expecting":1.0}"#, "not a version"),
    (#"{"put":"t/a","data":{},"expecting":null}"#, "not a version"),
    (#"{"put":"t/a","data":{},"meta":[]}"#, "not an object"),
    (#"{"put":"t/a","data":{"id":"b"}}"#, "--any-id"), (#"{"put":"t/a","put":"t/b","data":{}}"#, "twice"),
    (#"{"put":"t/a","data":{"n":1e999}}"#, "double cannot hold"),
    (#"{"put":"t/a","data":{"n":9007199254740993.0}}"#, "--round-numbers"),
    (#"{"put":"t/a","data":{"n":"# + String(repeating: #"{"n":"#, count: 100_000), "deeper than 128"),
    (#"{"put":"t/\u0000","data":{}} x"#, "more text"),
  ]

  @Test func `a line that is wrong is named, and nothing is appended, or what comes before its append`()
    throws
  {
    let folder = try ImportFolder()
    let good = (1...4).map { #"{"put":"t/\#($0)","data":{}}"# }
    try folder.writeLines(good, "--create")
    for (line, what) in Self.wrong {
      let lines = good + [line] + good
      let failure = try folder.failed { try folder.writeLines(lines) }
      let said = "\(failure.what) \(failure.next)"
      #expect(
        failure.code == 65 && said.contains(what) && failure.place.hasSuffix("lines:5"),
        "\(line.prefix(60)): \(failure)")
      #expect(failure.text.utf8.count < 1000)
    }
    #expect(try folder.head() == 4)
    let failure = try folder.failed { try folder.writeLines(good + [Self.wrong[0].0] + good, "--each", "3") }
    #expect(
      failure.place.hasSuffix("lines:5") && failure.next.hasSuffix("1 append before is in the store"),
      "\(failure)")
    #expect(try folder.head() == 7)
    let none = try folder.writeText("\n \n")
    #expect(none.lines == 0 && none.first == nil)
  }

  @Test func `what does not fit into one append is refused with its line, and each makes appends of it`()
    throws
  {
    let folder = try ImportFolder()
    let filler = String(repeating: "x", count: 9 << 20)
    let lines = (1...2).map { #"{"put":"t/\#($0)","data":{"x":"\#(filler)"}}"# }
    let failure = try folder.failed { try folder.writeLines(lines, "--create") }
    #expect(
      failure.code == 65 && failure.place.hasSuffix("lines:2") && failure.next.contains("--each"),
      "\(failure)")
    #expect(!FileManager.default.fileExists(atPath: folder.store))
    let report = try folder.writeLines(lines, "--create", "--each", "1")
    #expect(report.appended == 2 && report.lines == 2)
    let large = #"{"put":"t/1","data":{"x":"\#(String(repeating: "x", count: 17 << 20))"}}"#
    let one = try folder.failed { try folder.writeLines([large], "--each", "1") }
    #expect(one.code == 65 && one.what.contains("at most 16777216"), "\(one)")
  }

  @Test func `a write that is killed loses and doubles nothing when it is run again`() throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    let source = try ImportFolder()
    let count = 1200
    let text = (1...count).map { "{\"put\":\"t/\($0 % 7)\",\"data\":{\"n\":\($0)}}\n" }.joined()
    let lines = try source.write(text, to: "lines")
    var resumed = 0
    for round in 0..<4 {
      let folder = try ImportFolder()
      try folder.single("put", ["t/0", "{}"], "--create")
      let each = round % 2 == 0 ? ["--each", "1"] : []
      let arguments = ["write", folder.store, lines, "--id", "night", "-o", "json"] + each
      for _ in 0..<2 {
        try ImportProcess.kill(after: UInt64.random(in: 5_000_000...120_000_000, using: &random), arguments)
        let head = try folder.head()
        #expect(round % 2 == 0 || head == 1 || head == UInt64(count) + 1, "seed \(seed): \(head)")
        if head > 1, head <= UInt64(count) { resumed += 1 }
      }
      let result = try ImportProcess.run(ImportProcess.command, arguments)
      #expect(result.code == 0, "seed \(seed): \(result.errors)")
      #expect(try folder.head() == UInt64(count) + 1, "seed \(seed), round \(round): \(result.output)")
    }
    print("writes that were killed in the middle and went on: \(resumed)")
  }

  @Test func `two writers that expect versions lose no write of each other`() async throws {
    let folder = try ImportFolder()
    try folder.single("append", ["other"], "--type", "x", "--create")
    let loop = """
      v=0; k=0
      while [ $k -lt 5 ]; do
        if out=$("$0" put "$1" counter/x "{\\"n\\":$((v + 1))}" --expecting $v --wait 60s -o json 2>&1); then
          k=$((k + 1)); v=$((v + 1))
        else
          [ $? = 67 ] || { echo "$out"; exit 9; }
          v=$(echo "$out" | sed -n 's/.*"version":\\([0-9]*\\)[,}].*/\\1/p')
        fi
      done
      """
    let store = folder.store
    async let one = LogreplayProcess.shell(loop, store)
    async let two = LogreplayProcess.shell(loop, store)
    for outcome in try await [one, two] { #expect(outcome.code == 0, "\(outcome)") }
    let documents = try await folder.documents().dropFirst().map { $0.json() }
    #expect(documents == (1...10).map { "{\"n\":\($0)}" })
  }
}

/// A random line of `write`, which `put` and the others can write too.
struct RandomWrite {
  static let tables = ["t", "u"]
  var kind: String
  var name: String
  var data: DocumentValue?
  var type: String?
  var meta: DocumentObject?

  static func line(using random: inout SeededGenerator) -> RandomWrite {
    let kind = ["put", "put", "merge", "merge", "delete", "append"].randomElement(using: &random)!
    let row = "\(tables.randomElement(using: &random)!)/\(ids.randomElement(using: &random)!)"
    var line = RandomWrite(
      kind: kind, name: kind == "append" ? "events/\(ids.randomElement(using: &random)!)" : row)
    switch kind {
    case "put", "merge": line.data = .object(object(depth: 3, using: &random))
    case "append":
      line.type = ["opened", "a \"b\"", "\u{0}é"].randomElement(using: &random)!
      line.data = value(depth: 2, using: &random)
    default: break
    }
    if Int.random(in: 0..<4, using: &random) == 0 { line.meta = object(depth: 1, using: &random) }
    return line
  }

  var json: String {
    var object: DocumentObject = [kind: .string(name)]
    object["data"] = data
    object["type"] = type.map { .string($0) }
    object["meta"] = meta.map { .object($0) }
    return DocumentValue.object(object).json()
  }

  /// Writes it by the command of its kind.
  func run(in folder: ImportFolder) throws {
    var arguments = ["--create"]
    if let type { arguments += ["--type", type] }
    for (key, value) in meta ?? [:] { arguments += ["--meta", "\(key)=\(value.json())"] }
    arguments += ["--", folder.store, name] + (data.map { [$0.json()] } ?? [])
    switch kind {
    case "put": _ = try PutCommand.parse(arguments).execute()
    case "merge": _ = try MergeCommand.parse(arguments).execute()
    case "delete": _ = try DeleteCommand.parse(arguments).execute()
    default: _ = try AppendCommand.parse(arguments).execute()
    }
  }

  private static let ids = ["1", "a/b", "é", "x y", "-", "\u{1}", "🙂\"", "0"]
  private static let keys = ["n", "status", "a.b", "", "\u{0}", "é"]

  private static func object(depth: Int, using random: inout SeededGenerator) -> DocumentObject {
    var object = DocumentObject()
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      // A key with = in it, or none, is no key of --meta.
      let key = keys.filter { depth != 1 || !$0.isEmpty }.randomElement(using: &random)!
      object[key] = value(depth: depth - 1, using: &random)
    }
    return object
  }

  private static func value(depth: Int, using random: inout SeededGenerator) -> DocumentValue {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 7), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .int(Int64.random(in: .min ... .max, using: &random))
    case 3: return .double(Double(Int.random(in: -40...40, using: &random)) / 8)
    case 4: return DocumentValue(UInt64.random(in: .min ... .max, using: &random))
    case 5: return .string(["", "x", "\u{0}\n\"\\", "é\u{2028}🙂", "1"].randomElement(using: &random)!)
    case 6: return .int(Int64.random(in: -2...2, using: &random))
    case 7: return .array([.int(1), value(depth: depth - 1, using: &random)])
    default: return .object(object(depth: depth, using: &random))
    }
  }
}
