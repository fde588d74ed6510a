// Names of streams and positions in documents and JSON, and events as rows of a list.

import Foundation
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct CodedNameTests {
  private struct Bookmark: Codable, Equatable {
    var stream: StreamName
    var position: LogPosition
  }

  /// The text of the error with which a text does not decode, because the data are wrong; nil if it decodes.
  private func corruption<Value: Decodable>(_ text: String, as type: Value.Type) throws -> String? {
    let data = try JSONEncoder().encode([text])
    do {
      _ = try JSONDecoder().decode([Value].self, from: data)
      return nil
    } catch DecodingError.dataCorrupted(let context) {
      return context.debugDescription
    }
  }

  @Test func `a stream's name and a position are coded as their texts`() throws {
    let bookmark = Bookmark(stream: "ticket/42", position: LogPosition(sequence: 7, chain: 255))
    let document: DocumentValue = ["stream": "ticket/42", "position": "7@00000000000000ff"]
    #expect(try DocumentValue(encoding: bookmark) == document)
    #expect(try document.decode(Bookmark.self) == bookmark)
    let json = try JSONEncoder().encode(bookmark)
    #expect(try JSONDecoder().decode(Bookmark.self, from: json) == bookmark)
    let last = LogPosition(sequence: .max, chain: .max)
    #expect(try JSONDecoder().decode([LogPosition].self, from: JSONEncoder().encode([last])) == [last])
  }

  @Test func `the position of a receipt is resumed from after coding`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    for number in 1...3 { try await store.append([NewEvent("t\(number)", in: "a/1", .null)]) }
    var positions: [LogPosition] = []
    for try await append in store.feed(until: .caughtUp) { positions.append(try append.position) }
    let kept = try JSONEncoder().encode(positions)
    let second = try #require(try JSONDecoder().decode([LogPosition].self, from: kept).dropFirst().first)
    var types: [String] = []
    for try await append in store.feed(from: .position(second), until: .caughtUp) {
      types += append.events.map(\.type)
    }
    #expect(types == ["t3"])
  }

  @Test func `a text that is no name of a stream is refused, with the reason`() throws {
    let longest = String(repeating: "x", count: 1024)
    #expect(try corruption(longest, as: StreamName.self) == nil)
    for (wrong, size) in [("", 0), (longest + "x", 1025)] {
      let text = try #require(try corruption(wrong, as: StreamName.self))
      #expect(text.contains("not the name of a stream"))
      #expect(text.contains("a size of \(size)"))
      #expect(throws: EncodingError.self) { try JSONEncoder().encode([StreamName(wrong)]) }
    }
  }

  @Test func `a text that is no position is refused, with the reason`() throws {
    for wrong in [
      "", "7", "7@", "7@ff", "@00000000000000ff", "-7@00000000000000ff", "+7@00000000000000ff",
      "7@+0000000000000ff", " 7@00000000000000ff", "7@00000000000000ff@", "7@00000000000000fg",
      "18446744073709551616@00000000000000ff",
    ] {
      #expect(LogPosition(wrong) == nil, "\(wrong)")
      let text = try #require(try corruption(wrong, as: LogPosition.self), "\(wrong)")
      #expect(text.contains("is not a position in a log"))
    }
  }

  @Test func `an event's id is its sequence`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    try await store.append([NewEvent("t", in: "a/1", .null), NewEvent("u", in: "b/1", .null)])
    try await store.append([NewEvent("v", in: "a/1", .null)])
    #expect(try await store.events(in: "a/1").map(\.id) == [1, 3])
  }
}
