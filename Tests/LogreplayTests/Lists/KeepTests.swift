// `keep`, `--view` and `checkpoint`: what is saved never changes an answer.

import Foundation
import Strata
import StrataDocuments
import Testing

struct KeepTests {
  private static let options = [
    "--table", "incident", "--section-by", "status", "--sort", "n:desc", "--where", "n > 1",
  ]

  private static func kept() async throws -> SampleFolder {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess(["keep", folder.store, "by status"] + options).wait()
    #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    #expect(outcome.output.hasPrefix("'by status': 2 items in 2 sections, "), "\(outcome.output)")
    return folder
  }

  /// Compares what is shown of a kept list with what is shown of the same options.
  private func compare(_ folder: SampleFolder, _ command: [String], _ more: String...) async throws {
    let kept = try await LogreplayProcess(command + ["--view", "by status"] + more).wait()
    let built = try await LogreplayProcess(command + Self.options + more).wait()
    #expect(kept.output == built.output && kept.code == built.code && !built.output.isEmpty, "\(command)")
    #expect(kept.errors == built.errors)
  }

  private func compareAll(_ folder: SampleFolder) async throws {
    let store = folder.store
    for point in ["head", "4", "8", "9", "1", "0"] {
      try await compare(folder, ["at", store, point], "-o", "json")
    }
    try await compare(folder, ["at", store], "--limit", "1", "--fields", "n,$time")
    for range in [["1..head"], ["8..head"], ["head..2"], ["3", "5"]] {
      try await compare(folder, ["diff", store] + range, "-o", "json")
    }
    try await compare(folder, ["follow", store, "--from", "2", "--until-caught-up"], "-o", "json")
  }

  @Test func `a kept list is shown as the options that define it, also after others wrote`() async throws {
    let folder = try await Self.kept()
    try await compareAll(folder)
    // A writer that knows nothing of the list.
    let store = try await folder.open()
    try await store.append([
      NewEvent("$put", in: "incident/e", ["status": "New", "n": 5]),
      NewEvent("$delete", in: "incident/d", .null),
    ])
    try await store.close()
    try await compareAll(folder)
    try FileManager.default.removeItem(atPath: "\(folder.store)/derived")
    try await compareAll(folder)
  }

  @Test func `a definition that an application merged is the same with and without a state on disk`()
    async throws
  {
    let folder = try await Self.kept()
    let store = try await folder.open()
    try await store.append([NewEvent(DocumentEvent.merge, in: "$view/by status", ["sort": ["n"]])])
    try await store.close()
    let expected = try await folder.answer(
      "at", "--table", "incident", "--section-by", "status", "--sort", "n", "--where", "n > 1")
    _ = try await folder.answer("checkpoint")
    #expect(try await folder.answer("at", "--view", "by status") == expected && !expected.isEmpty)
    try FileManager.default.removeItem(atPath: "\(folder.store)/derived")
    #expect(try await folder.answer("at", "--view", "by status") == expected)
  }

