// Single lines: what JSON can say is JSON, and everything else is kept as bytes or refused by name.

import Foundation
import StrataBase
import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

@Suite struct EventLineTests {
  /// The line of one event.
  private static func line(_ event: NewEvent) throws -> String {
    let store = EventStore.inMemory(clock: .fixed)
    try store.appendBlocking([event])
    return String(decoding: try TransferStores.lines(store).splitLines[1], as: UTF8.self)
  }

  private static func line(_ payload: EventPayload) throws -> String {
    try line(NewEvent("t", in: "a/1", payload: payload))
  }

  @Test func `fault 120: the text of a document gives its bytes back, or there is none`() throws {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    var exact = 0
    for round in 0..<4_000 {
      let isJSON = Bool.random(using: &random)
      let document = DocumentRecipe(depth: 4, isJSON: isJSON).document(using: &random)
      guard document.refusal == nil else { continue }
      var bytes = document.cbor()
      if round % 3 == 0, !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var text = RawBuffer(capacity: 64)
      text.append(byte: UInt8(ascii: "!"))
      let isExact = bytes.withUnsafeBytes { JSONTranscoder.append(exactly: $0, to: &text) }
      let written = Array(text.bytes.dropFirst())
      guard isExact else {
        #expect(written.isEmpty, "seed \(seed), round \(round)")
        #expect(!isJSON || round % 3 == 0, "\(document.json()), seed \(seed), round \(round)")
        continue
      }
      exact += 1
      #expect(try DocumentValue(json: written).cbor() == bytes, "seed \(seed), round \(round)")
      // Another reader, which nobody here wrote, takes it too, unless it is deep or has numbers that it cannot hold.
      if !written.contains(UInt8(ascii: "e")), round % 20 == 0, isJSON {
        let fragment = Data(Array("[".utf8) + written + Array("]".utf8))
        #expect((try? JSONSerialization.jsonObject(with: fragment)) != nil, "seed \(seed), round \(round)")
      }
    }
    #expect(exact > 1_000)
  }

  @Test func `base 64 is that of Foundation, and only one text stands for bytes`() {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    for count in 0..<200 {
      let bytes = random.bytes(count: count)
      var text = RawBuffer(capacity: 64)
      bytes.withUnsafeBytes { Base64.append($0, to: &text) }
      #expect(String(decoding: text.bytes, as: UTF8.self) == Data(bytes).base64EncodedString())
      #expect(Base64.decoded(text.bytes) == bytes)
    }
    for text in [
      "A", "AA", "AAA", "AB==", "AAB=", "AA=A", "====", "A===", "AAAA=AAA", "AA\nA", "-_==", "AA==AA==",
    ] {
      #expect(Array(text.utf8).withUnsafeBytes { Base64.decoded($0) } == nil, "\(text)")
    }
  }

  @Test func `times are written as everywhere, also before 1970 and at both ends of the range`() {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    var times = EventTimeText()
    let ends: [Int64] = [
      .min, .min + 1, -86_400_000_000_000, -1, 0, 1, 86_399_999_999_999, 86_400_000_000_000, .max,
    ]
    for time in ends + (0..<500).map({ _ in Int64(truncatingIfNeeded: random.next()) }) {
      var text = RawBuffer(capacity: 64)
      times.append(time, to: &text)
      #expect(String(decoding: text.bytes, as: UTF8.self) == Timestamp(nanoseconds: time).description)
    }
  }

