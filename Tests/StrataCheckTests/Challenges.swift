// Shrinking challenges that other libraries are measured by: github.com/jlink/shrinking-challenge.

import StrataCheck
import Testing

/// A property that fails, and the case that it should shrink to.
struct Challenge: Sendable, CustomTestStringConvertible {
  let name: String
  /// What is accepted as the simplest case, as source text.
  let simplest: Set<String>
  /// How many calls of the property shrinking may need, on average over twenty seeds: a twentieth more than it does.
  let callsMax: Double
  /// Runs the check with a seed, and returns the counterexample.
  let fail: @Sendable (UInt64) async throws -> Counterexample?

  init<Value>(
    _ name: String, _ generator: Gen<Value>, calls: Double, simplest: String...,
    body: @escaping @Sendable (Value) throws -> Void
  ) {
    (self.name, self.simplest, callsMax) = (name, Set(simplest), calls * 1.05)
    fail = { seed in
      do {
        try await check(generator, Budget(cases: 20_000, duration: .seconds(3_600)), seed: seed, name: name) {
          try body($0)
        }
        return nil
      } catch let found as Counterexample {
        return found
      }
    }
  }

  var testDescription: String { name }

  static let all: [Challenge] = [
    bound5, largeUnionList, reverse, distinct, nestedLists, calculator, lengthList, deletion,
    differenceNotZero,
    differenceNotSmall, differenceNotOne, coupling, binaryHeap,
  ]

  private static let ints = Gen<Int>.int()

  static let bound5: Challenge = {
    let words = Gen<Int16>.integer().array(count: 0...1).filter { $0.reduce(0) { $0 + Int($1) } < 256 }
    return Challenge(
      "bound5", zip(words, words, words, words, words), calls: 76, simplest: "([], [], [], [-1], [-32768])"
    ) {
      let all = $0.0 + $0.1 + $0.2 + $0.3 + $0.4
      try ensure(all.reduce(Int16(0), &+) < 5 * 256)
    }
  }()

  static let largeUnionList = Challenge(
    "large union list", ints.array().array(), calls: 106, simplest: "[[0, 1, -1, 2, -2]]"
  ) { try ensure(Set($0.joined()).count < 5) }

  static let reverse = Challenge("reverse", ints.array(), calls: 15, simplest: "[0, 1]") {
    try ensure(Array($0.reversed()) == $0)
  }

  static let distinct = Challenge("distinct", ints.array(), calls: 36, simplest: "[0, 1, -1]") {
    try ensure(Set($0).count < 3)
  }

  static let nestedLists = Challenge(
    "nested lists", ints.array().array(), calls: 63, simplest: "[[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]"
  ) { try ensure($0.joined().count <= 10) }

  static let calculator = Challenge(
    "calculator", Term.generator, calls: 37, simplest: ".quotient(.number(0), .sum(.number(0), .number(0)))"
  ) {
    try assume(!$0.dividesByZero)
    _ = try $0.value()
  }

  static let lengthList = Challenge(
    "length list", Gen<Int>.int(in: 1...100).flatMap { Gen<Int>.int(in: 0...1_000).array(count: $0...$0) },
    calls: 40, simplest: "[900]"
  ) { try ensure($0.max() ?? 0 < 900) }

  static let deletion = Challenge(
    "deletion", ints.array(count: 1...50).flatMap { list in Gen<Int>.element(of: list).map { (list, $0) } },
    calls: 13, simplest: "([0, 0], 0)"
  ) { (list, element) in
    var rest = list
    rest.remove(at: list.firstIndex(of: element) ?? 0)
    try ensure(!rest.contains(element))
  }

  private static let pairs = zip(Gen<Int>.int(in: 1...Int.max), Gen<Int>.int(in: 1...Int.max))

  static let differenceNotZero = Challenge("difference, zero", pairs, calls: 39, simplest: "(10, 10)") {
    try ensure($0 < 10 || $0 != $1)
  }

  static let differenceNotSmall = Challenge("difference, small", pairs, calls: 139, simplest: "(10, 6)") {
    try ensure($0 < 10 || abs($0 - $1) > 4 || $0 == $1)
  }

  static let differenceNotOne = Challenge("difference, one", pairs, calls: 122, simplest: "(10, 9)") {
    try ensure($0 < 10 || abs($0 - $1) != 1)
  }

  static let coupling = Challenge("coupling", Gen<Int>.int(in: 0...10).array(), calls: 61, simplest: "[1, 0]")
  { list in
    try assume(list.allSatisfy { $0 < list.count })
    for (index, other) in list.enumerated() where index != other { try ensure(list[other] != index) }
  }

  // The second form is as short, and a step of one subtree to another place away from the first. Hypothesis has both.
  static let binaryHeap = Challenge(
    "binary heap", Heap.generator,
    calls: 82, simplest: ".node(0, .empty, .node(0, .node(0, .empty, .empty), .node(1, .empty, .empty)))",
    ".node(0, .node(1, .empty, .empty), .node(0, .node(2, .empty, .empty), .empty))",
    ".node(0, .node(1, .empty, .empty), .node(0, .node(1, .empty, .empty), .node(0, .empty, .empty)))"
  ) { heap in
    let list = heap.wronglySorted
    try ensure(list == list.sorted() && list.sorted() == heap.elements.sorted())
  }
}
