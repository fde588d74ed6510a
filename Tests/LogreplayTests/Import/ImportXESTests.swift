// Logs of events in XES and OCEL that are hostile, damaged or unusual.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
@testable import StrataPast
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportXESTests {
  private func xes(_ inside: String) -> String {
    "<?xml version='1.0' encoding='utf-8' ?>\n<!-- a log -->\n<log xes.version=\"1.0\">\n\(inside)\n</log>\n"
  }

  private func trace(_ inside: String, id: String = "c1") -> String {
    xes("<trace><string key=\"concept:name\" value=\"\(id)\"/>\(inside)</trace>")
  }

  private let event =
    "<event><string key='concept:name' value='a'/><date key='time:timestamp' value='2026-01-01T00:00:00+01:00'/></event>"

  @Test func `attributes of traces are a row, and values inside values, lists and containers are kept`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write(
      trace(
        """
        <int key="amount" value="7"/>
        <event><date key="time:timestamp" value="2026-01-01T00:00:00.5Z"/><string key="concept:name" value="&#x41;&amp;
        b"/>
        <boolean key="ok" value="True"/><float key="f" value="1"/><string key="s" value="x"><int key="in" value="1"/></string>
        <list key="l"><values><string key="e" value="1"/><string key="e" value="2"/></values></list>
        <container key="c"><id key="i" value="u"/></container></event>
        """), to: "a.xes")
    let report = try await folder.run([folder.file("a.xes")])
    #expect(report.appended == 2)
    let events = try await folder.appends().flatMap(\.events)
    #expect(events.map(\.stream.text) == ["case/c1", "case/c1"] && events.map(\.type) == ["$put", "A& b"])
    #expect(events.map(\.time.description) == Array(repeating: "2026-01-01T00:00:00.500000000Z", count: 2))
    #expect(
      try await folder.documents() == [
        ["amount": 7],
        [
          "ok": true, "f": 1.0, "s": ["value": "x", "attributes": ["in": 1]], "l": [["e": "1"], ["e": "2"]],
          "c": ["i": "u"],
        ],
      ])
  }

  @Test
  func `XML that is damaged, or names what is not in it, is refused with its line, and nothing is appended`()
    async throws
  {
    let entity = "<!DOCTYPE log [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
    for (text, words) in [
      (entity + xes(""), ["line 1", "document type"]),
      ("<?xml version='1.0' encoding='ISO-8859-1'?><log/>", ["ISO-8859-1", "iconv"]),
      (trace(event.replacing("value='a'", with: "value='&x;'")), ["reference", "\"value\""]),
      (trace(event.replacing("value='a'", with: "value='&#1;'")), ["reference"]),
      (trace(event.replacing("value='a'", with: "value='a' value='b'")), ["twice"]),
      (trace("<event></trace>"), ["\"trace\"", "not open"]),
      (trace(event + event.replacing("2026-01-01T00:00:00+01:00", with: "yesterday")), ["yesterday"]),
      (trace("<event><string key='concept:name' value='a'/></event>"), ["time:timestamp"]),
      (trace(event.replacing("'a'", with: "'$erase'")), ["$erase", "dollar"]),
      (trace(event.replacing("<event>", with: "<event><int key='n' value='1.5'/>")), ["1.5", "int"]),
      (xes("<trace>\(event)</trace>"), ["no concept:name"]),
      (trace(event) + "<log/>", ["second element"]),
      (String(trace(event).dropLast(8)), ["input ends"]),
      (xes(event), ["outside of a trace"]),
      (
        xes(String(repeating: "<trace><string key='concept:name' value='c'/></trace>", count: 2)),
        ["second trace"]
      ),
      (String(repeating: "<a>", count: 200), ["not <log>"]),
    ] {
      let folder = try ImportFolder()
      try folder.write(text, to: "a.xes")
      let failure = try await folder.failure(of: [folder.file("a.xes")])
      #expect(
        failure.code == 65 && words.allSatisfy { (failure.what + failure.next).contains($0) },
        "\(text): \(failure)")
      #expect(!FileManager.default.fileExists(atPath: folder.store))
    }
  }

  @Test func `a log is appended in the order of time, and a case that goes on later adds only what is new`()
    async throws
  {
    let folder = try ImportFolder()
    func event(_ second: Int) -> String {
      self.event.replacing("00:00:00+01", with: "00:00:0\(second)+01").replacing("'a'", with: "'s\(second)'")
    }
    func log(_ more: String) -> String {
      xes(
        "<trace><string key='concept:name' value='x'/>\(event(3))\(event(5))\(more)</trace>"
          + "<trace><string key='concept:name' value='y'/>\(event(1))\(event(4))</trace>")
    }
    try folder.write(log(""), to: "a.xes")
    try await folder.run([folder.file("a.xes")])
    #expect(try await folder.appends().flatMap(\.events).map(\.type) == ["s1", "s3", "s4", "s5"])
    try folder.write(log(event(7)), to: "a.xes")
    let report = try await folder.run([folder.file("a.xes")])
    #expect(report.appended == 1 && report.known == 4)
  }

  @Test func `objects become rows that change in the order of time, and events name all their objects`()
    async throws
  {
    let folder = try ImportFolder()
    // The arrays are in another order than that of an export, and the types come last.
    try folder.write(
      """
      {"events":[
       {"id":"e1","type":"place","time":"2026-01-02T00:00:00Z","attributes":[{"name":"n","value":"5"}],
        "relationships":[{"objectId":"o1","qualifier":"order"},{"objectId":"p/1","qualifier":"of"}]},
       {"id":"e2","type":"idle","time":"2026-01-01T00:00:00Z"}],
       "objects":[{"id":"o1","type":"order","attributes":[
         {"name":"price","time":"2026-01-03T00:00:00Z","value":"2.50"},
         {"name":"price","time":"1970-01-01T00:00:00Z","value":"1"}],
         "relationships":[{"objectId":"p/1","qualifier":"has"}]},{"id":"p/1","type":"p"}],
       "objectTypes":[{"name":"order","attributes":[{"name":"price","type":"float"}]},{"name":"p","attributes":[]}],
       "eventTypes":[{"name":"place","attributes":[{"name":"n","type":"integer"}]}]}
      """, to: "a.json")
    try await folder.run([folder.file("a.json"), "--format", "ocel"])
    let events = try await folder.appends().flatMap(\.events)
    #expect(events.map(\.stream.text) == ["order/o1", "p/1", "event/e2", "order/o1", "order/o1"])
    #expect(events.map(\.type) == ["$put", "$put", "idle", "place", "$merge"])
    #expect(try await folder.documents() == [["price": 1.0], [:], [:], ["n": 5], ["price": 2.5]])
    #expect(
      try events[3].metadata() == [
        "objects": [
          ["id": "o1", "qualifier": "order", "type": "order"], ["id": "p/1", "qualifier": "of", "type": "p"],
        ]
      ])
    #expect(try events[2].metadata() == ["objects": []])
  }

  @Test
  func `OCEL that names what is not there, or holds it twice, is refused by name, and nothing is appended`()
    async throws
  {
    let object = #"{"id":"o","type":"t"}"#
    let idle = #"{"id":"e0","type":"a","time":"2025-01-01T00:00:00Z"}"#
    func log(_ events: String, _ objects: String, _ more: String = "") -> String {
      "{\"events\":[\(events)],\"objects\":[\(objects)]\(more)}"
    }
    func event(_ inside: String) -> String {
      "{\"id\":\"e\",\"type\":\"a\",\"time\":\"2026-01-01T00:00:00Z\"\(inside)}"
    }
    for (text, words) in [
      // What is bad comes after an event that is good.
      (
        log(idle + "," + event(#","relationships":[{"objectId":"q","qualifier":""}]"#), object),
        ["\"q\"", "not there"]
      ),
      (log("", object + "," + object), ["two objects with one id"]),
      (log("", object + #",{"id":"t/o","type":"t"}"#), ["one row"]),
      (log(event(#","vmap":{}"#), ""), ["\"vmap\""]),
      (log(event(#","attributes":[{"name":"x","value":[1]}]"#), ""), ["array"]),
      (log("", #"{"id":"o","type":"a/b"}"#), ["\"a/b\"", "slash"]),
      (log("", "", #","ocel:global":{}"#), ["ocel:global"]),
      (log("{}", ""), ["element 1 of \"events\"", "\"id\""]),
      ("[]", ["no object"]), ("{\"events\":[", ["ends"]), ("{\"events\":[]}", ["\"objects\""]),
    ] {
      let folder = try ImportFolder()
      try folder.write(text, to: "a.jsonocel")
      let failure = try await folder.failure(of: [folder.file("a.jsonocel")])
      #expect(failure.code == 65 && words.allSatisfy { failure.what.contains($0) }, "\(text): \(failure)")
      #expect(!FileManager.default.fileExists(atPath: folder.store))
    }
  }
}
