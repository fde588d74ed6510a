// `checkpoint --history`, `log --row` and `info`: a history is said to be there, and changes no answer.

import Foundation
import Strata
import StrataDocuments
import Testing

struct HistoryCommandTests {
  private static func runs(_ folder: SampleFolder) throws -> [String] {
    let path = "\(folder.store)/derived/history/$documents-1"
    return try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".run") }
  }

  /// What commands say of the past of the store.
  private static func answers(_ folder: SampleFolder) async throws -> [String] {
    let (list, formats) = (["--table", "incident", "-o", "json"], ["json", "jsonl", "short"])
    var asked = [
      ["at", "3"] + list, ["at", "7"] + list, ["diff", "1..8"] + list, ["diff", "4..1"] + list,
    ]
    for (row, format) in zip(["incident/a", "incident/b", "incident/c"], formats) {
      asked.append(["log", "--row", row, "-p", "-o", format])
      asked.append(["log", "--row", row, "-o", format])
    }
    var answers: [String] = []
    for words in asked {
      let outcome = try await LogreplayProcess([words[0], folder.store] + words.dropFirst()).wait()
      #expect(outcome.code == 0, "\(words): \(outcome.errors)")
      answers.append(outcome.output)
    }
    return answers
  }

  @Test func `a history is made by a checkpoint, is listed, and changes no answer`() async throws {
    let folder = try await SampleFolder.list()
    let before = try await Self.answers(folder)
    let made = try DocumentValue(json: try await folder.answer("checkpoint", "--history", "-o", "json"))
    guard case .array(let histories)? = made["histories"], histories.count == 1 else {
      Issue.record("\(made)")
      return
    }
    #expect(histories[0]["projection"] == "$documents" && histories[0]["sequence"] == 8)
    #expect(histories[0]["runs"] == 1)
    #expect(try Self.runs(folder).count == 1)
    #expect(try await Self.answers(folder) == before)
    let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    guard case .array(let listed)? = info["histories"], listed.count == 1 else {
      Issue.record("\(info)")
      return
    }
    #expect(listed[0]["name"] == "$documents-1" && listed[0]["version"] == 1 && listed[0]["lag"] == 0)
    #expect(
      listed[0]["sequence"] == 8 && listed[0]["runs"] == 1 && listed[0]["bytes"] == histories[0]["bytes"])
    #expect(try await folder.answer("info").contains("history         $documents-1: up to seq 8, 1 run, "))
    #expect(try await folder.answer("verify", "--deep").hasPrefix("ok"))
  }

  @Test func `an application continues the history that the command made, and the other way round`()
    async throws
  {
    let folder = try await SampleFolder.list()
    #expect(try await folder.answer("checkpoint", "--history").contains("$documents: history up to seq 8, "))
    var options = StoreOptions()
    options.history = .all
    let store = try await EventStore.open(at: folder.store, options: options)
    try await store.append([NewEvent("$merge", in: "incident/a", ["n": 7])])
    #expect(try await store.documents("incident").history(of: "a").map(\.sequence) == [1, 5, 9])
    #expect(store.projections.map(\.historySequence) == [8])
    try await store.close()
    // The close writes the last event if the history has come that far by then.
    let info = try await folder.answer("info")
    let possible = ["up to seq 8, 1 event behind, 1 run, ", "up to seq 9, 2 runs, "]
    #expect(possible.contains { info.contains($0) }, "\(info)")
    #expect(try await folder.answer("checkpoint", "--history").contains("history up to seq 9, "))
    #expect(try Self.runs(folder).count == 2)
    // Without the option nothing is added to it, and it stays.
    #expect(!(try await folder.answer("checkpoint").contains("history")))
    #expect(try Self.runs(folder).count == 2)
    #expect(
      try await folder.answer("log", "--row", "incident/a", "-o", "csv").split(separator: "\n").count == 4)
    let plain = try await EventStore.open(at: folder.store)
    try await plain.append([NewEvent("$merge", in: "incident/a", ["n": 8])])
    try await plain.close()
    #expect(try await folder.answer("info").contains("up to seq 9, 1 event behind, 2 runs, "))
  }

  @Test func `a checkpoint keeps the last part of a history if asked to, which changes no answer`()
    async throws
  {
    let folder = try await SampleFolder.list()
    #expect(try await folder.answer("checkpoint", "--history").contains("$documents: history up to seq 8, "))
    let store = try await EventStore.open(at: folder.store)
    for number in 0..<3 {
      try await store.append([NewEvent("$merge", in: "incident/a", ["n": .int(Int64(number))])])
    }
    try await store.close()
    let before = try await Self.answers(folder)
    #expect(
      try await folder.answer("checkpoint", "--history", "--last-days", "1000").contains(
        "history up to seq 11, "))
    #expect(try Self.runs(folder).count == 2)
    let kept = try await folder.answer("checkpoint", "--history", "--last-bytes", "1")
    #expect(kept.contains("$documents: history from seq 9 up to seq 11, "), "\(kept)")
    #expect(try Self.runs(folder).count == 1)
    #expect(try await Self.answers(folder) == before)
    #expect(
      try await folder.answer("info").contains(
        "history         $documents-1: from seq 9 up to seq 11, 1 run, "))
    let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    guard case .array(let listed)? = info["histories"] else {
      Issue.record("\(info)")
      return
    }
    #expect(listed.map { $0["from"] } == [9])
    // Without a bound it goes on where it is, and nothing is made again.
    let made = try DocumentValue(json: try await folder.answer("checkpoint", "--history", "-o", "json"))
    guard case .array(let histories)? = made["histories"] else {
      Issue.record("\(made)")
      return
    }
    #expect(histories.map { $0["from"] } == [9] && histories.map { $0["sequence"] } == [11])
    for words in [
      ["--last-days", "1"], ["--history", "--last-days", "0"], ["--history", "--last-bytes", "x"],
    ] {
      #expect(try await LogreplayProcess(["checkpoint", folder.store] + words).wait().code == 64, "\(words)")
    }
  }

  @Test func `the lists that are kept are in the history, are listed, and their keys are dumped`()
    async throws
  {
    let folder = try await SampleFolder.list()
    let keep = ["--table", "incident", "--section-by", "status", "--sort", "n:desc"]
    func shown() async throws -> [String] {
      var shown: [String] = []
      for point in [1, 4, 5, 7, 8] {
        shown.append(try await folder.answer("at", "\(point)", "--view", "by status", "-o", "json"))
      }
      return shown
    }
    #expect(try await LogreplayProcess(["keep", folder.store, "by status"] + keep).wait().code == 0)
    let before = try await shown()
    let made = try DocumentValue(json: try await folder.answer("checkpoint", "--history", "-o", "json"))
    let list: DocumentValue = ["table": "incident", "name": "by status", "from": 1]
    guard case .array(let histories)? = made["histories"] else {
      Issue.record("\(made)")
      return
    }
    #expect(histories.first?["lists"] == .array([list]))
    #expect(try await shown() == before)
    let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    #expect(info["historyLists"] == .array([list]))
    let text = "history         list 'by status' of incident: in the history from seq 1 on\n"
    #expect(try await folder.answer("info").contains(text))
    let dump = try await LogreplayProcess([
      "dump", folder.store, "--history", "$documents-1", "--run", "1", "-o", "jsonl",
    ]).wait()
    #expect(dump.code == 0, "\(dump.errors)")
    let sets = try dump.output.split(separator: "\n").map { try DocumentValue(json: Array($0.utf8)) }
      .filter { $0["kind"] == "keys" }
    #expect(sets.map { $0["of"] } == ["rows", "refused", "items", "unplaced"], "\(sets)")
    #expect(sets.map { $0["keys"] } == [6, 0, 6, 0], "\(sets)")
  }

  @Test func `damage to a history changes no answer`() async throws {
    let folder = try await SampleFolder.list()
    let before = try await Self.answers(folder)
    _ = try await folder.answer("checkpoint", "--history")
    let path = "\(folder.store)/derived/history/$documents-1/\(try #require(Self.runs(folder).first))"
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    bytes[60] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    #expect(try await Self.answers(folder) == before)
    try FileManager.default.removeItem(atPath: path)
    #expect(try await Self.answers(folder) == before)
    #expect(try await folder.answer("checkpoint", "--history").contains("history up to seq 8, "))
    #expect(try await Self.answers(folder) == before)
  }

  @Test
  func `fault 84: with -v the commands say when a lost part of the history was replayed`() async throws {
    let folder = try await SampleFolder.list()
    let store = try await folder.open()
    for append in 0..<12 {
      try await store.append(
        (0..<50).map {
          NewEvent("$put", in: "incident/\(append) \($0)", ["n": .int($0), "status": .string("s\($0 % 7)")])
        })
    }
    try await store.close()
    _ = try await folder.answer(
      "keep", "by status", "--table", "incident", "--section-by", "status", "--sort", "n")
    _ = try await folder.answer("checkpoint", "--history")
    let path = "\(folder.store)/derived/history/$documents-1/\(try #require(Self.runs(folder).first))"
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func said(_ words: [String]) async throws -> (answer: String, errors: String) {
      let outcome = try await LogreplayProcess(
        [words[0], folder.store] + words.dropFirst() + ["--view", "by status", "-v", "-o", "json"]
      ).wait()
      return (outcome.output, outcome.errors)
    }
    let read = "logreplay: read from the history, no event replayed\n"
    // A list at the end of an append, and what changed from one to another. A state that has lost a page folds from the start.
    for (words, count) in [(["at", "408"], 408), (["diff", "358..458"], 458)] {
      let expected = try await said(words)
      #expect(expected.errors == read, "\(words)")
      var met: Set<String> = []
      for offset in stride(from: 7, to: whole.count, by: max(1, whole.count / 30)) {
        var bytes = whole
        bytes[offset] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let outcome = try await said(words)
        #expect(outcome.answer == expected.answer, "\(words), byte \(offset)")
        met.insert(outcome.errors)
      }
      try Data(whole).write(to: URL(fileURLWithPath: path))
      #expect(met.contains { $0.contains("of which a part was lost; \(count) events replayed") }, "\(met)")
    }
  }

  @Test func `with -v the commands say whether the past was read or replayed`() async throws {
    let folder = try await SampleFolder.list()
    func said(_ arguments: String...) async throws -> String {
      let words = [arguments[0], folder.store] + arguments.dropFirst() + ["-v", "--table", "incident"]
      return try await LogreplayProcess(words).wait().errors
    }
    #expect(try await said("at", "5") == "logreplay: 5 events replayed, no history read\n")
    _ = try await folder.answer("checkpoint", "--history")
    #expect(try await said("at", "5") == "logreplay: read from the history, no event replayed\n")
    #expect(try await said("diff", "1..7") == "logreplay: read from the history, no event replayed\n")
    #expect(try await said("at", "8") == "logreplay: read from the saved tables, no event replayed\n")
    let store = try await folder.open()
    try await store.append([NewEvent("$merge", in: "incident/a", ["n": 7])])
    try await store.append([NewEvent("$merge", in: "incident/a", ["n": 8])])
    try await store.close()
    try FileManager.default.removeItem(atPath: "\(folder.store)/derived/state")
    #expect(
      try await said("diff", "5..10")
        == "logreplay: read from the history, and 2 events after its end replayed\n")
  }

  // MARK: log --row

  @Test func `with -v the versions of a row are said to be read or replayed`() async throws {
    let folder = try await SampleFolder.list()
    func said() async throws -> String {
      try await LogreplayProcess(["log", folder.store, "--row", "incident/a", "-v"]).wait().errors
    }
    #expect(try await said() == "logreplay: 2 events replayed, no history read\n")
    _ = try await folder.answer("checkpoint", "--history")
    #expect(try await said() == "logreplay: read from the history, no event replayed\n")
    let store = try await folder.open()
    try await store.append([NewEvent("$merge", in: "incident/a", ["n": 7])])
    try await store.append([NewEvent("$merge", in: "incident/b", ["n": 8])])
    try await store.close()
    // The other event is not of the row.
    #expect(try await said() == "logreplay: read from the history, and 1 event after its end replayed\n")
    let refused = try await LogreplayProcess(["log", folder.store, "-v"]).wait()
    #expect(refused.code == 64 && refused.errors.contains("no row is given"), "\(refused)")
  }

  @Test func `log shows the versions of a row, and what each event changed`() async throws {
    let folder = try await SampleFolder.list()
    for isKept in [false, true] {
      if isKept { _ = try await folder.answer("checkpoint", "--history") }
      let text = try await LogreplayProcess.run("log", folder.store, "--row", "incident/a", "-p", "--utc")
        .lines
      #expect(text.count == 11, "\(text)")
      #expect(text[0].hasPrefix("      1  ") && text[0].hasSuffix("  incident/a  $put"))
      #expect(
        text[1...3].map { $0.drop { $0 == " " } } == [
          #"+impact: {"level":"High"}"#, "+n: 1", #"+status: "Open""#,
        ])
      #expect(text[4].hasPrefix("      5  ") && text[4].hasSuffix("  incident/a  $merge"))
      #expect(text[5...6].map { $0.drop { $0 == " " } } == [#"-status: "Open""#, #"+status: "Closed""#])
      #expect(text[7] == "incident/a has" && text[8].hasPrefix(#"  impact: {"level":"High"}  since 1  "#))
      #expect(text[9].hasPrefix("  n: 1  since 1  "))
      let gone = try await folder.answer("log", "--row", "incident/b", "-p")
      #expect(gone.contains("\n         no row\n") && !gone.contains(" has\n"), "\(gone)")
      let value = try DocumentValue(
        json: try await folder.answer("log", "--row", "incident/c", "-p", "-o", "json"))
      #expect(value["table"] == "incident" && value["id"] == "c")
      guard case .array(let versions)? = value["versions"], versions.count == 2 else {
        Issue.record("\(value)")
        return
      }
      #expect(versions[1]["sequence"] == 7 && versions[1]["type"] == "$put" && versions[1]["exists"] == true)
      #expect(versions[1]["changes"] == ["n": ["old": 3, "new": 30], "note": ["old": "x, \"y\"\nz"]])
      #expect(value["fields"]?["n"]?["sequence"] == 7 && value["fields"]?["status"]?["sequence"] == 3)
      #expect(value["fields"]?["n"]?["value"] == 30 && value["fields"]?["note"] == nil)
    }
  }

  @Test func `a range, -n and -r choose versions, and the fields are those at its end`() async throws {
    let folder = try await SampleFolder.list()
    func sequences(_ arguments: String...) async throws -> [DocumentValue?] {
      let outcome = try await LogreplayProcess(
        ["log", folder.store] + arguments + ["--row", "incident/a", "-o", "jsonl"]
      ).wait()
      #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
      return try outcome.lines.map { try DocumentValue(json: $0)["sequence"] }
    }
    #expect(try await sequences() == [1, 5])
    #expect(try await sequences("..4") == [1])
    #expect(try await sequences("1..") == [5])
    #expect(try await sequences("-n", "1") == [5])
    #expect(try await sequences("-r") == [5, 1])
    #expect(try await sequences("-r", "--count", "1") == [5])
    #expect(try await sequences("5..8") == [])
    let then = try await folder.answer("log", "..4", "--row", "incident/a", "-p")
    #expect(then.contains(#"  status: "Open"  since 1  "#), "\(then)")
    let lines = try await folder.answer("log", "1..", "--row", "incident/a", "-p", "-o", "jsonl")
      .split(separator: "\n")
    #expect(lines.count == 2)
    #expect(
      try DocumentValue(json: String(lines[0]))["changes"]?["status"] == ["old": "Open", "new": "Closed"])
    #expect(try DocumentValue(json: String(lines[1]))["fields"]?["status"]?["type"] == "$merge")
  }

  @Test(arguments: [
    (["--row", "incident/x"], Int32(66), "there never was a row incident/x"),
    (["--row", "nothing/x"], 66, "there is no table 'nothing'"), (["--row", "incident"], 64, "is not a row"),
    (["--row", "/x"], 64, "is not a row"), (["-p"], 64, "no row is given"),
    (["--row", "incident/a", "-p", "-o", "csv"], 64, "-o csv"), (["--row", "incident/a", "-f"], 64, "-f"),
    (["--row", "incident/a", "--type", "$put"], 64, "choose events"),
  ])
  func `a row that never was, and options that do not fit, are refused`(
    _ arguments: [String], _ code: Int32, _ what: String
  ) async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess(["log", folder.store] + arguments).wait()
    #expect(outcome.code == code && outcome.errors.contains(what), "\(outcome.code): \(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }
}

