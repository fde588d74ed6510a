import StrataSimulation
import Testing

@testable import StrataLog

@Suite struct IndexKeyBytesTests {
  @Test func `bytes are equal ordered and begin as arrays are`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<20_000 {
      let left = random.key()
      var right = Bool.random(using: &random) ? random.key() : left
      if let place = right.indices.randomElement(using: &random), Bool.random(using: &random) {
        right[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      let (same, order, begins) = left.withUnsafeBytes { left in
        right.withUnsafeBytes { right in
          (left.hasSameBytes(as: right), left.order(against: right).signum(), left.begins(with: right))
        }
      }
      let expected = left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
      #expect(same == (left == right), "\(left) \(right)")
      #expect(order == expected, "\(left) \(right)")
      #expect(begins == left.starts(with: right), "\(left) \(right)")
    }
  }

  @Test func `a word orders as its bytes and ends in zeros`() {
    let bytes: Bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    for start in 0...9 {
      let expected = (bytes.dropFirst(start) + Bytes(repeating: 0, count: 8)).prefix(8)
      let number = expected.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      #expect(bytes.withUnsafeBytes { $0.word(at: start) } == number, "from \(start)")
    }
  }
}
