// Values whose encode(to:) catches the error of a part and goes on, and documents that are too deep.

import Foundation
import StrataDocuments
import StrataEvents
import Testing

private struct Refusal: Error {}

/// Encodes some members, one of them an array, and then throws.
private struct Broken: Encodable {
  enum CodingKeys: CodingKey { case a, list }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(1, forKey: .a)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    try list.encode(["x": [1]])
    throw Refusal()
  }
}

/// Begins as an array and then throws.
private struct BrokenArray: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(1)
    throw Refusal()
  }
}

/// An object, an array and a single value, in which what does not encode is left out.
private struct Lossy: Encodable {
  var isNested = false
  enum CodingKeys: CodingKey { case a, b, c, list, single }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try? container.encode(Broken(), forKey: .a)
    try container.encode(2, forKey: .b)
    try? container.encode(Broken(), forKey: .b)
    try? container.encode(BrokenArray(), forKey: .c)
    var list = container.nestedUnkeyedContainer(forKey: .list)
    try? list.encode(Broken())
    try list.encode(1)
    try? list.encode(BrokenArray())
    try? list.encode(Broken())
    try list.encode(2)
    try? list.encode(Date(timeIntervalSinceReferenceDate: 1e300))
    try container.encode(Fallback(), forKey: .single)
    if !isNested { try container.encode(Lossy(isNested: true), forKey: .c) }
  }
}

/// Encodes one value, or if that fails another.
private struct Fallback: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    do { try container.encode(BrokenArray()) } catch { try container.encode("instead") }
  }
}

@Suite("Encoding without what fails")
struct LossyEncodingTests {
  @Test func `A part whose error is caught leaves nothing`() throws {
    let value = try DocumentValue(encoding: Lossy())
    let inner = #"{"b":2,"list":[1,2],"single":"instead"}"#
    #expect(value.json() == #"{"b":2,"c":"# + inner + #","list":[1,2],"single":"instead"}"#)
    #expect(try DocumentValue(encoding: ["x": [LossyList()]]).json() == #"{"x":[[1,2,4,5,7,8]]}"#)
  }

  private struct LossyList: Encodable {
    func encode(to encoder: any Encoder) throws {
      var list = encoder.unkeyedContainer()
      for number in 0..<10 {
        if number % 3 == 0 { try? list.encode(Broken()) } else { try list.encode(number) }
        if number % 4 == 0 { try? list.encode(BrokenArray()) }
      }
    }
  }

  @Test func `A part that is too deep can be left out`() throws {
    struct Deep: Encodable {
      var depth: Int
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        if depth > 0 { try container.encode(Deep(depth: depth - 1)) }
      }
    }
    struct Holder: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try? container.encode(Deep(depth: 200))
        try container.encode(1)
      }
    }
    #expect(try DocumentValue(encoding: Holder()).json() == "[1]")
    #expect(throws: EncodingError.self) { try DocumentValue(encoding: Deep(depth: 200)) }
  }

  @Test func `A document that is too deep does not decode`() throws {
    func nested(_ depth: Int) -> DocumentValue { (0..<depth).reduce(1) { inner, _ in .array([inner]) } }
    #expect(try nested(128).decode(DocumentValue.self) == nested(128))
    #expect(throws: DecodingError.self) { try nested(129).decode(DocumentValue.self) }
    #expect(throws: DecodingError.self) { try nested(1_000).decode([Int].self) }
  }
}
