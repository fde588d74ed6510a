import Testing

@testable import StrataLog

/// A file of version 1, made from the description in FORMAT.md by a program that shares no code with this one.
@Suite struct IndexFormatTests {
  private static let identity = IndexIdentity(
    store: Bytes(0..<16).withUnsafeBytes { StoreID(at: $0.baseAddress!) },
    firstSequence: 1_001, lastSequence: 2_000, chain: 0xFEED_FACE_CAFE_BEEF
  )
  private static let model = IndexModel(values: [
    Bytes("a/1".utf8): [1], Bytes("a/2".utf8): [], Bytes("b".utf8): [2, 3],
  ])
  private static let golden = bytes(
    """
      03 00 01 00 00 00 61 2f 31 01 03 00 00 00 00 00
      61 2f 32 01 00 02 00 00 00 62 02 03 00 00 00 00
      00 00 20 00 00 00 a8 00 80 00 00 00 00 00 02 00
      00 00 10 00 00 00 00 00 00 00 00 00 00 20 10 20
      00 00 00 00 00 80 00 00 00 00 20 00 00 00 80 00
      00 00 04 00 04 00 24 00 00 00 00 00 00 00 00 00
      00 00 00 00 00 00 00 00 00 00 00 00 13 00 00 00
      03 00 00 00 0e 52 61 5d 02 00 00 00 13 00 00 00
      00 00 00 00 03 00 00 00 00 00 00 00 09 00 00 00
      01 00 00 00 a1 0d 86 c2 01 00 00 00 61 2f 31 62
      53 54 52 41 54 41 49 58 01 00 00 00 80 00 00 00
      00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f
      e9 03 00 00 00 00 00 00 d0 07 00 00 00 00 00 00
      ef be fe ca ce fa ed fe 03 00 00 00 00 00 00 00
      02 00 00 00 00 00 00 00 1c 00 00 00 00 00 00 00
      40 00 00 00 00 00 00 00 44 00 00 00 00 00 00 00
      2c fc 88 90 90 7b eb 04 00 00 00 00 00 00 00 00
      00 00 00 00 00 00 00 00 00 00 00 00 eb be b3 d1
    """
  )

  private static func bytes(_ hex: String) -> Bytes {
    hex.split { $0 == " " || $0 == "\n" }.map { UInt8($0, radix: 16)! }
  }

  @Test func `the golden file is read and written byte by byte`() throws {
    let file = try #require(OneFileDisk(Self.golden).index(expecting: Self.identity))
    for key in Self.model.keys { #expect(try file.value(key) == Self.model.values[key]) }
    #expect(try file.entries().map(\.key) == Self.model.keys)
    let written = try Self.model.written(chunkLengthTarget: 20, identity: Self.identity).bytes
    #expect(written == Self.golden)
  }

  @Test func `another version is not opened though its checksum holds`() throws {
    var bytes = Self.golden
    let trailer = bytes.count - IndexFormat.trailerLength
    bytes[trailer + 8] = 2
    let checksum = bytes[trailer..<trailer + 124].withUnsafeBytes { $0.checksum() }
    bytes.withUnsafeMutableBytes { $0.storeLittleEndian(checksum, at: trailer + 124) }
    #expect(OneFileDisk(bytes).index(expecting: Self.identity) == nil)
    bytes[trailer + 8] = 1
    let restored = bytes[trailer..<trailer + 124].withUnsafeBytes { $0.checksum() }
    bytes.withUnsafeMutableBytes { $0.storeLittleEndian(restored, at: trailer + 124) }
    #expect(OneFileDisk(bytes).index(expecting: Self.identity) != nil)
  }
}
