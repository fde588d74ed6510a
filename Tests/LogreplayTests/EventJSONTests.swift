// The JSON of an event, byte for byte: programs depend on it.

@testable import StrataDocuments
@testable import StrataEvents
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct EventJSONTests {
  private func event(
    _ payload: EventPayload, state: RecordedEvent.State = .whole, metadata: [UInt8] = []
  ) -> RecordedEvent {
    RecordedEvent(
      sequence: 7, revision: 2, stream: "incident/1-364285768", type: "$put",
      time: Timestamp(nanoseconds: 1_795_198_636_120_000_000), payload: payload,
      codecNumber: payload.codec.rawValue, metadataBytes: metadata, state: state)
  }

  private func json(_ event: RecordedEvent, id: String? = nil, given: Timestamp? = nil) -> String {
    var first = event
    first.sequence = event.sequence - 1
    let append = RecordedAppend(
      time: event.time, givenTime: given, id: id, events: [first, event],
      sequences: first.sequence...event.sequence, chains: BlockChains(chains: [:]))
    var bytes: [UInt8] = []
    var writer = EventJSON()
    writer.append(event, of: append, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private let head =
    #"{"schema":1,"sequence":7,"append":[6,7],"time":"2026-11-20T18:17:16.120000000Z","#

  @Test func `a document has its keys in ascending order`() {
    let metadata = DocumentValue.object(["client": "web"]).cbor()
    let text = json(event(EventPayload(["b": 1, "a": 1.0, "é": "\"\n"]), metadata: metadata), id: "import:7")
    #expect(
      text == head + #""stream":"incident/1-364285768","version":2,"type":"$put","id":"import:7","#
        + #""metadata":{"client":"web"},"codec":"cbor","payload":{"a":1.0,"b":1,"é":"\"\n"}}"#)
  }

  @Test func `what is absent is null or an empty object`() {
    let text = json(event(.opaque([1, 2, 3])))
    #expect(
      text == head + #""stream":"incident/1-364285768","version":2,"type":"$put","id":null,"#
        + #""metadata":{},"codec":"bytes","payload":{"b64":"AQID"}}"#)
  }

  @Test func `a given time is shown where it differs`() {
    let text = json(event(EventPayload(.null)), given: Timestamp("2020-01-01T00:00:00Z"))
    #expect(text.contains(#""given":"2020-01-01T00:00:00.000000000Z","stream""#))
  }

  @Test func `JSON payloads are written anew, and what a codec rejects is shown as bytes`() {
    let whole = json(event(EventPayload(codec: .json, bytes: Array(#"{"b":1, "a":2}"#.utf8))))
    #expect(whole.hasSuffix(#""codec":"json","payload":{"a":2,"b":1}}"#))
    let broken = json(event(EventPayload(codec: .json, bytes: Array(#"{"b""#.utf8))))
    #expect(broken.hasSuffix(#""codec":"json","payload":{"b64":"eyJiIg=="}}"#))
    let truncated = json(event(EventPayload(codec: .cbor, bytes: [0x81])))
    #expect(truncated.hasSuffix(#""codec":"cbor","payload":{"b64":"gQ=="}}"#))
  }

  @Test func `erased and opaque events say so`() {
    let none = EventPayload.opaque([])
    #expect(json(event(none, state: .erased)).hasSuffix(#""payload":null,"erased":true}"#))
    #expect(json(event(none, state: .opaque(kind: 200))).hasSuffix(#""payload":null,"opaque":true}"#))
  }

  @Test func `an error is one JSON object`() {
    let failure = CommandFailure(66, "no \"store\" is there", at: "/a", next: "check the path")
    #expect(
      failure.json
        == #"{"schema":1,"error":{"code":66,"what":"no \"store\" is there","where":"/a","next":"check the path"}}"#
    )
  }

  @Test func `a field of CSV is quoted where it must be`() {
    for (field, expected) in [
      ("a", "a"), ("a,b", "\"a,b\""), ("\"", "\"\"\"\""), ("a\nb", "\"a\nb\""), ("", ""),
    ] {
      var bytes: [UInt8] = []
      CSVText.commas.append(field, to: &bytes)
      #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }
  }

  @Test func `text for people holds no control characters`() {
    #expect(PeopleText.printable("a\u{1B}[31m\nb\u{202E}") == "a\\u{1b}[31m\\u{a}b\\u{202e}")
    #expect(PeopleText.printable("größer 🙂") == "größer 🙂")
  }

  @Test func `the format of the answer is known before the arguments are parsed`() {
    #expect(OutputFormat.requested(in: ["log", "x", "-o", "json"]) == .json)
    #expect(OutputFormat.requested(in: ["log", "x", "-ojsonl"]) == .jsonl)
    #expect(OutputFormat.requested(in: ["log", "x", "--output=csv"]) == .csv)
    #expect(OutputFormat.requested(in: ["log", "x", "--", "-o", "json"]) == nil)
  }
}
