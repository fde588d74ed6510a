// A sum as bytes, of two sums, and beside a model of whole numbers.

internal import StrataDocuments
@testable internal import StrataLists
internal import StrataTesting
internal import Testing

@Suite struct ExactSumTests {
  /// Numbers of tenths, so that a model of whole numbers has their sums.
  private static func number(_ random: inout SeededGenerator) -> (value: DocumentValue, tenths: Int) {
    let tenths = Int.random(in: -1_000_000_000_000...1_000_000_000_000, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return (.int(Int64(tenths / 10)), tenths / 10 * 10)
    case 1: return (.double(Double(tenths / 10)), tenths / 10 * 10)
    default: return (.double(Double(tenths) / 10), tenths)
    }
  }

  @Test
  func `R67 sums are those of whole numbers, whatever was added, removed, merged and written`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<300 {
      var sums = (0..<3).map { _ in ExactSum() }
      var added: [(index: Int, value: DocumentValue, tenths: Int)] = []
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        let index = Int.random(in: 0..<3, using: &random)
        if let last = added.last, Int.random(in: 0..<3, using: &random) == 0 {
          sums[last.index].remove(Summand(last.value))
          added.removeLast()
        } else {
          let (value, tenths) = Self.number(&random)
          sums[index].add(Summand(value))
          added.append((index, value, tenths))
        }
        var bytes: [UInt8] = [9]
        sums[index].append(to: &bytes)
        var offset = 1
        sums[index] = bytes.withUnsafeBytes { ExactSum($0, at: &offset) }
        #expect(offset == bytes.count)
      }
      var sum = sums[0]
      for other in sums[1...] { sum.add(other) }
      let tenths = added.reduce(0) { $0 + $1.tenths }
      let isWhole = added.allSatisfy { if case .int = $0.value { true } else { false } }
      #expect(sum.value == (isWhole ? .int(Int64(tenths / 10)) : .double(Double(tenths) / 10)))
      guard !added.isEmpty else {
        #expect(sum.isNothing)
        continue
      }
      // Rounded once: the numerator and the denominator are doubles, so that their quotient is.
      #expect(sum.average(of: added.count) == Double(tenths) / Double(10 * added.count))
      for number in added { sum.remove(Summand(number.value)) }
      #expect(sum.isNothing && sum.value == 0)
    }
  }

  @Test func `an average on the middle between two doubles, or beside it, is rounded once`() {
    let middle = 9_007_199_254_740_992.0  // 2⁵³: the next double is 2 more.
    var sum = ExactSum()
    for value in [Int64(middle), Int64(middle) + 2] { sum.add(Summand(.int(value))) }
    #expect(sum.average(of: 2) == middle)
    // A hair more than the middle, far after the digits of a double.
    sum.add(Summand(.double(1e-300)))
    #expect(sum.average(of: 2) == middle + 2)
    var third = ExactSum()
    third.add(Summand(.int(1)))
    #expect(third.average(of: 3) == 1 / 3.0)
    third.add(Summand(.int(-2)))
    #expect(third.average(of: 3) == -1 / 3.0)
  }
}
