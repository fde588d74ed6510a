// The text form of UUIDs, which is written and read here and not by Foundation.

internal import Foundation
@testable internal import StrataDocuments
internal import StrataEvents
internal import StrataSimulation
internal import Testing

@Suite struct UUIDTextTests {
  @Test func `A UUID has the text that Foundation gives it, and comes back from it in both cases`() throws {
    var random = SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    for _ in 0..<10_000 {
      let words = (random.next(), random.next())
      let id = UUID(uuid: unsafeBitCast(words, to: uuid_t.self))
      #expect(id.documentID == id.uuidString)
      #expect(id.withText { String(decoding: $0, as: UTF8.self) } == id.uuidString)
      #expect(UUID(documentID: id.uuidString) == id)
      #expect(UUID(documentID: id.uuidString.lowercased()) == id)
    }
  }

  @Test func `Text is a UUID if its hyphens and digits are where they belong, and nothing else is`() throws {
    let id = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    let digits = Set("0123456789abcdefABCDEF".utf8)
    for place in 0..<36 {
      let isHyphen = [8, 13, 18, 23].contains(place)
      for byte in UInt8.min...UInt8.max {
        var text = Array(id.utf8)
        text[place] = byte
        let isValid = isHyphen ? byte == UInt8(ascii: "-") : digits.contains(byte)
        let value = text.withUnsafeBufferPointer { UUID(text: $0) }
        #expect((value != nil) == isValid, "byte \(byte) at \(place)")
        if let value { #expect(value.uuidString == String(decoding: text, as: UTF8.self).uppercased()) }
      }
    }
    for count in 0..<36 { #expect(UUID(documentID: String(id.prefix(count))) == nil) }
    #expect(UUID(documentID: id + "0") == nil)
    #expect(UUID(documentID: "") == nil)
  }
}
