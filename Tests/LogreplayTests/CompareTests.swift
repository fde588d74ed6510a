// `compare` as a process: the same, different in each of what is compared, ended, damaged, and not there.

import Foundation
import Strata
import StrataDocuments
import Testing

struct CompareTests {
  /// The appends of a store, as a list that a test changes.
  private static let appends = [
    NewAppend(
      [NewEvent("opened", in: "ticket/1", ["n": 1]), NewEvent("opened", in: "ticket/2", ["n": 2])], id: "a",
      time: Timestamp("2026-01-01T00:00:00Z")),
    NewAppend(
      [NewEvent("blob", in: "file/1", payload: .opaque([1, 2, 3]), metadata: ["by": "ann"])],
      time: Timestamp("2026-01-02T00:00:00Z")),
    NewAppend([NewEvent("closed", in: "ticket/1", .null)], id: "c", time: Timestamp("2026-01-03T00:00:00Z")),
  ]

  private func store(_ path: String, _ appends: [NewAppend] = appends) async throws {
    let store = try await EventStore.open(at: path)
    try await store.load(appends)
    try await store.close()
  }

  private func compare(_ arguments: String...) async throws -> (
    code: Int32, value: DocumentValue, errors: String
  ) {
    let outcome = try await LogreplayProcess(["compare"] + arguments + ["-o", "json"]).wait()
    let value = outcome.output.isEmpty ? DocumentValue.null : try DocumentValue(json: outcome.output)
    return (outcome.code, value, outcome.errors)
  }

  @Test func `stores of the same events are the same, and whatever differs first is named`() async throws {
    let folder = try SampleFolder()
    let one = folder.file("one")
    try await store(one)
    var changed: [(what: String, first: Int, appends: [NewAppend])] = []
    func change(_ what: String, at sequence: Int, _ body: (inout [NewAppend]) -> Void) {
      var appends = Self.appends
      body(&appends)
      changed.append((what, sequence, appends))
    }
    change("stream", at: 2) { $0[0].events[1].stream = "ticket/3" }
    change("type", at: 1) { $0[0].events[0].type = "begun" }
    change("payload", at: 4) { $0[2].events[0].payload = EventPayload(.int(0)) }
    change("codec", at: 3) { $0[1].events[0].payload.codec = .json }
    change("metadata", at: 3) { $0[1].events[0].metadata = ["by": "eve"] }
    change("id", at: 3) { $0[1].id = "b" }
    change("time", at: 4) { $0[2].time = Timestamp("2026-01-04T00:00:00Z") }
    change("append", at: 2) { appends in
      let second = appends[0].events.removeLast()
      appends.insert(NewAppend([second], time: appends[0].time), at: 1)
    }
    change("end", at: 4) { $0.removeLast() }
    for (number, change) in changed.enumerated() {
      let other = folder.file("other\(number)")
      try await store(other, change.appends)
      for (a, b) in [(one, other), (other, one)] {
        let found = try await compare(a, b)
        #expect(found.code == 1, "\(change.what): \(found)")
        #expect(found.value["equal"] == false && found.value["what"] == .string(change.what), "\(found)")
        #expect(found.value["events"] == .int(Int64(change.first - 1)), "\(found)")
        let events = [found.value["first"], found.value["second"]]
        let sequences = events.map { $0?["sequence"] }
        if change.what == "end" {
          #expect(Set(sequences) == [.int(4), nil] && events.contains(.null))
        } else {
          #expect(sequences == [.int(Int64(change.first)), .int(Int64(change.first))])
        }
      }
    }
    let same = folder.file("same")
    try await store(same)
    let found = try await compare(one, same)
    #expect(found.code == 0 && found.errors.isEmpty, "\(found)")
    #expect(found.value["equal"] == true && found.value["events"] == 4 && found.value["appends"] == 3)
    let text = try await LogreplayProcess.run("compare", one, folder.file("other2"))
    #expect(text.code == 1 && text.output.contains("the payload differs"), "\(text)")
    #expect(text.output.contains("the first 3 events in 2 appends are the same"), "\(text)")
  }

  @Test func `what a store was given by itself differs only exactly, and a backup is the same exactly`()
    async throws
  {
    let folder = try SampleFolder()
    let (one, later) = (folder.file("one"), folder.file("later"))
    try await store(one)
    // The same events after an event of Strata's own, with salts.
    var options = StoreOptions()
    options.saltsEvents = true
    let store = try await EventStore.open(at: later, options: options)
    var consumer = ConsumerOptions()
    consumer.start = .head
    try await store.consumer("copies", consumer).run(until: .caughtUp) { _, _ in }
    try await store.load(Self.appends)
    try await store.close()
    let found = try await compare(one, later)
    #expect(found.code == 0, "\(found)")
    #expect(found.value["leftOut"] == [0, 1])
    #expect(try await compare(one, later, "--exact").code == 1)
    #expect(try await LogreplayProcess.run("backup", one, folder.file("copy")).code == 0)
    #expect(try await compare(one, folder.file("copy"), "--exact").code == 0)
  }

  @Test func `damage is no difference, and what is no store is said`() async throws {
    let folder = try SampleFolder()
    let (one, bad) = (folder.file("one"), folder.file("bad"))
    try await store(one)
    try await store(bad)
    #expect(try await compare(one, folder.file("none")).code == 66)
    #expect(try await compare("", one).code == 64)
    let segment = "\(bad)/log/00000000000000000001.seg"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
    bytes[bytes.count - 20] ^= 1
    try bytes.write(to: URL(fileURLWithPath: segment))
    let found = try await compare(one, bad)
    #expect(found.code == 65 && found.errors.contains(bad), "\(found)")
  }
}