  @Test func `keeping again replaces a list, keeping the same one adds nothing, and removing ends it`()
    async throws
  {
    let folder = try await Self.kept()
    func info() async throws -> DocumentValue {
      try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    }
    let before = try await info()
    _ = try await LogreplayProcess(["keep", folder.store, "by status"] + Self.options).wait()
    #expect(try await info()["last"] == before["last"])
    let replaced = try await folder.answer("keep", "by status", "--table", "incident", "-o", "json")
    let value = try DocumentValue(json: replaced)
    #expect(value["items"] == 3 && value["sections"] == .null && value["view"] == "by status", "\(replaced)")
    #expect(
      try await folder.answer("at", "--view", "by status") == folder.answer("at", "--table", "incident"))
    #expect(try await folder.answer("keep", "by status", "--remove") == "'by status' is kept no longer\n")
    let gone = try await LogreplayProcess.run("at", folder.store, "--view", "by status")
    #expect(gone.code == 66 && gone.errors.contains("there is no kept list 'by status'"))
    let again = try await LogreplayProcess.run("keep", folder.store, "by status", "--remove")
    #expect(again.code == 66)
  }

  @Test func `rows that a kept list leaves out are reported`() async throws {
    let folder = try await Self.kept()
    let store = try await folder.open()
    try await store.append([NewEvent("$put", in: "incident/odd", ["n": ["no": "key"]])])
    try await store.close()
    let list = ["--table", "incident", "--sort", "n"]
    let kept = try await LogreplayProcess(["keep", folder.store, "odd"] + list).wait()
    let shown = try await LogreplayProcess(["at", folder.store, "--view", "odd"]).wait()
    #expect(kept.code == 3 && kept.errors == shown.errors && kept.errors.contains("incident/odd"), "\(kept)")
    #expect(kept.output.hasPrefix("'odd': 3 items, "), "\(kept)")
  }

  @Test func `what does not go together is refused`() async throws {
    let folder = try await Self.kept()
    for (arguments, code, what) in [
      (["at", "--view", "by status", "--sort", "n"], 64, "--view says what --sort says"),
      (["at", "--view", "by status", "--where", "n > 1"], 64, "--view says what --where says"),
      (["at", "--view", "by status", "--table", "$own"], 64, "is of the table 'incident'"),
      (["diff", "1..2", "--view", "x"], 66, "there is no kept list 'x'"),
      (["keep", "x", "--table", "none"], 66, "there is no table 'none'"),
      (["keep", "x", "--table", "incident", "--limit", "3"], 64, "--limit is no part of what is kept"),
      (["keep", "x", "--view", "by status"], 64, "--view is no part of what is kept"),
      (["keep", "x", "--remove", "--sort", "n"], 64, "--remove needs only the name"),
      (["keep", "", "--table", "incident"], 64, "the name of a list has 1 to 1,018 bytes"),
      (["keep", "x", "--where", "n >"], 64, "the filter has an error"),
    ] as [([String], Int32, String)] {
      let outcome = try await LogreplayProcess([arguments[0], folder.store] + arguments.dropFirst()).wait()
      #expect(outcome.code == code && outcome.errors.contains(what), "\(arguments): \(outcome.errors)")
    }
    let store = try await folder.open()
    try await store.append([NewEvent("$put", in: "$view/strange", ["table": "incident", "new": 1])])
    try await store.close()
    let strange = try await LogreplayProcess.run("at", folder.store, "--view", "strange")
    #expect(strange.code == 65 && strange.errors.contains("cannot read"))
  }

  private struct Incident: Codable, Identifiable, Sendable {
    var id: String
    var status: String?
    var n: Int
  }

  @Test func `a list of fields that an application keeps is shown by its name, any other is refused`()
    async throws
  {
    let folder = try await SampleFolder.list()
    let store = try await folder.open()
    let table = store.documents("incident")
    let (status, n) = (try FieldPath("status"), try FieldPath("n"))
    let fields = ListRequest(DocumentRow.self)
      .sectioned(byField: status).sectionsOrdered(by: .count).sorted(byField: n, .reverse, .nilsLast)
      .filtered(by: "n > 1").filtered(by: "status != 'Open'").kept(as: "fields", version: 3)
    try await FetchController(fields, from: table).performFetch()
    let closure = ListRequest(DocumentRow.self).filtered(id: "all") { _ in true }.kept(as: "closure")
    try await FetchController(closure, from: table).performFetch()
    let ranked = ListRequest(DocumentRow.self).sectioned(byField: status)
      .sectionsOrdered(id: "rank") { "\($0)".count }.kept(as: "ranked")
    try await FetchController(ranked, from: table).performFetch()
    try await store.close()
    let expected = try await folder.answer(
      "at", "--table", "incident", "--section-by", "status", "--section-order", "count", "--sort",
      "n:desc:nullslast", "--where", "n > 1 && status != 'Open'")
    #expect(try await folder.answer("at", "--view", "fields") == expected && !expected.isEmpty)
    for name in ["closure", "ranked"] {
      let refused = try await LogreplayProcess.run("at", folder.store, "--view", name)
      #expect(
        refused.code == 64
          && refused.errors.contains("the application's own code is part of the kept list '\(name)'"),
        "\(refused.errors)")
    }
    let unknown = try await LogreplayProcess.run("at", folder.store, "--view", "other")
    #expect(unknown.errors.contains("the application has saved closure, fields, ranked"), "\(unknown.errors)")
  }

  @Test func `a checkpoint says what it wrote, is listed, and changes no answer`() async throws {
    let folder = try await SampleFolder.list()
    func answers() async throws -> [String] {
      var answers: [String] = []
      for point in ["1", "5", "7", "8"] {
        answers.append(try await folder.answer("at", point, "--table", "incident", "-o", "json"))
      }
      answers.append(try await folder.answer("diff", "1..8", "--table", "incident"))
      let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
      return answers + ["\(String(describing: info["tables"]))"]
    }
    let before = try await answers()
    let made = try DocumentValue(json: try await folder.answer("checkpoint", "-o", "json"))
    guard case .array(let checkpoints)? = made["checkpoints"], checkpoints.count == 1 else {
      Issue.record("\(made)")
      return
    }
    #expect(checkpoints[0]["projection"] == "$documents" && checkpoints[0]["sequence"] == 8)
    #expect(try await answers() == before)
    #expect(
      try await folder.answer("checkpoint") == "$documents: everything up to seq 8 was saved before\n")
    let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    guard case .array(let saved)? = info["checkpoints"], saved.count == 1 else {
      Issue.record("\(info)")
      return
    }
    #expect(saved[0]["name"] == "$documents-1" && saved[0]["sequence"] == 8)
    #expect(try await folder.answer("verify", "--deep").hasPrefix("ok"))
  }

  @Test func `a damaged page of what is saved is reported by verify, and by nothing else`() async throws {
    let folder = try await SampleFolder.list()
    let before = try await folder.answer("at", "--table", "incident", "-o", "json")
    _ = try await folder.answer("checkpoint")
    let states = "\(folder.store)/derived/state/$documents-1"
    let pages = try FileManager.default.contentsOfDirectory(atPath: states).filter { $0.hasSuffix(".pages") }
    #expect(pages.count == 1)
    let path = "\(states)/\(try #require(pages.first))"
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // The header has 64 bytes; the first page, that of the rows, comes after it.
    bytes[90] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    #expect(try await folder.answer("at", "--table", "incident", "-o", "json") == before)
    #expect(try await folder.answer("verify").hasPrefix("ok"))
    let outcome = try await LogreplayProcess.run("verify", folder.store, "--deep", "-o", "json")
    let report = try DocumentValue(json: outcome.output)
    guard case .array(let findings)? = report["findings"], let finding = findings.first else {
      Issue.record("\(report)")
      return
    }
    #expect(outcome.code == 2 && findings.count == 1 && finding["class"] == "checkpoint")
    #expect(finding["file"] == "derived/state/$documents-1/0000000001.pages")
    try FileManager.default.removeItem(atPath: states)
    #expect(try await folder.answer("verify", "--deep").hasPrefix("ok"))
  }

  @Test func `an import extends what was saved before`() async throws {
    let folder = try SampleFolder()
    func importing(_ lines: [String]) async throws {
      let file = folder.file("lines-\(lines.count).jsonl")
      try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
      _ = try await folder.answer("import", file, "--table", "row", "--id", "id")
    }
    func saved() async throws -> DocumentValue? {
      try DocumentValue(json: try await folder.answer("info", "-o", "json"))["checkpoints"]
    }
    let lines = (0..<20).map { #"{"id":"\#($0)","n":\#($0)}"# }
    try await importing(Array(lines.prefix(8)))
    #expect(try await saved() == .array([]))
    _ = try await folder.answer("checkpoint")
    try await importing(lines)
    guard case .array(let states)? = try await saved(), states.count == 1 else {
      Issue.record("nothing is saved")
      return
    }
    let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    #expect(states[0]["sequence"] == info["last"] && info["last"] != 8)
  }

  @Test func `a kept list that moved to another table is not found in the first one`() async throws {
    let folder = try await SampleFolder.list()
    let store = try await folder.open()
    try await store.append([NewEvent("$put", in: "other/1", ["n": 1])])
    try await store.close()
    for table in ["incident", "other"] {
      let outcome = try await LogreplayProcess.run("keep", folder.store, "n", "--table", table, "--sort", "n")
      #expect(outcome.code == 0, "\(outcome)")
    }
    #expect(try await LogreplayProcess.run("at", folder.store, "--view", "n").output.contains("other"))
    #expect(try await LogreplayProcess.run("keep", folder.store, "n", "--remove").code == 0)
    #expect(try await LogreplayProcess.run("at", folder.store, "--view", "n").code == 66)
    #expect(try await LogreplayProcess.run("keep", folder.store, "n", "--remove").code == 66)
  }
}
