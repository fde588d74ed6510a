// The recursive types of the shrinking challenges.

import StrataCheck

/// A term of a calculator.
indirect enum Term: Sendable {
  case number(Int)
  case sum(Term, Term)
  case quotient(Term, Term)

  static let generator = Gen<Term>.recursive(leaf: Gen<Int>.int().map { .number($0) }) { term in
    .oneOf(zip(term, term).map { .sum($0, $1) }, zip(term, term).map { .quotient($0, $1) })
  }

  var dividesByZero: Bool {
    switch self {
    case .number: false
    case .quotient(_, .number(0)): true
    case .sum(let one, let other), .quotient(let one, let other): one.dividesByZero || other.dividesByZero
    }
  }

  func value() throws -> Int {
    switch self {
    case .number(let number): return number
    case .sum(let one, let other): return try one.value() &+ other.value()
    case .quotient(let one, let other):
      let (dividend, divisor) = (try one.value(), try other.value())
      try ensure(divisor != 0)
      return dividend.dividedReportingOverflow(by: divisor).partialValue
    }
  }
}

/// A heap with a wrong way of sorting: the smallest element, and then the rest as it is.
indirect enum Heap: Sendable {
  case empty
  case node(Int, Heap, Heap)

  static let generator = heap(from: Int.min, depth: 5)

  private static func heap(from least: Int, depth: Int) -> Gen<Heap> {
    guard depth > 0 else {
      return Gen { (choices) throws(Rejection) in
        _ = try choices.index(below: 1)
        return .empty
      }
    }
    let node = Gen<Heap> { (choices) throws(Rejection) in
      let first = try choices.integer(in: least...Int.max)
      let inner = heap(from: first, depth: depth - 1)
      return .node(first, try choices.draw(inner), try choices.draw(inner))
    }
    return .frequency((1, .always(.empty)), (2, node))
  }

  var elements: [Int] {
    var (result, stack): ([Int], [Heap]) = ([], [self])
    while let next = stack.popLast() {
      guard case .node(let first, let left, let right) = next else { continue }
      result.append(first)
      stack += [left, right]
    }
    return result
  }

  private static func merged(_ one: Heap, _ other: Heap) -> Heap {
    guard case .node(let first, let left, let right) = one else { return other }
    guard case .node(let second, let otherLeft, let otherRight) = other else { return one }
    return first <= second
      ? .node(first, merged(right, other), left) : .node(second, merged(otherRight, one), otherLeft)
  }

  var wronglySorted: [Int] {
    guard case .node(let first, let left, let right) = self else { return [] }
    return [first] + Heap.merged(left, right).elements
  }
}
