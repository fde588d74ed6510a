import StrataBase
import Testing

@testable import StrataLog

/// A file of version 3, made from the description in IndexFormat.md by a program that shares no code with this one.
@Suite struct IndexFormatTests {
  private static let identity = IndexIdentity(
    store: Bytes(0..<16).withUnsafeBytes { StoreID(at: $0.baseAddress!) },
    firstSequence: 1_001, lastSequence: 2_000, chain: 0xFEED_FACE_CAFE_BEEF
  )
  private static let model = IndexModel(
    values: [
      Bytes("a".utf8): [0xE7, 7, 2, 0xD0, 0x0F, 0xF4, 3],
      Bytes("bnotes".utf8): [0, 2], Bytes("cincident".utf8): [2, 0, 1, 0x7E, 0],
      Bytes("sincident/1".utf8): [5, 7, 0, 0x80, 1], Bytes("sincident/2".utf8): [0, 1],
      Bytes("t$put".utf8): [3, 0, 2, 0x7D, 0],
    ],
    ids: [(XXH64.of(Bytes("import:2".utf8)), 2), (XXH64.of(Bytes("import:1".utf8)), 0)], leastTime: 1_000)
  private static let golden = bytes(
    """
      00 01 07 61 e7 07 02 d0 0f f4 03 00 06 02 62 6e
      6f 74 65 73 00 02 00 09 05 63 69 6e 63 69 64 65
      6e 74 02 00 01 7e 00 00 0b 05 73 69 6e 63 69 64
      65 6e 74 2f 31 05 07 00 80 01 0a 01 02 32 00 01
      00 05 05 74 24 70 75 74 03 00 02 7d 00 00 08 00
      00 00 00 00 02 00 00 00 c2 60 70 fd 2b 16 8f d1
      00 00 80 00 0a 80 00 20 40 00 50 42 00 00 00 00
      08 08 00 40 00 00 10 40 01 00 00 00 00 00 20 00
      00 10 00 00 80 05 00 00 00 04 08 00 10 00 00 04
      01 02 00 00 02 00 40 00 82 00 00 00 00 10 08 00
      00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
      27 00 00 00 01 00 00 00 02 91 d9 47 03 00 00 00
      27 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00
      26 00 00 00 0b 00 00 00 dc 02 bc 4b 03 00 00 00
      61 73 69 6e 63 69 64 65 6e 74 2f 31 53 54 52 41
      54 41 49 58 03 00 00 00 80 00 00 00 00 01 02 03
      04 05 06 07 08 09 0a 0b 0c 0d 0e 0f e9 03 00 00
      00 00 00 00 d0 07 00 00 00 00 00 00 ef be fe ca
      ce fa ed fe 06 00 00 00 00 00 00 00 02 00 00 00
      00 00 00 00 4d 00 00 00 00 00 00 00 40 00 00 00
      00 00 00 00 4c 00 00 00 00 00 00 00 aa bb 4a 7e
      f2 b8 91 ef 02 00 00 00 00 00 00 00 93 3a e2 9f
      e8 03 00 00 00 00 00 00 4e ad 0f 53
    """
  )

  private static func bytes(_ hex: String) -> Bytes {
    hex.split { $0 == " " || $0 == "\n" }.map { UInt8($0, radix: 16)! }
  }

  @Test func `the golden file is read and written byte by byte`() throws {
    let file = try #require(OneFileDisk(Self.golden).index(expecting: Self.identity))
    for key in Self.model.keys { #expect(try file.value(key) == Self.model.values[key]) }
    #expect(try file.entries().map(\.key) == Self.model.keys)
    for (id, first) in [("import:1", 1_001), ("import:2", 1_003)] as [(String, UInt64)] {
      #expect(try file.candidates(forID: XXH64.of(Bytes(id.utf8))) == [first])
    }
    let written = try Self.model.written(chunkLengthTarget: 40, identity: Self.identity).bytes
    #expect(written == Self.golden)
  }

  @Test func `the entries of the golden file are what the tables of its events give`() throws {
    let events: [(String, UInt64)] = [("incident/1", 1_001), ("incident/2", 1_002), ("notes", 1_003)]
    let tables = SegmentIndex(of: 1_001)
    for (stream, sequence) in events {
      try Bytes(stream.utf8).withUnsafeBytes { name in
        try Bytes("$put".utf8).withUnsafeBytes { type in
          #expect(tables.nextSequence == sequence)
          _ = try tables.append(to: name, hash: XXH64.of(name), type: type) { stream == "incident/1" ? 7 : 0 }
        }
      }
    }
    for time in [1_500, 1_000, 1_200] as [Int64] {
      tables.addTimes([AppendTimes.Entry(time: time, eventCount: 1, contentLength: 9)])
    }
    let disk = OneFileDisk()
    var identity = Self.identity
    identity.lastSequence = 1_003
    try ClosedIndex.write(tables, identity: identity, disk, path: disk.path)
    let file = try #require(disk.index(expecting: identity))
    let entries = try file.entries()
    #expect(entries.map(\.key) == Self.model.keys)
    #expect(
      entries.map(\.value) == [
        [2, 2, 0xD0, 0x0F, 0xF4, 3], [0, 2], [1, 0, 1], [1, 7, 0], [0, 1], [2, 0, 2],
      ])
  }

  @Test func `another version is not opened though its checksum holds`() throws {
    var bytes = Self.golden
    let trailer = bytes.count - IndexFormat.trailerLength
    bytes[trailer + 8] = 2
    let checksum = bytes[trailer..<trailer + 124].withUnsafeBytes { $0.checksum() }
    bytes.withUnsafeMutableBytes { $0.storeLittleEndian(checksum, at: trailer + 124) }
    #expect(OneFileDisk(bytes).index(expecting: Self.identity) == nil)
    bytes[trailer + 8] = 3
    let restored = bytes[trailer..<trailer + 124].withUnsafeBytes { $0.checksum() }
    bytes.withUnsafeMutableBytes { $0.storeLittleEndian(restored, at: trailer + 124) }
    #expect(OneFileDisk(bytes).index(expecting: Self.identity) != nil)
  }
}