  @Test func `hostile payloads are JSON where that keeps them, and bytes where it would not`() throws {
    func bytes(_ codec: PayloadCodec, _ bytes: [UInt8]) throws -> String {
      try Self.line(EventPayload(codec: codec, bytes: bytes))
    }
    let nan = try bytes(.cbor, [0xF9, 0x7E, 0x00])
    #expect(nan.contains(#""codec":"cbor","base64":"+X4A""#), "\(nan)")
    #expect(try bytes(.cbor, [0x1B, 0x80, 0, 0, 0, 0, 0, 0, 0]).contains(#""data":9223372036854775808"#))
    #expect(
      try bytes(.cbor, [0x3B] + [UInt8](repeating: 0xFF, count: 8)).contains(#""data":-18446744073709551616"#)
    )
    #expect(try bytes(.cbor, [0xA2, 0x61, 0x61, 1, 0x61, 0x61, 2]).contains(#""base64":"omFhAWFhAg==""#))
    #expect(try bytes(.cbor, [0xA2, 0x61, 0x62, 1, 0x61, 0x61, 2]).contains(#""base64""#))
    #expect(try bytes(.cbor, [0x18, 0x05]).contains(#""base64":"GAU=""#))
    #expect(try bytes(.cbor, [0x62, 0xC3, 0x28]).contains(#""base64""#))
    #expect(try bytes(.cbor, [0x61, 0x00]).contains(#""data":"\u0000""#))
    #expect(try bytes(.cbor, [0x80] + [0x80]).contains(#""base64""#))
    #expect(try bytes(.cbor, [0xF9, 0x80, 0x00]).contains(#""data":-0.0"#))
    #expect(
      try bytes(.cbor, []).hasSuffix(#""type":"t","chain":""# + String(try bytes(.cbor, []).suffix(18))))
    let deepest = [UInt8](repeating: 0x81, count: 128)
    #expect(try bytes(.cbor, deepest + [0x01]).contains(#""data":[[["#))
    #expect(try bytes(.cbor, deepest + [0x81, 0x01]).contains(#""base64""#))
    #expect(try bytes(.json, Array(#"{"a": 1.50}"#.utf8)).contains(#""codec":"json","data":{"a": 1.50}"#))
    for text in [#"{"a":1,"a":2}"#, "1e400", " 1", "[\n]", "", "{", String(repeating: "[", count: 200)] {
      #expect(try bytes(.json, Array(text.utf8)).contains(#""codec":"json","base64":"#), "\(text)")
    }
    #expect(try bytes(.bytes, [0xFF, 0x00]).contains(#""codec":"bytes","base64":"/wA=""#))
  }

  @Test func `the example on the page of event lines is what a store exports, and is taken by another one`()
    throws
  {
    let options = TransferStores.options()
    let disk = SimulatedDisk()
    let store = try EventStore.open(
      disk, path: "/store", .readWrite, options: options, storeID: StoreID(low: 1, high: 2))
    let time = try #require(Timestamp("2026-11-20T18:17:16Z"))
    try store.appendBlocking(
      [
        NewEvent(
          "opened", in: "ticket/42", .object(["title": "Printer", "cost": .double(12.5)]),
          metadata: ["by": "ann"])
      ],
      id: "mail-7", time: time)
    try store.appendBlocking(
      [
        NewEvent("assigned", in: "ticket/42", .object(["to": "bob"])),
        NewEvent("attached", in: "file/9", payload: .opaque([0xFF, 0xD8])),
      ], time: time)
    try store.appendBlocking(
      [NewEvent("closed", in: "ticket/42", .null)], time: Timestamp(nanoseconds: time.nanoseconds - 1))
    try store.eraseBlocking(Erasure(sequences: [2...2], because: "a wrong name"))
    let lines = try TransferStores.lines(store, to: .sequence(4))
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Sources/StrataEvents/StrataEvents.docc/EventLines.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text.contains("```json\n" + String(decoding: lines, as: UTF8.self) + "```\n"))
    #expect(try TransferStores.take(lines, into: TransferStores.open(SimulatedDisk())).relation == .same)
    // The form to make by hand is on the page, too.
    let byHand = try #require(
      text.components(separatedBy: "## Lines made by hand").last?.components(separatedBy: "```").dropFirst()
        .first)
    let other = EventStore.inMemory(clock: .fixed)
    try other.appendBlocking((0..<12).map { _ in NewEvent("filled", in: "stock/3", .null) })
    let report = try TransferStores.take(Array(byHand.dropFirst("json\n".count).utf8), into: other)
    #expect(report.appended == 3)
  }

  @Test func `strings end where they end, wherever quotes and backslashes are in them`() throws {
    let store = try TransferStores.open(SimulatedDisk())
    for (number, ending) in ["", "\\", "\"", "\\\"", "\\\\", "\"\"\\", "é\"", "\u{1}\\"].enumerated() {
      for length in 0...17 {
        let text = String(repeating: "x", count: length) + ending
        let event = NewEvent(
          "t" + text, in: "a/\(text)y",
          .object(["\(text)": .string(text + "z"), "n": .array([.string(text)])]),
          metadata: ["m": .string(text)])
        try store.appendBlocking([event], id: "\(number)-\(text)")
      }
    }
    let report = try TransferStores.take(
      try TransferStores.lines(store), into: TransferStores.open(SimulatedDisk()))
    #expect(report.relation == .same && report.appended == 8 * 18)
  }

  @Test func `a line by hand needs a stream and a type, and may say the rest`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let text = """
      {"stream":"ticket/42","type":"opened","data":{"title":"Printer","n":18446744073709551616}}

      {"type":"assigned" , "stream":"ticket/42", "metadata":{"by":"ann"},"time":"2020-02-29T12:00:00+01:00","expected":1}
      {"append":2,"id":"both","stream":"ticket/1","type":"opened","expected":"none","data":null}
      {"stream":"ticket/2","type":"$delete"}
      {"stream":"file/a","type":"seen","codec":"bytes","base64":"AAEC"}
      {"stream":"file/a","type":"seen","codec":"json","data":{ "a": 1.10 }}
      """
    let report = try TransferStores.take(Array(text.utf8), into: store, source: "tickets")
    #expect(report.appendsRead == 5 && report.eventsRead == 6 && report.appended == 5 && report.raised == 1)
    let appends = try await TransferStores.appends(store)
    #expect(appends.map(\.id) == ["tickets#1", "tickets#3", "both", "tickets#6", "tickets#7"])
    #expect(appends[1].events[0].time.description == "2020-02-29T11:00:00.000000000Z")
    #expect(try appends[1].events[0].metadata() == ["by": "ann"])
    #expect(appends[3].events[0].payload == .opaque([0, 1, 2]))
    #expect(appends[4].events[0].payload == EventPayload(codec: .json, bytes: Array(#"{ "a": 1.10 }"#.utf8)))
    let again = try TransferStores.take(Array(text.utf8), into: store, source: "tickets")
    #expect(again.appended == 0 && again.known == 5)
    // A line that was changed is not a new event.
    let changed = text.replacingOccurrences(of: "Printer", with: "Screen")
    #expect(throws: StoreError.idReused(id: "tickets#1", sequences: 1...1)) {
      try TransferStores.take(Array(changed.utf8), into: store, source: "tickets")
    }
  }

  @Test func `a line that is none is refused with its number, its column and why`() throws {
    let good = #"{"stream":"a/1","type":"t"}"#
    let long = String(repeating: "x", count: 1025)
    let bad: [(String, String)] = [
      ("x", "line 2, column 1: the line is not an object"),
      (#"{"stream":"a/1"}"#, #"line 2, column 1: "type" is missing"#),
      (#"{"stream":"a/1","type":"t","type":"u"}"#, #"column 35: the member "type" occurs twice"#),
      (#"{"stream":"a/1","type":"t","dta":1}"#, #"no member "dta""#),
      (#"{"stream":"é/1","type":"t","data":{"a":1,"a":2}}"#, #"column 42: the key "a" occurs twice"#),
      (#"{"stream":"a/1","type":"t","data":1e400}"#, "a number that a double cannot hold"),
      (#"{"stream":"a/1","type":"t","data":0.123456789012345678}"#, "a number that a double cannot hold"),
      (#"{"stream":"a/1","type":"t","data":[1}"#, "line 2, column 38: a comma or } is missing"),
      (#"{"stream":"a/1","type":"t","data":1"#, "line 2"),
      (#"{"stream":"a/1","type":"t"} {}"#, "more text after the object"),
      (#"{"stream":"","type":"t"}"#, "has 0 bytes"),
      ("{\"stream\":\"\(long)\",\"type\":\"t\"}", "has 1025 bytes, and 1 to 1024 are allowed"),
      (#"{"stream":"a/1","type":"t","base64":"AAAA"}"#, #""base64" needs a "codec""#),
      (#"{"stream":"a/1","type":"t","codec":"cbor","base64":"AAA"}"#, "not base 64"),
      (#"{"stream":"a/1","type":"t","codec":"xml","data":1}"#, #""codec" is cbor, json, bytes or a number"#),
      (#"{"stream":"a/1","type":"t","time":"2020-01-01T00:00:00"}"#, "not a time with an offset"),
      (#"{"stream":"a/1","type":"t","time":"1600-01-01T00:00:00Z"}"#, "not a time with an offset"),
      (#"{"stream":"a/1","type":"$mine"}"#, "reserved for Strata"),
      (#"{"stream":"a/1","type":"t","append":0}"#, "not an integer from 1"),
      (#"{"stream":"a/1","type":"t","expected":"one"}"#, #""expected" is any, none"#),
      (#"{"stream":"a/1","type":"t","metadata":[1]}"#, #""metadata" is not an object"#),
      (#"{"strata":"end","events":1,"appends":1,"chain":"0000000000000000"}"#, "an export begins or ends"),
    ]
    for (line, why) in bad {
      let store = EventStore.inMemory(clock: .fixed)
      let error = #expect(throws: StoreError.self) {
        try TransferStores.take(Array("\(good)\n\(line)\n".utf8), into: store)
      }
      #expect(error?.what.contains(why) == true, "\(line): \(error?.what ?? "")")
      #expect(error?.what.hasPrefix("line 2, column ") == true, "\(line): \(error?.what ?? "")")
      #expect(store.head.sequence == 1, "what comes before the line stays")
    }
  }
}
