// The data model: equality is equality of encodings, and big integers are exact.

import StrataDocuments
import StrataEvents
import Testing

@Suite("Document values")
struct DocumentValueTests {
  @Test(arguments: 0..<10 as Range<UInt64>)
  func `Values are equal exactly when their encodings are`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let documents = (0..<120).map { _ in DocumentRecipe(depth: 1).document(using: &random) }
    for a in documents {
      for b in documents {
        #expect((a == b) == (a.cbor() == b.cbor()), "\(a) and \(b)")
        if a == b { #expect(a.hashValue == b.hashValue) }
      }
    }
  }

  @Test
  func `Strings and keys are compared by their bytes, not by Unicode equivalence`() {
    let composed = "\u{e9}"
    let decomposed = "e\u{301}"
    #expect(composed == decomposed, "Swift takes them for equal")
    #expect(DocumentValue.string(composed) != .string(decomposed))
    let object: DocumentValue = .object([composed: 1, decomposed: 2])
    #expect(object[composed] == 1)
    #expect(object[decomposed] == 2)
    #expect(Set([DocumentValue.string(composed), .string(decomposed)]).count == 2)
    // The same length in bytes, canonically equivalent, and yet two strings.
    #expect(DocumentValue.string("a\u{301}\u{323}") != .string("a\u{323}\u{301}"))
  }

  @Test
  func `Numbers of different kinds are different, an integer has one form`() {
    #expect(DocumentValue.int(1) != .double(1))
    #expect(DocumentValue.double(0) != .double(-0.0))
    #expect(DocumentValue.double(.nan) == .double(-.nan))
    #expect(DocumentValue.uint(7) == .int(7))
    #expect(DocumentValue.uint(7).hashValue == DocumentValue.int(7).hashValue)
    #expect(DocumentValue.bigInt(DocumentInteger(-7)) == .int(-7))
    #expect(DocumentValue.bigInt(DocumentInteger(-7)).cbor() == DocumentValue.int(-7).cbor())
    if case .int = DocumentValue(UInt64(5)) {} else { Issue.record("5 is not an int") }
    if case .uint = DocumentValue(UInt64(1) << 63) {} else { Issue.record("2⁶³ is not a uint") }
    if case .int = DocumentValue(Int128(Int64.min)) {} else { Issue.record("−2⁶³ is not an int") }
    if case .bigInt = DocumentValue(Int128(Int64.min) - 1) {} else { Issue.record("−2⁶³ − 1 is not big") }
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `An object iterates in ascending order of its keys however they were put in`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var object: DocumentObject = [:]
    var model: [[UInt8]: DocumentValue] = [:]
    for step in 0..<500 {
      let key = String(UInt64.random(in: 0...80, using: &random), radix: 2)
      if random.chance(35) {
        let removed = object.removeValue(forKey: key)
        #expect(removed == model.removeValue(forKey: Array(key.utf8)))
      } else {
        object[key] = DocumentValue(step)
        model[Array(key.utf8)] = DocumentValue(step)
      }
    }
    let expected = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    #expect(object.map { Array($0.key.utf8) } == expected.map(\.key))
    #expect(object.map(\.value) == expected.map(\.value))
    let again = DocumentObject(
      uniqueKeysWithValues: object.shuffled(using: &random).map { ($0.key, $0.value) })
    #expect(again == object)
    #expect(again.hashValue == object.hashValue)
  }

  @Test(arguments: [
    "0", "1", "-1", "255", "256", "18446744073709551615", "18446744073709551616", "-18446744073709551617",
    "1000000000000000000", "999999999999999999999999999999999999", "1000000000000000000000000000000000000",
    "340282366920938463463374607431768211455", "-340282366920938463463374607431768211456",
  ])
  func `A big integer is its decimal digits`(digits: String) throws {
    #expect(try #require(DocumentInteger(digits)).description == digits)
    if let exact = Int128(digits) { #expect(DocumentInteger(digits) == DocumentInteger(exact)) }
  }

  @Test(arguments: ["", "-", "+", "1.0", " 1", "1 ", "0x1", "--1", "１"])
  func `What is no integer has no big integer`(text: String) { #expect(DocumentInteger(text) == nil) }

  @Test
  func `Big integers compare as numbers`() {
    let values = ["-99999999999999999999", "-256", "-1", "0", "1", "255", "256", "99999999999999999999"]
    let integers = values.compactMap { DocumentInteger($0) }
    #expect(integers.shuffled().sorted() == integers)
  }

  @Test
  func `A big integer of the longest length survives, a longer one is refused`() throws {
    let longest = DocumentInteger(
      isNegative: true, magnitude: [UInt8](repeating: 0xFF, count: CodecLimits.integerByteCountMax))
    #expect(DocumentInteger(longest.description) == longest)
    #expect(try DocumentValue(cbor: DocumentValue(longest).cbor()) == DocumentValue(longest))
    #expect(try DocumentValue(json: DocumentValue(longest).json()) == DocumentValue(longest))
    #expect(DocumentInteger(longest.description + "0") == nil)
    #expect(throws: JSONError(.tooLong, line: 1, column: 1, offset: 0)) {
      try DocumentValue(json: longest.description + "0")
    }
    let longer = hex("c2591001") + [UInt8](repeating: 1, count: 4097)
    #expect(throws: CodecError(.tooLong, at: 0)) { try DocumentValue(cbor: longer) }
  }
}
