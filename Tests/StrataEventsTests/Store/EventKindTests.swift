// Which values name their events themselves: those of enums.

import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

private struct Size: Codable, Sendable, Equatable {
  var width: Int
}

private struct Boxed: DomainEvent {
  var size: Size
}

private struct OptionallyBoxed: DomainEvent {
  var size: Size?
}

private struct Numbered: DomainEvent {
  var number: Int
}

private struct Named: DomainEvent, Equatable {
  static let eventType = "named"
  var size: Size
}

private final class Held: DomainEvent {
  let note: Note

  init(_ note: Note) { self.note = note }
}

private enum Note: DomainEvent, Equatable {
  case opened(size: Size)
  case resized(Size?)
  case closed
}

private enum Outer: DomainEvent, Equatable {
  static let eventPrefix = "outer."
  case noted(Note)
  indirect case nested(Outer)
}

private enum Either<Left: Codable & Sendable>: DomainEvent {
  case left(Left)
}

private enum Described: DomainEvent, CustomReflectable {
  case opened(size: Size)
  var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

struct EventKindTests {
  @Test
  func `a struct or a class without an eventType is refused, whatever its only property holds`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    let size = Size(width: 3)
    let values: [any DomainEvent] = [
      Boxed(size: size), OptionallyBoxed(size: size), OptionallyBoxed(size: nil), Numbered(number: 5),
      Held(.opened(size: size)), Held(.closed),
    ]
    for value in values {
      // Twice, since the answer is kept.
      for _ in 0..<2 {
        #expect("\(value)") {
          try value.encoded()
        } throws: { error in
          "\(error)".contains("\(type(of: value)) is not an enum and has no eventType; give it")
        }
      }
    }
    await #expect(throws: StoreError.self) { try await store.append([Boxed(size: size)], to: "box/1") }
    #expect(store.head.sequence == 0)
    let named = try Named(size: size).encoded()
    #expect(named.type == "named")
    #expect(try named.payload.document() == ["size": ["width": 3]])
  }

  @Test
  func `a case names its event, also one in a case, one of a generic enum and one with a mirror of its own`()
    async throws
  {
    let size = Size(width: 3)
    func check(_ value: some DomainEvent, _ type: String, _ payload: DocumentValue) throws {
      for _ in 0..<2 {
        let encoded = try value.encoded()
        #expect(encoded.type == type)
        #expect(try encoded.payload.document() == payload, "\(type)")
      }
    }
    try check(Note.opened(size: size), "opened", ["size": ["width": 3]])
    try check(Note.resized(size), "resized", ["_0": ["width": 3]])
    try check(Note.resized(nil), "resized", [:])
    try check(Note.closed, "closed", [:])
    try check(Outer.noted(.closed), "outer.noted", ["_0": ["closed": [:]]])
    try check(Outer.nested(.noted(.closed)), "outer.nested", ["_0": ["noted": ["_0": ["closed": [:]]]]])
    try check(Either.left(Boxed(size: size)), "left", ["_0": ["size": ["width": 3]]])
    try check(Described.opened(size: size), "opened", ["size": ["width": 3]])
  }
}
