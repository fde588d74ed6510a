// Events in columns, on terminals of several widths.

import LogreplayPoints
import Strata
import StrataDocuments
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell

struct EventTableTests {
  private static let long = "incident/" + String(repeating: "i", count: 60)
  private static let longType = "com.example.tickets.StatusChangedByAgent"

  /// The lines of a table with one event for each pair of a stream and a type.
  private func lines(_ events: [(String, String)], width: Int?) async throws -> [String] {
    let folder = try SampleFolder()
    let store = try await folder.open()
    let payload = DocumentValue.string(String(repeating: "p", count: 300))
    for (stream, type) in events {
      try await store.append([NewEvent(type, in: StreamName(stream), payload)])
    }
    var table = EventTable(people: PeopleText(zone: .utc, isColored: false), width: width)
    var bytes: [UInt8] = []
    for try await append in store.feed(until: .caughtUp) {
      for event in append.events { table.add(event, to: &bytes) }
    }
    table.settle(to: &bytes)
    try await store.close()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test(arguments: [1, 20, 40, 60, 80, 100, 120, 150, 200, 300])
  func `no row is wider than the terminal`(width: Int) async throws {
    for events in [
      [("a/1", "t")], [(Self.long, "t")], [("a/1", Self.longType)], [(Self.long, Self.longType)],
      [("a/1", "t"), (Self.long, Self.longType), ("a/1", Self.longType), (Self.long, "t")],
    ] {
      let lines = try await lines(events, width: width)
      #expect(lines.count == events.count + 1)
      #expect(lines.allSatisfy { $0.count <= width }, "\(lines)")
    }
  }

  @Test(arguments: [(100, 25), (110, 27), (120, 30)])
  func `long streams and types leave the payload a quarter of the terminal`(
    width: Int, least: Int
  ) async throws {
    for events in [[(Self.long, "t")], [(Self.long, Self.longType)], [("a/1", "t"), (Self.long, "t")]] {
      let lines = try await lines(events, width: width)
      for line in lines.dropFirst() {
        let payload = line.drop { $0 != "\"" }
        #expect(payload.count >= least && payload.hasSuffix("…"), "\(line)")
      }
      let begins = Set(lines.dropFirst().map { $0.prefix { $0 != "\"" }.count })
      #expect(begins == [lines[0].count - "PAYLOAD".count], "the columns are not aligned: \(lines)")
    }
  }

  @Test func `a narrow terminal still shows where streams begin`() async throws {
    let lines = try await lines([(Self.long, Self.longType)], width: 80)
    #expect(lines[1].contains("incident/iiii…") && lines[1].contains("com.exa…"), "\(lines)")
  }

  @Test func `nothing is cut where there is no terminal, or room for all`() async throws {
    let events = [(Self.long, Self.longType)]
    let whole = try await lines(events, width: nil)
    #expect(whole[1].contains("\(Self.long)  ") && whole[1].hasSuffix("p\""), "\(whole)")
    let short = try await lines([("incident/1-42", "$merge")], width: 80)
    #expect(short[1].contains("  incident/1-42  ") && short[1].contains("  $merge  "), "\(short)")
  }
}
