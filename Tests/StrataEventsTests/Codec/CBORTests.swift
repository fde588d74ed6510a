// CBOR against its specification, against damage, and against chance.

import StrataDocuments
import StrataEvents
import Testing

@Suite("CBOR")
struct CBORTests {
  @Test(arguments: CBORExample.all)
  func `Every example of RFC 8949 is read as the RFC says`(example: CBORExample) throws {
    let notation = try CBORReader.diagnosticNotation(of: hex(example.bytes))
    #expect(Array(notation.utf8) == Array(example.notation.utf8))
  }

  @Test(arguments: CBORExample.all)
  func `An example in deterministic encoding is written back as the same bytes`(example: CBORExample) throws {
    let bytes = hex(example.bytes)
    #expect(CBORReader.isDeterministic(bytes) == example.isDeterministic)
    guard example.isDocument else {
      #expect(throws: CodecError.self) { try DocumentValue(cbor: bytes) }
      return
    }
    let document = try DocumentValue(cbor: bytes)
    #expect((document.cbor() == bytes) == example.isDeterministic)
    #expect(CBORReader.isDeterministic(document.cbor()))
    #expect(try DocumentValue(cbor: document.cbor()) == document)
  }

  @Test(arguments: [
    // The end comes too soon.
    "", "18", "19", "1a", "1b", "1901", "1a0102", "1b01020304050607", "38", "58", "78", "98", "9a01ff00",
    "b8",
    "d8", "f8", "f900", "fa0000", "fb000000", "41", "61", "5affffffff00", "5bffffffffffffffff010203",
    "7affffffff00", "7b7fffffffffffffff010203", "81", "818181818181818181", "8200", "a1", "a20102", "a100",
    "a2000000", "c0", "5f4100", "7f6100", "9f", "9f0102", "bf", "bf01020102", "819f", "9f8000",
    "9f9f9f9f9fffffffff",
    "9f819f819f9fffffff", "9bffffffffffffffff", "bbffffffffffffffff", "bb7fffffffffffffff",
    // Reserved additional information.
    "1c", "1d", "1e", "3c", "3d", "3e", "5c", "5d", "5e", "7c", "7d", "7e", "9c", "9d", "9e", "bc", "bd",
    "be",
    "dc", "dd", "de", "fc", "fd", "fe",
    // Two-byte simple values that have one byte or none.
    "f800", "f801", "f818", "f81f",
    // Chunks of another kind, or of indefinite length.
    "5f00ff", "5f21ff", "5f6100ff", "5f80ff", "5fa0ff", "5fc000ff", "5fe0ff", "7f4100ff", "5f5f4100ffff",
    "7f7f6100ffff",
    // A break where none may be.
    "ff", "81ff", "8200ff", "a1ff", "a1ff00", "a100ff", "a20000ff", "9f81ff", "9f829f819f9fffffffff",
    "bf00ff",
    "bf000000ff", "c0ff",
    // Indefinite lengths where none exist.
    "1f", "3f", "df",
  ])
  func `What appendix F calls not well-formed is refused by the reader, the skipper and the document`(
    digits: String
  ) {
    let bytes = hex(digits)
    #expect(throws: CodecError.self) { try DocumentValue(cbor: bytes) }
    #expect(throws: CodecError.self) { try CBORReader.diagnosticNotation(of: bytes) }
    #expect(throws: CodecError.self) {
      try bytes.withUnsafeBytes {
        var reader = CBORReader($0)
        try reader.skip()
      }
    }
    #expect(!CBORReader.isDeterministic(bytes))
  }

  @Test(arguments: [
    ("83 01 02", CodecError(.truncated, at: 3)),
    ("82 01 1c", CodecError(.malformed, at: 2)),
    ("82 01 62 c328", CodecError(.notUTF8, at: 2)),
    ("a2 6161 01 6161 02", CodecError(.duplicateKey("a"), at: 4)),
    ("81 f7", CodecError(.notRepresentable(.undefined), at: 1)),
    ("81 f0", CodecError(.notRepresentable(.simple(16)), at: 1)),
    ("a1 01 02", CodecError(.notRepresentable(.integer), at: 1)),
    ("81 c2 01", CodecError(.notRepresentable(.tag(2)), at: 1)),
    ("01 02", CodecError(.trailingBytes, at: 1)),
  ])
  func `An error names its place and its reason`(digits: String, error: CodecError) {
    #expect(throws: error) { try DocumentValue(cbor: hex(digits)) }
  }

  @Test(arguments: ["81", "9f", "d820", "a160", "bf60"])
  func `Nesting is read up to the limit and refused beyond it`(head: String) throws {
    func nested(_ depth: Int) -> [UInt8] {
      let close = head == "9f" || head == "bf60" ? String(repeating: "ff", count: depth) : ""
      return hex(String(repeating: head, count: depth) + "c249ff0000000000000000" + close)
    }
    let deepest = try DocumentValue(cbor: nested(CodecLimits.depthMax))
    #expect(try DocumentValue(cbor: deepest.cbor()) == deepest)
    #expect(try DocumentValue(json: deepest.json()).json() == deepest.json() || head == "d820")
    let tooDeep = nested(CodecLimits.depthMax + 1)
    let error = CodecError(.tooDeep, at: hex(head).count * CodecLimits.depthMax)
    #expect(throws: error) { try DocumentValue(cbor: tooDeep) }
    #expect(throws: error) {
      try tooDeep.withUnsafeBytes {
        var reader = CBORReader($0)
        try reader.skip()
      }
    }
    #expect(throws: CodecError.self) { try DocumentValue(cbor: hex(String(repeating: head, count: 100_000))) }
    #expect(throws: CodecError.self) { try DocumentValue(cbor: hex(String(repeating: "c2", count: 100_000))) }
  }

  @Test
  func `Keys are sorted by their encoded bytes on disk: shorter ones first`() {
    let object: DocumentValue = ["b": 1, "aa": 2, "": 3, "é": 4, "zzz": 5]
    #expect(hexDigits(object.cbor()) == "a5" + "6003" + "616201" + "62616102" + "62c3a904" + "637a7a7a05")
    #expect(object.json() == #"{"":3,"aa":2,"b":1,"zzz":5,"é":4}"#)
  }

  @Test(arguments: [
    "1817", "190017", "1a00000017", "1b0000000000000017", "5800", "7800", "9800", "b800", "d80401",
    "fa3f800000",
    "fb3ff0000000000000", "f97e01", "a2616201616101", "a2616101616102", "c24101",
    "c24a00010000000000000000", "5fff",
  ])
  func `What is not deterministic is recognised`(digits: String) {
    #expect(!CBORReader.isDeterministic(hex(digits)))
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `A document is what it was after CBOR, and its encoding is deterministic`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let document = DocumentRecipe().document(using: &random)
      let bytes = document.cbor()
      let read = try DocumentValue(cbor: bytes)
      #expect(read == document)
      #expect(read.hashValue == document.hashValue)
      #expect(read.cbor() == bytes)
      #expect(CBORReader.isDeterministic(bytes))
      for end in bytes.indices {
        #expect(throws: CodecError.self) { try DocumentValue(cbor: Array(bytes[..<end])) }
      }
    }
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `Random and damaged bytes never trap, and all readers agree on them`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for round in 0..<2_000 {
      var bytes = random.bytes(count: Int.random(in: 0...48, using: &random))
      if round % 2 == 0 {
        bytes = DocumentRecipe(depth: 2).document(using: &random).cbor()
        for _ in 0...Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      let isWellFormed = bytes.withUnsafeBytes {
        var reader = CBORReader($0)
        return (try? reader.skip()) != nil && reader.isAtEnd
      }
      let document = try? DocumentValue(cbor: bytes)
      if let document {
        #expect(isWellFormed)
        #expect(try DocumentValue(cbor: document.cbor()) == document)
        #expect((document.cbor() == bytes) == CBORReader.isDeterministic(bytes), "\(hexDigits(bytes))")
      }
      if (try? CBORReader.diagnosticNotation(of: bytes)) != nil { #expect(isWellFormed) }
    }
  }

  @Test
  func `The writer's calls and the reader's calls are each other's inverse`() throws {
    var writer = CBORWriter(capacity: 1)
    writer.writeArrayHead(count: 9)
    writer.writeInteger(.min)
    writer.writeNegative(.max)
    writer.writeDouble(1.1)
    writer.writeBool(true)
    writer.writeNull()
    writer.writeText("stratum")
    [1, 2, 3].withUnsafeBytes { writer.writeBytes($0) }
    writer.writeTag(1)
    writer.writeUndefined()
    writer.writeSimple(99)
    let bytes = writer.bytes
    try bytes.withUnsafeBytes { (raw) throws in
      var reader = CBORReader(raw)
      #expect(try reader.readArrayHead() == 9)
      #expect(try reader.readInteger() == .min)
      #expect(throws: CodecError(.unexpectedKind(.integer), at: reader.offset)) {
        var copy = reader
        return try copy.readInteger()
      }
      #expect(try reader.readHead() == .negative(.max))
      #expect(try reader.readDouble() == 1.1)
      #expect(try reader.readBool())
      #expect(!reader.isAtEnd && reader.readNullIfPresent() && !reader.readNullIfPresent())
      #expect(try reader.readText() == "stratum")
      #expect(try reader.readBytes().count == 24)
      #expect(try reader.peekHead() == .tag(1))
      #expect(try reader.readHead() == .tag(1))
      #expect(try reader.readHead() == .undefined)
      #expect(try reader.readHead() == .simple(99))
      #expect(reader.isAtEnd)
    }
  }

  @Test
  func `Every half, and every float that is a half, keeps its value in three bytes`() throws {
    for bits in 0...UInt16.max {
      let bytes: [UInt8] = [0xF9, UInt8(bits >> 8), UInt8(bits & 0xFF)]
      guard case .double(let value) = try DocumentValue(cbor: bytes) else {
        Issue.record("no double")
        return
      }
      let expected = value.isNaN ? hex("f97e00") : bytes
      guard DocumentValue.double(value).cbor() == expected else {
        Issue.record("half \(String(bits, radix: 16)) is \(value)")
        return
      }
    }
  }
}
