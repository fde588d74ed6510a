// A generator: how a value is made of choices.

/// Makes values from choices.
///
/// A generator decides by what it draws from ``Choices`` and by nothing else. So a value can be made again, and
/// shrinking needs no code of the generator: it simplifies the choices, and the generator makes a value of them, which
/// is valid because the generator made it. Whatever is composed of generators shrinks in the same way.
public struct Gen<Value>: Sendable {
  let draw: @Sendable (inout Choices) throws(Rejection) -> Value

  /// A generator with code of its own, which draws from other generators with ``Choices/draw(_:)``.
  public init(_ draw: @escaping @Sendable (inout Choices) throws(Rejection) -> Value) { self.draw = draw }
}

extension Choices {
  /// Draws a value of a generator.
  public mutating func draw<Value>(_ generator: Gen<Value>) throws(Rejection) -> Value {
    try span { (choices) throws(Rejection) in try generator.draw(&choices) }
  }
}

extension Gen {
  /// Always the same value.
  public static func always(_ value: Value) -> Gen where Value: Sendable { Gen { _ in value } }

  /// Each value is what the closure makes of a value of this generator.
  public func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> Gen<Other> {
    Gen<Other> { [draw] (choices) throws(Rejection) in transform(try draw(&choices)) }
  }

  /// Each value is one of the generator that the closure makes of a value of this generator.
  public func flatMap<Other>(_ transform: @escaping @Sendable (Value) -> Gen<Other>) -> Gen<Other> {
    Gen<Other> { (choices) throws(Rejection) in
      let next = transform(try choices.draw(self))
      return try choices.draw(next)
    }
  }

  /// Only the values that a closure accepts.
  /// - Parameter tries: how many values are drawn at most until one is accepted. Without one the case does not count; a
  ///   run in which nearly no case counts throws ``CheckError/tooFewCases(_:rejected:)``.
  public func filter(tries: Int = 4, _ isIncluded: @escaping @Sendable (Value) -> Bool) -> Gen {
    compactMap(tries: tries) { isIncluded($0) ? $0 : nil }
  }

  /// What a closure makes of values of this generator, without those of which it makes nil.
  public func compactMap<Other>(
    tries: Int = 4, _ transform: @escaping @Sendable (Value) -> Other?
  ) -> Gen<Other> {
    Gen<Other> { (choices) throws(Rejection) in
      for _ in 0..<max(1, tries) {
        if let value = transform(try choices.draw(self)) { return value }
      }
      throw .unsuitable
    }
  }

  /// A value of one of the generators. The first one is the simplest.
  /// - Precondition: there is one.
  public static func oneOf(_ generators: Gen...) -> Gen {
    precondition(!generators.isEmpty, "one of no generators")
    return Gen { (choices) throws(Rejection) in
      try choices.draw(generators[try choices.index(below: generators.count)])
    }
  }

  /// A value of one of the generators, each as often as its weight says beside the others. The first one is the simplest.
  /// - Precondition: the weights are not negative, and one is above 0.
  public static func frequency(_ weighted: (Int, Gen)...) -> Gen {
    let (weights, generators) = (weighted.map(\.0), weighted.map(\.1))
    precondition(weights.allSatisfy { $0 >= 0 } && weights.contains { $0 > 0 }, "weights without one above 0")
    // One slot for each unit of weight would make each alternative many choices; a hint decides, and its index is drawn.
    return Gen { (choices) throws(Rejection) in
      try choices.draw(generators[try choices.index(weights: weights)])
    }
  }

  /// A value that contains others of its kind: a tree, an expression, a document.
  ///
  /// - Parameters:
  ///   - depth: how deep values are nested at most.
  ///   - leaf: what contains no other one.
  ///   - branch: from the generator of what is inside, the generator of what is around it.
  public static func recursive(
    depth: Int = 5, leaf: Gen, branch: @escaping @Sendable (Gen) -> Gen
  ) -> Gen {
    // The innermost level has no choice left, and notes it all the same: so what is inside may replace what is around it.
    var generator = Gen { (choices) throws(Rejection) in
      _ = try choices.index(below: 1)
      return try choices.draw(leaf)
    }
    for _ in 0..<max(0, depth) { generator = .frequency((2, leaf), (3, branch(generator))) }
    return generator
  }
}

extension Choices {
  /// Draws an index, each as often as its weight says.
  mutating func index(weights: [Int]) throws(Rejection) -> Int {
    var place = hint(through: weights.reduce(0, +) - 1)
    var wanted = 0
    while wanted < weights.count - 1, place >= weights[wanted] {
      place -= weights[wanted]
      wanted += 1
    }
    return try index(below: weights.count, ifRandom: wanted)
  }
}

/// Draws each of several generators, for ``Gen/map(_:)`` to a type of several fields.
public func zip<each Value>(_ generator: repeat Gen<each Value>) -> Gen<(repeat each Value)> {
  Gen { (choices) throws(Rejection) in
    (repeat try choices.draw(each generator))
  }
}
