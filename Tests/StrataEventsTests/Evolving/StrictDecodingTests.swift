// Strict decoding: fields and types that the Swift type does not have are errors.

import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

struct StrictDecodingTests {
  private struct Line: Codable, Equatable { var item: String }

  private enum Lenient: DomainEvent, Equatable {
    case added(lines: [Line], labels: [String: Int], rest: DocumentValue)
    case closed
    static let eventPrefix = "order."
  }

  private enum Strict: DomainEvent, Equatable {
    case added(lines: [Line], labels: [String: Int], rest: DocumentValue)
    case closed
    static let eventPrefix = "order."
    static let eventDecoding = EventDecoding.strict
  }

  private struct StrictNote: DomainEvent {
    static let eventType = "note"
    static let eventPrefix = "order."
    static let eventDecoding = EventDecoding.strict
    var text: String
    var extra: Int?
  }

  /// A case whose name, after the prefix, makes one character of two.
  private enum Accented: String, DomainEvent {
    case acute = "\u{301}x"
    static let eventPrefix = "order."
    static let eventDecoding = EventDecoding.strict

    private struct Empty: Codable {}
    private struct Name: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Name.self)
      guard container.contains(Name(stringValue: Self.acute.rawValue)) else {
        throw DecodingError.typeMismatch(Self.self, .init(codingPath: [], debugDescription: "another case"))
      }
      self = .acute
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Name.self)
      try container.encode(Empty(), forKey: Name(stringValue: rawValue))
    }
  }

  private static let whole: DocumentObject = [
    "lines": [["item": "a"], ["item": "b"]], "labels": ["any": 1], "rest": ["any": ["key": 1]],
  ]

  @Test func `unknown fields are ignored by default, and refused with their path on request`() async throws {
    var wide = Self.whole
    wide["more"] = 1
    var deep = Self.whole
    deep["lines"] = [["item": "a"], ["item": "b", "price": 1]]
    let events = try await UpcastTests.recorded([
      ("order.added", .object(Self.whole)), ("order.added", .object(wide)), ("order.added", .object(deep)),
      ("order.closed", ["why": .null]), ("order.closed", [:]),
    ])
    for event in events { #expect(try event.decode(Lenient.self) != nil) }
    #expect(try events[0].decode(Strict.self) != nil && events[4].decode(Strict.self) == .closed)
    for (index, texts) in [
      (1, ["event 2 of type order.added", "no field \"more\""]),
      (2, ["no field \"price\"", "added.lines[1]"]),
      (3, ["event 4", "no field \"why\""]),
    ] {
      #expect {
        try events[index].decode(Strict.self)
      } throws: { error in texts.allSatisfy { "\(error)".contains($0) } }
    }
  }

  @Test func `a prefix is compared by its bytes, whatever character it ends in`() async throws {
    let events = try await UpcastTests.recorded([
      ("order.\u{301}x", .object([:])), ("order.\u{301}y", .object([:])), ("other", .object([:])),
    ])
    #expect(try events[0].decode(Accented.self) == .acute)
    #expect(throws: StoreError.self) { try events[1].decode(Accented.self) }
    #expect(try events[2].decode(Accented.self) == nil)
  }

  @Test func `an unknown type after the prefix of a strict enum is an error`() async throws {
    let events = try await UpcastTests.recorded([
      ("order.lost", [:]), ("other", [:]), ("order.note", ["text": "x"]),
    ])
    #expect(try events.map { try $0.decode(Lenient.self) } == [nil, nil, nil])
    #expect {
      try events[0].decode(Strict.self)
    } throws: { error in
      guard case .undecodable(let what, _)? = error as? StoreError else { return false }
      return what.contains("has the type order.lost, which Strict does not have")
    }
    #expect(throws: StoreError.self) { try events[0].decodeAll(Strict.self) }
    #expect(try events[1].decode(Strict.self) == nil)
    // A struct has one type, and others may have the same prefix.
    #expect(try events[0].decode(StrictNote.self) == nil)
    #expect(try events[2].decode(StrictNote.self)?.text == "x")
  }

  @Test func `a field that is there and is not read in this event is known`() async throws {
    let events = try await UpcastTests.recorded([
      ("order.note", ["text": "x", "extra": 1]), ("order.note", ["text": "x", "extra": .null]),
      ("order.note", ["text": "x", "super": 1]),
    ])
    #expect(try events[0].decode(StrictNote.self)?.extra == 1)
    #expect(try events[1].decode(StrictNote.self)?.extra == nil)
    #expect(throws: StoreError.self) { try events[2].decode(StrictNote.self) }
  }

  private class Base: Codable {
    var a = 0
  }

  private final class Derived: Base {
    var b = 0
    enum CodingKeys: CodingKey { case b }
    required init(from decoder: any Decoder) throws {
      b = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .b)
      try super.init(from: decoder)
    }
  }

  @Test func `several containers of one object know the keys of all of them`() throws {
    var decoder = CBORDecoder()
    decoder.refusesUnknownKeys = true
    let fine: DocumentValue = ["a": 1, "b": 2]
    let derived = try decoder.decode(Derived.self, from: fine.cbor())
    #expect(derived.a == 1 && derived.b == 2)
    let more: DocumentValue = ["a": 1, "b": 2, "c": 3, "d": 4]
    #expect {
      try decoder.decode(Derived.self, from: more.cbor())
    } throws: { "\($0)".contains("no field \"c\"") }
  }
}
