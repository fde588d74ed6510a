// Events out as CloudEvents and in again, and CloudEvents of other programs.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct CloudEventTests {
  private static let source = "https://example.com/store%201?x=1"

  private func export(_ folder: ImportFolder, _ more: String...) async throws -> LogreplayProcess.Outcome {
    try await LogreplayProcess(
      ["export", folder.store, "-", "--events", "--format", "cloudevents"]
        + (more.isEmpty ? ["--source", Self.source] : more)
    ).wait()
  }

  /// What an event says, without its positions.
  private struct Content: Equatable {
    var stream: String
    var type: String
    var payload: EventPayload
    var metadata: [UInt8]
    var time: Int64
  }

  private func contents(of store: String, in folder: ImportFolder) async throws -> [Content] {
    try await folder.appends(of: store).flatMap { append in
      append.events.filter { $0.state == .whole && !$0.stream.text.hasPrefix("$") }.map { event in
        Content(
          stream: event.stream.text, type: event.type, payload: event.payload, metadata: event.metadataBytes,
          time: append.ownTime.nanoseconds)
      }
    }
  }

  /// Checks lines with rules of CloudEvents, by another JSON parser, and counts them.
  private static let script = """
    import base64, json, re, sys
    count = 0
    for line in open(sys.argv[1], encoding="utf-8"):
        event = json.loads(line)
        count += 1
        assert event["specversion"] == "1.0" and event["source"] == sys.argv[2], event
        for name, value in event.items():
            if name in ("data", "data_base64"): continue
            assert re.fullmatch("[a-z0-9]{1,20}", name), name
            assert type(value) in (str, bool, int), (name, value)
            if type(value) is str: assert value and not re.search("[\\x00-\\x1f\\x7f-\\x9f\\ufffe\\uffff]", value), value
            if type(value) is int: assert -2**31 <= value < 2**31, value
        assert re.fullmatch(r"-?\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{9}Z", event["time"]), event
        assert event["id"] == str(int(event["sequence"])) and len(event["sequence"]) == 20, event
        assert event["subject"] == event["stratastream"] and int(event["stratarevision"]) > 0, event
        assert not ("data" in event and "data_base64" in event)
        if "data_base64" in event: base64.b64decode(event["data_base64"], validate=True)
        if "data" in event: assert event["datacontenttype"] == "application/json"
    print(count)
    """

  @Test func `each event that goes out and comes in has the same stream, type, payload, metadata and time`()
    async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    let store = try EventStore.openBlocking(at: folder.store)
    var expected = 0
    for number in 0..<60 {
      var events: [NewEvent] = []
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let stream = StreamName(
          category: "c\(number % 3)", id: "é\"\\\(Int.random(in: 0...9, using: &random))")
        var event = NewEvent(
          ["opened", "$put", "x.y/ü"].randomElement(using: &random)!, in: stream, Self.value(&random),
          metadata: Self.metadata(&random))
        if Int.random(in: 0..<4, using: &random) == 0, event.type != "$put" {
          event.payload = Self.payload(&random)
        }
        events.append(event)
      }
      expected += events.count
      let time = Timestamp(
        nanoseconds: Int64(number) * 1_000_000_007 + Int64.random(in: 0..<7, using: &random))
      _ = try await store.append(store.draft(events, id: nil, time: time, expecting: [:]))
    }
    try store.eraseBlocking(Erasure(sequences: [3...4], because: "asked to"))
    try store.closeBlocking()
    let lines = folder.file("e.jsonl")
    let outcome = try await LogreplayProcess.run(
      "export", folder.store, lines, "--events", "--format", "cloudevents", "--source", Self.source)
    #expect(outcome.code == 0, "\(outcome), seed \(seed)")
    #expect(
      outcome.lines == ["\(expected - 2) events exported to \(lines), 2 erased events left out"], "\(outcome)"
    )
    if importHasPython {
      #expect(try importPython(Self.script, lines, Self.source) == "\(expected - 2)\n", "seed \(seed)")
    }
    let copy = folder.file("copy")
    let arguments = ["import", copy, lines, "--format", "cloudevents", "-o", "json"]
    let report = try ImportProcess.run(ImportProcess.command, arguments)
    #expect(
      report.code == 0 && report.output.contains("\"appended\":\(expected - 2),"), "\(report), seed \(seed)")
    let (ours, theirs) = (
      try await contents(of: folder.store, in: folder), try await contents(of: copy, in: folder)
    )
    #expect(ours.count == theirs.count, "seed \(seed)")
    for (mine, other) in zip(ours, theirs) { #expect(mine == other, "seed \(seed)") }
    let again = try ImportProcess.run(ImportProcess.command, arguments)
    #expect(again.code == 0 && again.output.contains("\"appended\":0,\"known\":\(expected - 2),"), "\(again)")
  }

  /// A value of what JSON can say, and of what it cannot.
  private static func value(_ random: inout SeededGenerator) -> DocumentValue {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: ["n": .int(.random(in: .min ... .max, using: &random)), "é\u{0}": "\u{2028}\u{1}"]
    case 1: ["n": .double(.nan)]
    case 2: ["b": .bytes([0, 255, 7])]
    case 3: ["big": .uint(.max), "f": -0.0, "deep": [[[[:]]]]]
    case 4: ["text": .string(importHostileText(&random))]
    default: [:]
    }
  }

  private static func metadata(_ random: inout SeededGenerator) -> DocumentObject {
    var object = DocumentObject()
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let name = ["by", "By", "id", "source", "subject", "time", "n2", "", "averyverylongnameofx21", "data"]
        .randomElement(using: &random)!
      object[name] =
        [
          "x", "", "\u{7F}", 5, .int(1 << 40), true, .null, 1.5, ["a": 1], .bytes([1]), "é", "\u{FFFE}",
        ].randomElement(using: &random)!
    }
    return object
  }

  private static func payload(_ random: inout SeededGenerator) -> EventPayload {
    [
      EventPayload(codec: .bytes, bytes: []), EventPayload(codec: .bytes, bytes: [0, 1, 255]),
      EventPayload(codec: .json, bytes: Array("{ \"a\" :\n1.0 }".utf8)),
      EventPayload(codec: .cbor, bytes: []),
      EventPayload(codec: .json, bytes: Array("\"x\"".utf8)),
    ].randomElement(using: &random)!
  }

  @Test
  func `CloudEvents of other programs keep all attributes, and each pair of source and subject its stream`()
    async throws
  {
    let folder = try ImportFolder()
    func event(_ id: String, _ more: String) -> String {
      #"{"specversion":"1.0","id":"\#(id)","source":"/a/b%20c","type":"t",\#(more)}"#
    }
    let lines = [
      event(
        "1", #""subject":"s/1","time":"2026-01-01T01:00:00+01:00","data":{"a":1},"ext":5,"Odd":{"x":[1]}"#),
      event(
        "2", #""subject":null,"datacontenttype":"text/xml; charset=utf-8","data":"<a/>","traceparent":"00-x""#
      ),
      event("3", #""datacontenttype":"Application/Problem+JSON; x=y","data":"\"a\"""#),
      event("4", #""datacontenttype":"image/png","data_base64":"AP8=""#),
      event("5", #""data_base64":"AP8=""#), event("6", #""data":null,"x":null"#),
      event("7", #""dataschema":"u:r""#),
      event("8", #""datacontenttype":"application/json","data_base64":"eyB9""#),
    ]
    try folder.write("\u{FEFF}" + lines.joined(separator: "\n\n"), to: "e.jsonl")
    try folder.write("[\(lines.joined(separator: ",\n"))]", to: "e.json")
    for (number, name) in ["e.jsonl", "e.json"].enumerated() {
      let report = try await folder.run([folder.file(name), "--format", "cloudevents"])
      #expect(report.appended == (number == 0 ? 8 : 0) && report.known == (number == 0 ? 0 : 8), "\(report)")
    }
    let appends = try await folder.appends()
    let events = appends.map { $0.events[0] }
    let category = "%2Fa%2Fb%2520c"
    #expect(events.map(\.stream.text) == ["\(category)/s/1"] + Array(repeating: category, count: 7))
    #expect(appends.map(\.id) == (1...8).map { "/a/b%20c \($0)" })
    #expect(appends[0].ownTime == Timestamp("2026-01-01T00:00:00Z") && appends[1].givenTime == nil)
    #expect(
      try events[0].metadata()
        == ["source": "/a/b%20c", "id": "1", "subject": "s/1", "ext": 5, "Odd": ["x": [1]]])
    #expect(
      try events[1].metadata() == [
        "source": "/a/b%20c", "id": "2", "datacontenttype": "text/xml; charset=utf-8", "traceparent": "00-x",
      ])
    #expect(try events[0].document() == ["a": 1] && events[1].document() == "<a/>")
    // A text is a text: it is not read as JSON once more.
    #expect(try events[2].document() == "\"a\"")
    #expect(try events[2].metadata()["datacontenttype"] == "Application/Problem+JSON; x=y")
    #expect(events[3].payload == EventPayload(codec: .bytes, bytes: [0, 255]))
    #expect(try events[3].metadata()["datacontenttype"] == "image/png")
    #expect(events[4].payload == EventPayload(codec: .bytes, bytes: [0, 255]))
    #expect(try events[5].document() == .null)
    #expect(try events[5].metadata() == ["source": "/a/b%20c", "id": "6"])
    #expect(events[6].payload.bytes.isEmpty)
    #expect(try events[6].metadata()["dataschema"] == "u:r")
    #expect(events[7].payload == EventPayload(codec: .json, bytes: Array("{ }".utf8)))
    // Imported events go out again as they are.
    let out = try await export(folder)
    #expect(out.code == 0 && out.lines.count == 8, "\(out)")
  }

  @Test(arguments: [
    (#""specversion":"0.3","id":"1","source":"s","type":"t""#, "version of CloudEvents is not 1.0"),
    (#""specversion":1.0,"id":"1","source":"s","type":"t""#, "specversion is not a text"),
    (#""specversion":"1.0","id":"","source":"s","type":"t""#, "has no id"),
    (#""specversion":"1.0","id":"1","type":"t""#, "has no source"),
    (#""specversion":"1.0","id":"1","source":"s","type":null"#, "has no type"),
    (#""specversion":"1.0","id":"1","source":"a b","type":"t""#, "contains a space"),
    (#""specversion":"1.0","id":"1","source":"s","type":"$put""#, "begins with a dollar sign"),
    (#""specversion":"1.0","id":"1","source":"s","type":"t","time":"noon""#, "\"noon\" is not in RFC 3339"),
    (#""specversion":"1.0","id":"1","source":"s","type":"t","data":1,"data_base64":"""#, "both data"),
    (#""specversion":"1.0","id":"1","source":"s","type":"t","data_base64":"A""#, "not base 64"),
    (
      #""specversion":"1.0","id":"1","source":"s","type":"t","datacontenttype":"text/plain","data":1"#,
      "no text"
    ),
    (
      #""specversion":"1.0","id":"1","source":"s","type":"t","stratastream":"$x""#,
      "begins with a dollar sign"
    ),
    (
      #""specversion":"1.0","id":"1","source":"s","type":"$end","stratastream":"x""#,
      "begins with a dollar sign"
    ),
    (
      #""specversion":"1.0","id":"1","source":"s","type":"t","stratastream":"x","stratametadata":"AA==""#,
      "object in CBOR"
    ),
    (
      #""specversion":"1.0","id":"1","source":"s","type":"t","stratastream":"x","stratametadata":"oWJieQE=","by":1"#,
      "by is an attribute"
    ),
  ])
  func `what is no CloudEvent is bad, by name`(members: String, what: String) async throws {
    let folder = try ImportFolder()
    let file = try folder.write("{\(members)}\n")
    let failure = try await folder.failure(of: [file, "--format", "cloudevents"])
    #expect(failure.code == 65 && failure.what.contains(what), "\(failure)")
    #expect(failure.place.contains("lines.jsonl:1:"))
  }

  @Test func `exports without a source, of rows and of what no attribute can say are refused`() async throws {
    let folder = try ImportFolder()
    let hand = #"{"stream":"a/\u0007","type":"t"}"# + "\n"
    try folder.write(hand, to: "hand.jsonl")
    try await folder.run([folder.file("hand.jsonl"), "--events"])
    let bell = try await export(folder)
    #expect(bell.code == 65 && bell.errors.contains("event 1 cannot be a CloudEvent: its subject"), "\(bell)")
    #expect(try await export(folder, "--source", Self.source, "--type", "x").code == 0)
    for source in ["", "a b", "%4", "é", "a<b"] {
      let refused = try await export(folder, "--source", source)
      #expect(refused.code == 64 && refused.errors.contains("is not a URI reference"), "\(refused)")
    }
    #expect(try await export(folder, "--utc").code == 64)
    let lines = try await LogreplayProcess.run("export", folder.store, "-", "--events", "--source", "a")
    #expect(lines.code == 64, "\(lines)")
    let rows = try await LogreplayProcess.run(
      "export", folder.store, "-", "--table", "a", "--format", "cloudevents", "--source", "a")
    #expect(rows.code == 64, "\(rows)")
    let file = try folder.write(#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#)
    let plain = try await folder.failure(of: [file, "--table", "t", "--id", "id"])
    #expect(plain.code == 64 && plain.next.contains("--format cloudevents"), "\(plain)")
    let mapped = try await folder.failure(of: [file, "--format", "cloudevents", "--table", "t"])
    #expect(mapped.code == 64 && mapped.place == "--format cloudevents", "\(mapped)")
  }
}
