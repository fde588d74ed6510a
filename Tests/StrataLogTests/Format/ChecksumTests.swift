import CStrata
import Foundation
import StrataSimulation
import Testing

@Suite struct ChecksumTests {
  private func crc(_ bytes: [UInt8]) -> UInt32 { strata_crc32c(0, bytes, bytes.count) }
  private func hash(_ text: String, seed: UInt64 = 0) -> UInt64 {
    strata_xxh64(Array(text.utf8), text.utf8.count, seed)
  }

  @Test func `crc gives the vectors of RFC3720`() {
    #expect(crc([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(crc([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(crc([UInt8](0..<32)) == 0x46DD_794E)
    #expect(crc((0..<32).reversed()) == 0x113F_DB5C)
    let iscsiRead: [UInt8] = [
      0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14,
      0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
    ]
    #expect(crc(iscsiRead) == 0xD996_3A56)
    #expect(crc(Array("123456789".utf8)) == 0xE306_9283)
    #expect(crc([]) == 0)
  }

  @Test func `hardware and software agree on every length and address`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let bytes = (0..<40_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    bytes.withUnsafeBytes { bytes in
      for length in 0..<1_100 {
        let start = length % 17
        let slice = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
        #expect(
          strata_crc32c(7, slice.baseAddress, length) == strata_crc32c_software(7, slice.baseAddress, length))
      }
      for _ in 0..<400 {
        let start = Int.random(in: 0..<64, using: &random)
        let length = Int.random(in: 0..<bytes.count - start, using: &random)
        let first = UInt32.random(in: 0 ... .max, using: &random)
        let address = bytes.baseAddress! + start
        #expect(
          strata_crc32c(first, address, length) == strata_crc32c_software(first, address, length),
          "length \(length), start \(start), crc \(first)"
        )
      }
    }
  }

  @Test func `a sum can be continued at any cut`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let bytes = (0..<9_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    let whole = crc(bytes)
    for _ in 0..<200 {
      let cut = Int.random(in: 0...bytes.count, using: &random)
      let first = strata_crc32c(0, Array(bytes[..<cut]), cut)
      #expect(strata_crc32c(first, Array(bytes[cut...]), bytes.count - cut) == whole, "cut at \(cut)")
    }
  }

  @Test func `the machine says what it sums with`() {
    #expect(["sse4.2", "armv8", "software"].contains(String(cString: strata_crc32c_implementation())))
  }

  @Test func `xxh64 gives the known vectors`() {
    #expect(hash("") == 0xEF46_DB37_51D8_E999)
    #expect(hash("a") == 0xD24E_C4F1_A98C_6E5B)
    #expect(hash("abc") == 0x44BC_2CF5_AD77_0999)
  }

  @Test func `xxh64 is the same at every address`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let bytes = (0..<100).map { _ in UInt8.random(in: 0...255, using: &random) }
    let expected = strata_xxh64(bytes, bytes.count, 3)
    for shift in 0..<16 {
      let shifted = [UInt8](repeating: 0, count: shift) + bytes
      let found = shifted.withUnsafeBytes { strata_xxh64($0.baseAddress! + shift, bytes.count, 3) }
      #expect(found == expected, "shift \(shift)")
    }
  }

  /// The oracle is written from the specification, in another language and without a shared line.
  @Test func `xxh64 agrees with another implementation`() throws {
    guard let python = pythonPath() else { return }
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let cases = (0..<300).map { index -> (bytes: [UInt8], seed: UInt64) in
      let length = index < 200 ? index : Int.random(in: 200..<5_000, using: &random)
      let seed = index % 3 == 0 ? 0 : UInt64.random(in: 0 ... .max, using: &random)
      return ((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }, seed)
    }
    let input = cases.map { item in
      "\(item.seed) " + item.bytes.map { String(format: "%02x", $0) }.joined() + "\n"
    }.joined()
    let output = try run(python, ["-c", xxh64InPython], input: input)
    let found = cases.map { strata_xxh64($0.bytes, $0.bytes.count, $0.seed) }
    #expect(output.split(separator: "\n").map { UInt64($0) } == found)
  }

  private func pythonPath() -> String? {
    ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  private func run(_ program: String, _ arguments: [String], input: String) throws -> String {
    let folder = try TemporaryFolder()
    try Data(input.utf8).write(to: URL(fileURLWithPath: folder.file("input")))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.file("input")))
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: bytes, as: UTF8.self)
  }
}

private let xxh64InPython = """
  import sys
  P = [0, 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579,
       2870177450012600261]
  M = (1 << 64) - 1
  def rotl(v, n): return ((v << n) | (v >> (64 - n))) & M
  def acc(a, lane): return (rotl((a + lane * P[2]) & M, 31) * P[1]) & M
  def le(b): return int.from_bytes(b, "little")
  def xxh64(data, seed):
      n, at = len(data), 0
      if n >= 32:
          v = [(seed + P[1] + P[2]) & M, (seed + P[2]) & M, seed & M, (seed - P[1]) & M]
          while n - at >= 32:
              for i in range(4):
                  v[i] = acc(v[i], le(data[at + 8 * i : at + 8 * i + 8]))
              at += 32
          h = sum(rotl(x, r) for x, r in zip(v, (1, 7, 12, 18))) & M
          for x in v:
              h = ((h ^ acc(0, x)) * P[1] + P[4]) & M
      else:
          h = (seed + P[5]) & M
      h = (h + n) & M
      while n - at >= 8:
          h = (rotl(h ^ acc(0, le(data[at : at + 8])), 27) * P[1] + P[4]) & M
          at += 8
      if n - at >= 4:
          h = (rotl(h ^ (le(data[at : at + 4]) * P[1]) & M, 23) * P[2] + P[3]) & M
          at += 4
      while at < n:
          h = (rotl(h ^ (data[at] * P[5]) & M, 11) * P[1]) & M
          at += 1
      h = ((h ^ (h >> 33)) * P[2]) & M
      h = ((h ^ (h >> 29)) * P[3]) & M
      return h ^ (h >> 32)
  for line in sys.stdin:
      seed, _, digits = line.rstrip().partition(" ")
      print(xxh64(bytes.fromhex(digits), int(seed)))
  """
