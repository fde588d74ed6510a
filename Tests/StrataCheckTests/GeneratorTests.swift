// What generators make, and to what it shrinks.

import Foundation
import StrataCheck
import Testing

/// The values of a generator in a run of a seed.
func values<Value>(_ generator: Gen<Value>, count: Int = 2_000, seed: UInt64 = 1) async throws -> [Value] {
  let values = Values<Value>()
  try await check(generator, Budget(cases: count), seed: seed) { values.list.append($0) }
  return values.list
}

private final class Values<Value> {
  var list: [Value] = []
}

/// The source of the simplest value of which a condition is false.
func simplest<Value>(
  _ generator: Gen<Value>, seed: UInt64 = 1, where holds: @escaping @Sendable (Value) -> Bool
) async throws -> String? {
  do {
    try await check(generator, Budget(cases: 20_000, duration: .seconds(3_600)), seed: seed) {
      try ensure(holds($0))
    }
    return nil
  } catch let found as Counterexample {
    return found.source
  }
}

/// Expects the source of the simplest value of which a condition is false.
private func expectSimplest<Value>(
  _ generator: Gen<Value>, _ expected: String, from location: SourceLocation = #_sourceLocation,
  where holds: @escaping @Sendable (Value) -> Bool
) async throws {
  for seed: UInt64 in 1...5 {
    let found = try await simplest(generator, seed: seed, where: holds)
    #expect(found == expected, "seed \(seed)", sourceLocation: location)
  }
}

@Suite struct GeneratorTests {
  @Test func `numbers are in their range, and the ends of it are among them`() async throws {
    func look<Number: FixedWidthInteger & Sendable>(_ range: ClosedRange<Number>) async throws {
      let found = try await values(Gen<Number>.integer(in: range))
      #expect(found.allSatisfy { range.contains($0) })
      #expect(found.contains(range.lowerBound) && found.contains(range.upperBound), "\(range)")
    }
    try await look(Int8.min...Int8.max)
    try await look(UInt64.min...UInt64.max)
    try await look(Int64.min...Int64.max)
    try await look(-5...5 as ClosedRange<Int>)
    try await look(Int.max - 3...Int.max)
    try await look(Int.min...Int.min + 3_000)
    try await look(UInt16(7)...UInt16(9_000))
  }

  @Test func `numbers shrink to the one nearest to their target`() async throws {
    try await expectSimplest(Gen<Int>.int(), "1000") { $0 < 1_000 }
    try await expectSimplest(Gen<Int>.int(), "-77") { $0 > -77 }
    try await expectSimplest(Gen<UInt64>.integer(), "9223372036854775808") { $0 < 1 << 63 }
    try await expectSimplest(Gen<Int>.integer(in: 0...100, towards: 50), "60") { $0 < 60 }
    try await expectSimplest(Gen<Int>.integer(in: 0...100, towards: 50), "40") { $0 > 40 }
    try await expectSimplest(Gen<Int>.int(in: 20...90), "20") { _ in false }
    try await expectSimplest(Gen<Int>.int(), "41") { $0 % 3 != 2 || $0 < 40 }
  }

  @Test func `floating-point numbers of all kinds are there, and shrink to few digits`() async throws {
    let found = try await values(Gen<Double>.double, count: 5_000)
    #expect(found.contains { $0.isNaN } && found.contains(.infinity) && found.contains(-.infinity))
    #expect(found.contains { $0 == 0 && $0.sign == .minus } && found.contains { $0.isSubnormal })
    #expect(found.contains { $0 != $0.rounded() && abs($0) < 1_000 })
    try await expectSimplest(.double, "100.0") { $0 < 100 }
    try await expectSimplest(.double, "1.5") { $0 == $0.rounded() || $0.isNaN || $0 < 0 }
    try await expectSimplest(.double, ".nan") { !$0.isNaN }
    try await expectSimplest(.double, ".infinity") { !$0.isInfinite }
    let part = try await values(.double(in: -2.5...7.25))
    #expect(part.allSatisfy { (-2.5...7.25).contains($0) } && Set(part).count > 1_000)
  }

  @Test func `strings have characters of all kinds, and shrink to letters`() async throws {
    let found = try await values(.string())
    let scalars = found.flatMap(\.unicodeScalars)
    #expect(found.contains("") && scalars.contains("\0") && scalars.contains { $0.value > 0xFFFF })
    #expect(found.contains { $0.count != $0.unicodeScalars.count })
    try await expectSimplest(.string(), #""aaa""#) { $0.count < 3 }
    try await expectSimplest(.string(), #""e\u{301}""#) { $0.unicodeScalars.count == $0.count }
    try await expectSimplest(.string(of: "xyz"), #""y""#) { !$0.contains("y") }
  }

  @Test func `dates and decimals shrink to simple ones`() async throws {
    try await expectSimplest(.date, "Date(timeIntervalSince1970: 0.0)") { _ in false }
    try await expectSimplest(.date, "Date(timeIntervalSince1970: -1.0)") { $0.timeIntervalSince1970 >= 0 }
    try await expectSimplest(.decimal, #"Decimal(string: "4")!"#) { $0 <= 3 }
    #expect(try await values(.decimal).contains { $0 != Decimal(Int(truncating: $0 as NSDecimalNumber)) })
    #expect(Set(try await values(.uuid)).count == 2_000)
    try await expectSimplest(.data(), "Data([0, 0])") { $0.count < 2 }
  }

  @Test func `combinators shrink as what they are made of`() async throws {
    let even = Gen<Int>.int().map { $0 / 2 * 2 }
    try await expectSimplest(even, "12") { $0 < 11 }
    try await expectSimplest(Gen<Int>.int().filter { $0 % 7 == 3 }, "24") { $0 < 20 }
    try await expectSimplest(Gen<Int>.oneOf(.always(5), .int(in: 10...20)), "12") { $0 < 12 }
    try await expectSimplest(Gen<Int>.int(in: 0...9).optional, "nil") { $0 != nil }
    try await expectSimplest(Gen<Int>.int(in: 0...9).optional, "0") { $0 == nil }
    try await expectSimplest(Gen<Int>.int().dictionary(keys: .string()), #"["": 0, "a": 0]"#) { $0.count < 2 }
    try await expectSimplest(Gen<Int>.int().array(count: 3...6), "[0, 0, 0]") { _ in false }
    let counts = try await values(Gen<Int>.int().array(count: 3...6)).map(\.count)
    #expect(Set(counts) == [3, 4, 5, 6])
    let shares = try await values(
      Gen<Int>.frequency((9, .int(in: 0...Int.max)), (1, .int(in: Int.min...(-1)))))
    #expect((80...320).contains(shares.count { $0 < 0 }))
  }

  @Test func `a tree shrinks to the branch that fails, wherever it is`() async throws {
    let trees = Gen<Tree>.recursive(leaf: Gen<Int>.int().map { .leaf($0) }) { tree in
      zip(tree, tree, tree).map { .node($0, $1, $2) }
    }
    try await expectSimplest(trees, ".leaf(1000)") { tree in tree.leaves.allSatisfy { $0 < 1_000 } }
  }
}

private indirect enum Tree: Sendable {
  case leaf(Int)
  case node(Tree, Tree, Tree)

  var leaves: [Int] {
    switch self {
    case .leaf(let number): [number]
    case .node(let one, let two, let three): one.leaves + two.leaves + three.leaves
    }
  }
}
