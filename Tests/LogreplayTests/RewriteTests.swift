// `seal` and `erase`: what they do, what they print, and what they refuse.

import Foundation
import Strata
import StrataDocuments
import Testing

struct RewriteTests {
  /// A closed store of several segments: 300 appends over seven people, one of whom has a secret.
  private func store() async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: 8 << 10)
    for number in 1...300 {
      let text = number % 7 == 3 ? "secret \(number)" : "plain \(number)"
      try await store.append([NewEvent("$put", in: "person/\(number % 7)", ["text": .string(text)])])
    }
    try await store.close()
    return folder
  }

  private func json(_ arguments: String...) async throws -> (code: Int32, value: DocumentValue) {
    let outcome = try await LogreplayProcess(arguments + ["-o", "json"]).wait()
    return (outcome.code, outcome.output.isEmpty ? .null : try DocumentValue(json: outcome.output))
  }

  @Test func `seal makes the log smaller and changes nothing that can be asked`() async throws {
    let folder = try await store()
    let log = try await LogreplayProcess.run("log", folder.store, "-o", "jsonl").output
    let before = try await json("info", folder.store).value
    let (code, sealed) = try await json("seal", folder.store)
    #expect(code == 0 && sealed["schema"] == 1)
    guard case .int(let count)? = sealed["sealed"], case .int(let old)? = sealed["bytesBefore"],
      case .int(let new)? = sealed["bytesAfter"]
    else {
      Issue.record("\(sealed)")
      return
    }
    #expect(count > 2 && new < old)
    let after = try await json("info", folder.store).value
    #expect(after["sealed"] == .int(count) && after["chain"] == before["chain"])
    #expect(try await LogreplayProcess.run("log", folder.store, "-o", "jsonl").output == log)
    #expect(try await json("verify", folder.store, "--deep").value["ok"] == true)
    #expect(try await json("seal", folder.store).value["sealed"] == 0)
  }

  @Test func `erase asks first, then takes the content out of every file and of the table`() async throws {
    let folder = try await store()
    let asked = try await LogreplayProcess.run(
      "erase", folder.store, "--stream", "person/3", "--reason", "asked to")
    #expect(asked.code == 1 && asked.errors.contains("43 events"))
    let (code, erased) = try await json(
      "erase", folder.store, "--stream", "person/3", "--reason", "asked to", "--yes")
    #expect(code == 0 && erased["erased"] == 43 && erased["sequence"] == 301)
    #expect(!(try await LogreplayProcess.run("log", folder.store, "-o", "jsonl").output.contains("secret")))
    #expect(
      !(try await LogreplayProcess.run("at", folder.store, "head", "-o", "json").output.contains("secret")))
    #expect(
      !(try await LogreplayProcess.run("at", folder.store, "200", "-o", "json").output.contains("secret")))
    #expect(try await json("verify", folder.store, "--deep").value["ok"] == true)
    #expect(try await json("info", folder.store).value["erasing"] == nil)
    let again = try await json("erase", folder.store, "--sequence", "1-2", "--reason", "x", "--yes")
    #expect(again.value["erased"] == 2)
  }

  @Test func `what is erased already is not erased again, and nothing is appended for it`() async throws {
    let folder = try await store()
    let person = ["erase", folder.store, "--stream", "person/3", "--reason", "x", "--yes"]
    let first = try await LogreplayProcess(person).wait()
    #expect(
      first.code == 0 && first.output.hasPrefix("43 events erased, by the order at seq 301"), "\(first)")
    let last = try await json("info", folder.store).value["last"]
    let again = try await LogreplayProcess(person).wait()
    #expect(again.code == 0 && again.errors.isEmpty, "\(again)")
    #expect(again.output == "0 events erased, and no order appended: nothing is left of them to erase\n")
    // Nor is it said that --yes would erase something.
    let asked = try await LogreplayProcess(person.filter { $0 != "--yes" }).wait()
    #expect(asked.code == 0 && asked.output == again.output && asked.errors.isEmpty, "\(asked)")
    let (code, report) = try await json(
      "erase", folder.store, "--sequence", "3", "--sequence", "10-10", "--reason", "y", "--yes")
    #expect(code == 0 && report["sequence"] == .null && report["erased"] == 0, "\(report)")
    #expect(try await json("info", folder.store).value["last"] == last)
    // An event that is not erased yet, among those that are.
    let more = try await json("erase", folder.store, "--sequence", "3-4", "--reason", "y", "--yes")
    #expect(more.value["erased"] == 1, "\(more)")
    let writer = try await folder.open()
    try await writer.append([NewEvent("$put", in: "person/3", ["text": "new"])])
    try await writer.close()
    let rest = try await json("erase", folder.store, "--stream", "person/3", "--reason", "x", "--yes")
    #expect(rest.value["erased"] == 1, "\(rest)")
  }

  @Test func `what makes no sense is refused with its place and changes nothing`() async throws {
    let folder = try await store()
    let before = try await json("info", folder.store).value["last"]
    for (arguments, code) in [
      (["--reason", "x", "--yes"], 64), (["--sequence", "7-3", "--reason", "x", "--yes"], 64),
      (["--sequence", "1-9999", "--reason", "x", "--yes"], 66), (["--sequence", "301", "--reason", "x"], 66),
      (["--sequence", "1-18446744073709551615", "--reason", "x"], 66),
      (["--stream", "person/99", "--reason", "x", "--yes"], 66),
      (["--stream", "person/99", "--reason", "x"], 66),
      (["--stream", "", "--reason", "x"], 64), (["--stream", "$erasures", "--reason", "x", "--yes"], 64),
      (["--stream", "person/3"], 64),
    ] as [([String], Int32)] {
      let outcome = try await LogreplayProcess(["erase", folder.store] + arguments).wait()
      #expect(outcome.code == code && !outcome.errors.isEmpty, "\(arguments): \(outcome.errors)")
      guard code == 66 else { continue }
      #expect(
        outcome.errors.contains("(\(folder.store))") && outcome.errors.contains("the log holds 1…300"),
        "\(outcome.errors)")
    }
    #expect(try await json("info", folder.store).value["last"] == before)
    for command in [["seal"], ["erase", "--stream", "a", "--reason", "x", "--yes"]] {
      let nowhere = folder.file("nowhere")
      let outcome = try await LogreplayProcess([command[0], nowhere] + command.dropFirst()).wait()
      #expect(outcome.code == 66 && !FileManager.default.fileExists(atPath: nowhere))
    }
  }
}
