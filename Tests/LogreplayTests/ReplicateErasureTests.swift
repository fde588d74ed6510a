// What `replicate` says of erasures that are not done everywhere, and of the members that they wait for.

import Foundation
import StrataSimulation
import Testing

@Suite struct ReplicateErasureTests {
  private struct Sample {
    let folder: ImportFolder
    var store: String { folder.store }
    var place: String { "file:\(folder.file("place"))" }
    var copy: String { folder.file("copy") }
    /// The id of the copy's member.
    var member = ""
  }

  /// A store of three rows that was shipped, and one copy of it.
  private func sample() async throws -> Sample {
    var sample = Sample(folder: try ImportFolder())
    let rows = (1...3).map { "{\"id\":\"T-\($0)\"}\n" }.joined()
    let file = try sample.folder.write(rows, to: "rows.jsonl")
    try await run("import", sample.store, file, "--table", "ticket", "--id", "id")
    try await run("replicate", sample.store, sample.place)
    let made = try await run("replicate", sample.place, sample.copy, "-o", "json").output
    sample.member = String(try #require(made.split(separator: "\"member\":\"").dropFirst().first?.prefix(36)))
    return sample
  }

  @discardableResult
  private func run(_ arguments: String..., code: Int32 = 0) async throws -> LogreplayProcess.Outcome {
    let outcome = try await LogreplayProcess(arguments).wait()
    #expect(outcome.code == code, "\(arguments): \(outcome)")
    return outcome
  }

  private func erase(_ row: String, in sample: Sample) async throws {
    try await run("erase", sample.store, "--stream", "ticket/\(row)", "--reason", "asked", "--yes")
  }

  @Test func `an open erasure names whom it waits for, and what to do`() async throws {
    let sample = try await sample()
    let done = "\"erased\":true,\"erasureWaitsFor\":[]"
    let open = "\"erased\":false,\"erasureWaitsFor\":[\"\(sample.member)\"]"
    #expect(try await run("replicate", sample.store, "-o", "json").output.contains(done))
    #expect(try await run("replicate", sample.store, "--status", "-o", "json").output.contains(done))
    try await erase("T-2", in: sample)
    let before = try await run("replicate", sample.store, "--status", "-o", "json").output
    #expect(before.contains(open) && before.contains("\"placeHoldsErased\":true"), "\(before)")

    let json = try await run("replicate", sample.store, "-o", "json")
    #expect(json.output.contains(open) && json.errors.isEmpty, "\(json)")
    #expect(!json.output.contains("placeHoldsErased"), "\(json)")
    let text = try await run("replicate", sample.store)
    let forget = "logreplay replicate \(sample.store) --forget \(sample.member)"
    #expect(
      text.errors.contains(forget) && text.errors.contains("replicate \(sample.place) FOLDER"), "\(text)")
    let status = try await run("replicate", sample.store, "--status")
    #expect(status.output.contains(forget), "\(status)")
    #expect(try await run("replicate", sample.store, "--status", "-o", "json").output.contains(open))

    let late = try await run("replicate", sample.store, "--within", "1s", code: 124)
    #expect(late.output.contains("are in") && late.errors.contains("the time is over; everything is there"))
    #expect(late.errors.contains(sample.member) && late.errors.contains(forget), "\(late)")

    // The copy has not followed yet, and knows of no order.
    #expect(try await run("replicate", sample.copy, "--status", "-o", "json").output.contains(done))
    try await run("replicate", sample.place, sample.copy)
    #expect(try await run("replicate", sample.store, "--status", "-o", "json").output.contains(done))
    let last = try await run("replicate", sample.store, "--within", "60s", "-o", "json")
    #expect(last.output.contains(done) && last.errors.isEmpty, "\(last)")
    #expect(try await run("replicate", sample.copy, "--status", "-o", "json").output.contains(done))
  }

  @Test func `a copy that follows meanwhile ends the waiting`() async throws {
    let sample = try await sample()
    let follower = try LogreplayProcess(["replicate", sample.place, sample.copy, "--follow"])
    #expect(await follower.readErrorLine().contains("waits for more"))
    try await erase("T-2", in: sample)
    let shipped = try await run("replicate", sample.store, "--within", "60s", "-o", "json")
    #expect(shipped.output.contains("\"erased\":true"), "\(shipped)")
    follower.interrupt()
    #expect(await follower.exitCode() == 130)
  }

  @Test func `a member is forgotten by the begin of its id, and a dry run shows it`() async throws {
    let sample = try await sample()
    let begin = String(sample.member.prefix(8))
    let plan = try await run("replicate", sample.store, "--forget", begin, "--dry-run")
    #expect(plan.output.hasPrefix("the member \(sample.member) would be forgotten\n"), "\(plan)")
    #expect(plan.output.contains("follows  up to 3") && plan.errors.contains("not known"), "\(plan)")
    #expect(try await run("replicate", sample.place, "--status").output.contains(sample.member))
    // A second one whose id begins so.
    let members = "\(sample.folder.file("place"))/members"
    let other = begin + "-0000-4000-8000-000000000000"
    try FileManager.default.copyItem(atPath: "\(members)/\(sample.member)", toPath: "\(members)/\(other)")
    let both = try await run("replicate", sample.store, "--forget", begin, code: 64)
    #expect(both.errors.contains(sample.member) && both.errors.contains(other), "\(both)")
    try FileManager.default.removeItem(atPath: "\(members)/\(other)")
    let json = try await run("replicate", sample.place, "--forget", begin, "-o", "json")
    #expect(json.output.contains("\"forgotten\":{\"member\":\"\(sample.member)\""), "\(json)")
    try await run("replicate", sample.store, "--forget", begin, code: 66)
    let status = try await run("replicate", sample.place, "--status", "-o", "json").output
    let writer = String(try #require(status.split(separator: "\"member\":\"").dropFirst().first?.prefix(36)))
    let own = try await run("replicate", sample.store, "--forget", writer, "--dry-run")
    #expect(own.errors.contains("the one that writes"), "\(own)")
  }
}