extension HistoryCommandTests {
  @Test func `the versions of a row with an empty id are those of both its streams`() async throws {
    let folder = try await SampleFolder.list()
    let store = try await EventStore.open(at: folder.store)
    try await store.append([NewEvent("$put", in: "note", ["n": 1])])
    let first = store.head.sequence
    try await store.append([NewEvent("$put", in: "note/", ["n": 2])])
    try await store.close()
    let lines = try await folder.answer("log", "--row", "note/", "-o", "jsonl").split(separator: "\n")
    let sequences = try lines.map { try DocumentValue(json: String($0))["sequence"] }
    #expect(sequences == [DocumentValue(first), DocumentValue(first + 1)])
    for stream in ["note", "note/"] {
      _ = try await folder.answer("erase", "--stream", stream, "--reason", "x", "--yes")
    }
    let erased = try await LogreplayProcess(["log", folder.store, "--row", "note/"]).wait()
    #expect(erased.code == 66 && erased.errors.contains("were erased, by the order at seq"), "\(erased)")
  }

  @Test func `dump shows a history and its runs, and says what is wrong with damaged ones`() async throws {
    let folder = try await SampleFolder.list()
    let words = ["dump", folder.store, "--history", "$documents-1"]
    let none = try await LogreplayProcess(words).wait()
    #expect(none.code == 66 && none.errors.contains("logreplay checkpoint --history keeps one"))
    _ = try await folder.answer("checkpoint", "--history")
    let shown = try await LogreplayProcess(words + ["-o", "jsonl"]).wait()
    let lines = try shown.lines.map { try DocumentValue(json: $0) }
    #expect(shown.code == 0 && lines.map { $0["kind"] } == ["manifest", "run"])
    #expect(lines[1]["first"] == 1 && lines[1]["last"] == 8 && lines[1]["number"] == 1)
    let run = try await LogreplayProcess(words + ["--run", "1", "-o", "jsonl"]).wait()
    let held = try run.lines.map { try DocumentValue(json: $0) }
    #expect(run.code == 0 && held.first?["kind"] == "delta" && held.first?["last"] == 8)
    #expect(held.filter { $0["kind"] == "event" }.count == 8)
    #expect(.int(Int64(held.filter { $0["kind"] == "version" }.count)) == held[0]["versions"])
    let text = try await LogreplayProcess(words + ["--run", "1", "--hex"]).wait()
    #expect(text.output.contains("incident") && text.output.contains("created by seq 1"))
    #expect(text.output.contains("00000000  "))
    for (more, code) in [(["--run", "9"], 66), (["--segment", "1"], 64)] as [([String], Int32)] {
      #expect(try await LogreplayProcess(words + more).wait().code == code)
    }
    #expect(try await LogreplayProcess(["dump", folder.store, "--run", "1"]).wait().code == 64)
    for name in [try Self.runs(folder)[0], "MANIFEST"] {
      let path = "\(folder.store)/derived/history/$documents-1/\(name)"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      bytes[bytes.count - 3] ^= 1
      try bytes.write(to: URL(fileURLWithPath: path))
      let damaged = try await LogreplayProcess(words + ["--run", "1"]).wait()
      #expect(damaged.code == 65 && damaged.errors.contains("derived/history/$documents-1/\(name)"))
    }
  }
}

