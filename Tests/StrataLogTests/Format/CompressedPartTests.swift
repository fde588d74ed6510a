import CStrata
import StrataBase
import StrataSimulation
import Testing

@testable import StrataLog

@Suite struct CompressedPartTests {
  /// Payloads whose last sequences are of all lengths, and whose bytes look like tokens.
  private static func bytes(
    _ count: Int, kind: Int, _ random: inout SeededGenerator
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let byte: UInt8 =
        switch kind {
        case 0: .random(in: 0...255, using: &random)
        case 1: .random(in: 0...2, using: &random)
        case 2: [0xF0, 0x50, 0x60, 0xC0, 0x01, 0xFF].randomElement(using: &random) ?? 0
        case 3: 7
        default:
          if bytes.count > 30, Int.random(in: 0..<9, using: &random) > 0 {
            bytes[bytes.count - Int.random(in: 1...30, using: &random)]
          } else {
            .random(in: 0...255, using: &random)
          }
        }
      bytes.append(byte)
    }
    return bytes
  }

  @Test func `joined parts are one LZ4 block of the whole payload`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<2_000 {
      let kind = round % 5
      let count = Int.random(in: 1...4, using: &random)
      var raw: [UInt8] = []
      var parts: [CompressedPart] = []
      for _ in 0..<count {
        let piece = Self.bytes(
          Int.random(in: 1...(round % 50 == 0 ? 40_000 : 700), using: &random), kind: kind, &random)
        raw += piece
        let part = piece.withUnsafeBytes { piece in
          let target = UnsafeMutableRawPointer.allocate(
            byteCount: Compression.bound(piece.count), alignment: 8)
          return CompressedPart(piece, into: target)
        }
        parts.append(part)
      }
      defer { for part in parts { part.bytes.baseAddress?.deallocate() } }
      for part in parts {
        let walked = part.bytes.withMemoryRebound(to: UInt8.self) {
          strata_lz4_last_sequence($0.baseAddress!, $0.count, 0)
        }
        #expect(
          part.last == walked,
          "round \(round): the last sequence is found by reading all of them, too")
      }
      let room = parts.reduce(0) { $0 + $1.bytes.count }
      var stored = [UInt8](repeating: 0xAA, count: max(room, raw.count))
      let length = stored.withUnsafeMutableBytes { target in
        // As if it were long enough for what is joined to save an eighth.
        Compression.join(parts[...], of: room * 8, into: target)
      }
      guard let length else {
        Issue.record("round \(round): the parts are not joined")
        continue
      }
      #expect(length <= room)
      var decoded = [UInt8](repeating: 0, count: raw.count)
      let isWhole = stored.withUnsafeBytes { stored in
        decoded.withUnsafeMutableBytes {
          Compression.decompress(UnsafeRawBufferPointer(rebasing: stored[..<length]), into: $0)
        }
      }
      #expect(isWhole && decoded == raw, "round \(round), kind \(kind), \(count) parts")
    }
  }

  @Test func `bytes that are no block have no last sequence`() {
    let cut: [UInt8] = [0xF0, 0xFF, 0xFF]
    #expect(strata_lz4_last_sequence(cut, cut.count, 0) == -1)
    #expect(strata_lz4_last_sequence([], 0, 0) == -1)
    let withMatch: [UInt8] = [0x10, 0x41, 0x01]
    #expect(strata_lz4_last_sequence(withMatch, withMatch.count, 0) == -1)
  }

  @Test(arguments: [195_000, 200_000, 300_000, 1_000_000])
  func `a long payload is compressed in parts, and decoded as any other`(count: Int) throws {
    var random = SeededGenerator(seed: 5)
    let words = (0..<300).map { _ in Self.bytes(Int.random(in: 3...12, using: &random), kind: 0, &random) }
    var raw: [UInt8] = []
    while raw.count < count { raw += words.randomElement(using: &random) ?? [] }
    #expect(CompressedPart.count(in: raw.count) == raw.count / CompressedPart.lengthMin)
    var stored = [UInt8](repeating: 0, count: Compression.bound(raw.count))
    let length = raw.withUnsafeBytes { raw in
      stored.withUnsafeMutableBytes { Compression.compress(raw, into: $0) }
    }
    let inParts = try #require(length)
    var decoded = [UInt8](repeating: 0, count: raw.count)
    let isWhole = decoded.withUnsafeMutableBytes { target in
      stored.withUnsafeBytes {
        Compression.decompress(UnsafeRawBufferPointer(rebasing: $0[..<inParts]), into: target)
      }
    }
    #expect(isWhole && decoded == raw)
  }
}
