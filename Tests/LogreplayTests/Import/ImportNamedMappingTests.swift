// The mappings that the command knows by name, with lines as those programs write them.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
@testable import StrataPast
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportNamedMappingTests {
  @Test func `the lines of CouchDB's changes are rows, and only what differs is appended again`() async throws
  {
    let folder = try ImportFolder()
    func change(_ seq: String, _ id: String, _ rev: String, _ body: String) -> String {
      #"{"seq":"\#(seq)","id":"\#(id)","changes":[{"rev":"\#(rev)"}],\#(body)}"# + "\n"
    }
    func live(_ seq: String, _ id: String, _ rev: String, _ more: String) -> String {
      change(seq, id, rev, #""doc":{"_id":"\#(id)","_rev":"\#(rev)",\#(more)}"#)
    }
    let design = live("1-g1", "_design/a", "1-a", #""views":{}"#)
    let first =
      live("2-g1", "x", "1-b", #""n":9007199254740993"#) + "\n" + live("3-g1", "a/ü", "1-c", #""n":2"#)
    let gone = change("4-g1", "y", "2-d", #""deleted":true,"doc":{"_id":"y","_rev":"2-d","_deleted":true}"#)
    let end = #"{"last_seq":"4-g1","pending":0}"# + "\n"
    let arguments = [folder.file("c.jsonl"), "--mapping", "couchdb", "--table", "doc"]
    try folder.write(design + first + gone + end, to: "c.jsonl")
    let report = try await folder.run(arguments)
    // What is deleted was never there.
    #expect(report.read == 5 && report.appended == 2 && report.known == 1 && report.passed == 2)
    #expect(
      try await folder.documents() == [
        ["_id": "x", "_rev": "1-b", "n": 9_007_199_254_740_993], ["_id": "a/ü", "_rev": "1-c", "n": 2],
      ])
    #expect(try await folder.appends()[0].events[0].metadata() == ["seq": "2-g1"])
    // A cluster says other sequences each time.
    try folder.write(
      gone.replacing("4-g1", with: "4-g9") + live("5-g9", "a/ü", "2-e", #""n":3"#)
        + change("6-g9", "x", "2-f", #""deleted":true,"doc":{"_id":"x","_rev":"2-f","_deleted":true}"#),
      to: "c.jsonl")
    let second = try await folder.run(arguments)
    #expect(second.appended == 2 && second.known == 1)
    #expect(try await folder.appends().map { $0.events[0].type } == ["$put", "$put", "$put", "$delete"])
    #expect(try await folder.run(arguments).appended == 0)
    try folder.write(change("7-g", "z", "1-g", #""x":1"#), to: "c.jsonl")
    let bare = try await folder.failure(of: arguments)
    #expect(bare.code == 65 && bare.what.contains("\"doc\", which is the document, is missing"), "\(bare)")
    let unnamed = try await folder.failure(of: Array(arguments.prefix(3)))
    #expect(unnamed.code == 64 && unnamed.next.contains("--table"), "\(unnamed)")
  }

  @Test func `entries of the journal are rows with their cursors, times and bytes`() async throws {
    let folder = try ImportFolder()
    func cursor(_ number: Int) -> String {
      "s=0a3f5ce2b1d94c6f8a7e6d5c4b3a2918;i=\(number);b=3b1f8d0c2e4a49b7a6c5d4e3f2a1b0c9;m=4c;t=5f3a;x=9d8e7f6a5b4c3d2e"
    }
    func entry(_ number: Int, _ micros: String, _ more: String) -> String {
      #"{"__CURSOR":"\#(cursor(number))","__REALTIME_TIMESTAMP":"\#(micros)","_BOOT_ID":"3b",\#(more)}"#
        + "\n"
    }
    try folder.write(
      entry(1, "1700000000123456", #""MESSAGE":"hello","PRIORITY":"6""#)
        + entry(2, "1700000000123457", #""MESSAGE":[104,105,0,255],"VALUE":["A","B"],"E":[],"N":null"#)
        + entry(3, "1700000000123458", #""MESSAGE":[[1,2],"x"],"BIG":[256]"#), to: "j.jsonl")
    let arguments = [folder.file("j.jsonl"), "--mapping", "journald"]
    #expect(try await folder.run(arguments).appended == 3)
    #expect(folder.tables.withLock { $0.map(\.short) } == ["journal: 3 put"])
    let appends = try await folder.appends()
    #expect(appends[0].events[0].stream.text == "journal/\(cursor(1))")
    #expect(appends[0].ownTime == Timestamp("2023-11-14T22:13:20.123456Z"))
    let documents = try await folder.documents()
    #expect(documents[0]["MESSAGE"] == "hello" && documents[0]["__CURSOR"] == .string(cursor(1)))
    #expect(documents[1]["MESSAGE"] == .bytes([104, 105, 0, 255]) && documents[1]["VALUE"] == ["A", "B"])
    #expect(documents[1]["E"] == [] && documents[1]["N"] == .null)
    #expect(documents[2]["MESSAGE"] == [.bytes([1, 2]), "x"] && documents[2]["BIG"] == [256])
    let again = try await folder.run(arguments)
    #expect(again.appended == 0 && again.known == 3)
  }

  @Test func `entries of KurrentDB are events of their own streams, and its own are passed over`()
    async throws
  {
    let folder = try ImportFolder()
    func entry(_ id: String, _ stream: String, _ type: String, _ number: Int, _ more: String) -> String {
      #"{"eventId":"fbf4a1a1-b4a3-4dfe-a01f-\#(id)","eventType":"\#(type)","eventNumber":\#(number),"streamId":"\#(stream)","#
        + #""isJson":true,"isMetaData":false,"isLinkMetaData":false,"positionEventNumber":\#(number),"#
        + #""title":"\#(number)@\#(stream)","updated":"2015-03-13T12:13:4\#(number).492473Z",\#(more)}"#
        + "\n"
    }
    try folder.write(
      entry("ec52c34e16e1", "order-7-a", "placed", 0, #""data":"{\n  \"a\": \"1\"\n}","metaData":"""#)
        + entry("ec52c34e16e2", "audit", "seen", 1, #""data":"[1]","metaData":"{\"$causedBy\":\"x\"}""#)
        + entry("ec52c34e16e3", "$settings", "update", 2, #""data":"{}""#)
        + entry("ec52c34e16e4", "order-7-a", "$metadata", 3, #""data":"{}""#), to: "k.jsonl")
    let arguments = [folder.file("k.jsonl"), "--mapping", "kurrentdb"]
    let report = try await folder.run(arguments)
    #expect(report.appended == 2 && report.passed == 2)
    let events = try await folder.appends().map { $0.events[0] }
    #expect(events.map(\.stream.text) == ["order/7-a", "audit"] && events.map(\.type) == ["placed", "seen"])
    #expect(try events[0].document() == ["a": "1"] && events[1].document() == [1])
    #expect(try events[0].metadata() == ["eventNumber": 0])
    #expect(try events[1].metadata() == ["eventNumber": 1, "metadata": ["$causedBy": "x"]])
    #expect(try await folder.appends()[0].id == "fbf4a1a1-b4a3-4dfe-a01f-ec52c34e16e1")
    #expect(try await folder.run(arguments).known == 2)
    // .NET's decimals have more digits than a double.
    try folder.write(
      entry("ec52c34e16e8", "order-8", "paid", 4, #""data":"{\"a\":0.3333333333333333333333}""#),
      to: "k.jsonl")
    let long = try await folder.failure(of: arguments)
    #expect(long.code == 65 && long.what.contains("(--round-numbers takes it)"), "\(long)")
    #expect(try await folder.run(arguments + ["--round-numbers"]).appended == 1)
    // An event that is not JSON has no data in these entries.
    try folder.write(entry("ec52c34e16e9", "order-8", "raw", 5, #""x":1"#), to: "k.jsonl")
    let bare = try await folder.failure(of: arguments)
    #expect(bare.what.contains("\"data\", which is the document, is missing"), "\(bare)")
  }

  @Test func `the page shows each mapping as it is`() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let page = try String(
      contentsOf: root.appendingPathComponent("Sources/Strata/Strata.docc/MovingData.md"), encoding: .utf8)
    for (name, text) in ImportMappingFiles.named {
      #expect(page.contains("```json\n\(text)\n```"), "\(name)")
    }
  }
}