extension HistoryCommandTests {
  @Test func `a list of rows with long keys is the same from a history, from saved tables and replayed`()
    async throws
  {
    let folder = try await SampleFolder.list()
    let store = try await folder.open()
    let long = String(repeating: "m", count: 40_000)
    func put(_ id: String, _ status: String, _ note: String) -> NewEvent {
      NewEvent(
        "$put", in: StreamName(category: "incident", id: id),
        ["status": .string(status), "note": .string(note)])
    }
    for (id, status, note) in [
      ("e", long + "a", long), ("f", long + "b", long + "b"), ("a", "Open", long + "c"),
      ("e", long + "b", "m"),
      ("f", "Open", long), ("a", "Open", "x"), ("g", long, long), ("c", "Closed", long),
    ] {
      try await store.append([put(id, status, note)])
    }
    try await store.append([NewEvent("$delete", in: "incident/g", .null)])
    try await store.close()
    let last = 17
    func shown() async throws -> [String] {
      var shown: [String] = []
      for point in 5...last {
        let outcome = try await LogreplayProcess([
          "at", folder.store, "\(point)", "--view", "long", "-o", "json",
        ]).wait()
        #expect(outcome.code == 0)
        shown.append(outcome.output)
        shown += outcome.errors.split(separator: "\n").map(String.init).filter {
          !$0.contains("replayed") && !$0.contains("read from")
        }
      }
      return shown
    }
    let keep = [
      "keep", folder.store, "long", "--table", "incident", "--section-by", "status", "--sort", "note",
    ]
    #expect(try await LogreplayProcess(keep).wait().code == 0)
    let replayed = try await shown()
    #expect(replayed.contains { $0.contains("too long for a list") })
    #expect(try await LogreplayProcess(["checkpoint", folder.store]).wait().code == 0)
    #expect(try await shown() == replayed)
    #expect(try await LogreplayProcess(["checkpoint", folder.store, "--history"]).wait().code == 0)
    #expect(try await shown() == replayed)
  }
}
