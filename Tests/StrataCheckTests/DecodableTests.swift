// Values of types that are drawn by their fields.

import Foundation
import StrataCheck
import Testing

private struct Person: Codable, Equatable, Sendable {
  enum Role: String, Codable, Sendable { case guest, member, owner }
  struct Address: Codable, Equatable, Sendable {
    var street: String
    var number: UInt8?
  }

  var name: String
  var age: Int
  var role: Role
  var addresses: [Address]
  var tags: [String: Double]
  var born: Date
  var partner: [Person]
}

private enum DeskEvent: Codable, Equatable, Sendable {
  case opened(title: String, priority: Int)
  case assigned(to: String?)
  case closed
}

/// A type that lists its values, and is no enum.
private struct Level: CaseIterable, Codable, Hashable, Sendable {
  static let allCases = [1, 3, 5].map { Level(number: $0) }
  var number: Int
}

private struct Percentage: Codable, Equatable, Sendable {
  struct OutOfRange: Error {}
  var value: Int

  init(from decoder: any Decoder) throws {
    value = try decoder.singleValueContainer().decode(Int.self)
    guard (0...100).contains(value) else { throw OutOfRange() }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

@Suite struct DecodableTests {
  @Test func `a struct is drawn by its fields, and reads back from its encoding`() async throws {
    let people = try await values(Gen<Person>.decodable(), count: 300)
    #expect(Set(people.map(\.role)).count == 3)
    #expect(people.contains { $0.addresses.count > 1 } && people.contains { !$0.tags.isEmpty })
    #expect(people.contains { $0.addresses.contains { $0.number == nil } })
    #expect(people.contains { $0.addresses.contains { $0.number != nil } })
    #expect(people.contains { !$0.partner.isEmpty })
    for person in people.prefix(50) {
      let encoded = try JSONEncoder().encode(person)
      #expect(try JSONDecoder().decode(Person.self, from: encoded) == person)
    }
  }

  @Test func `all cases of an enum are drawn, with their payloads`() async throws {
    let events = try await values(Gen<DeskEvent>.decodable(), count: 300)
    let opened = events.compactMap { event in
      if case .opened(_, let priority) = event { priority } else { nil }
    }
    #expect(events.contains(.closed) && events.contains(.assigned(to: nil)) && Set(opened).count > 20)
    let simplest = try await simplest(Gen<DeskEvent>.decodable().array()) { events in
      !events.contains { if case .opened(_, let priority) = $0 { priority > 9 } else { false } }
    }
    #expect(simplest == #"[.opened(title: "", priority: 10)]"#)
  }

  @Test func `of a type that lists its values, those are drawn`() async throws {
    #expect(Set(try await values(Gen<[Level]>.decodable()).joined()) == Set(Level.allCases))
  }

  @Test func `what a type refuses is not a case, and a generator for the type is`() async throws {
    let few = try await values(Gen<Percentage>.decodable(), count: 20)
    #expect(few.allSatisfy { (0...100).contains($0.value) })
    let fitting = Gen<Percentage>.decodable(GenOverride(Gen<Int>.int(in: 0...100)))
    #expect(Set(try await values(fitting).map(\.value)).count == 101)
  }
}
