// Lists, dictionaries, optional values, and values of a list.

extension Gen {
  /// One of the values. The first one is the simplest.
  /// - Precondition: there is one.
  public static func element(of values: [Value]) -> Gen where Value: Sendable {
    precondition(!values.isEmpty, "an element of an empty list")
    return Gen { (choices) throws(Rejection) in values[try choices.index(below: values.count)] }
  }

  /// One of the cases of a type that lists them.
  public static func anyCase() -> Gen where Value: CaseIterable & Sendable {
    .element(of: Array(Value.allCases))
  }

  /// Nil, once in five times, or a value of this generator.
  public var optional: Gen<Value?> {
    Gen<Value?> { (choices) throws(Rejection) in
      try choices.index(weights: [1, 4]) == 0 ? nil : try choices.draw(self)
    }
  }

  /// Lists of values of this generator.
  ///
  /// - Parameter count: how many elements there are; by default from none to the size of the case, which grows during a
  ///   run. The elements of long lists are smaller.
  public func array(count: ClosedRange<Int>? = nil) -> Gen<[Value]> {
    let least = max(0, count?.lowerBound ?? 0)
    let most = count?.upperBound ?? .max
    return Gen<[Value]> { [draw] (choices) throws(Rejection) in
      let size = choices.size
      let wanted = least + choices.hint(through: min(most - least, size))
      // What is inside shares the size.
      choices.size = size / max(1, wanted) + min(size, 3)
      defer { choices.size = size }
      var values: [Value] = []
      while true {
        let element = choices.openElement()
        let forced: Bool? = values.count < least ? true : values.count >= most ? false : nil
        guard try choices.flag(forced: forced, ifRandom: values.count < wanted) else {
          choices.drop(element)
          return values
        }
        values.append(try draw(&choices))
        choices.close(element)
      }
    }
  }

  /// Dictionaries of values of this generator. Of equal keys the last one counts.
  public func dictionary<Key: Hashable & SendableMetatype>(
    keys: Gen<Key>, count: ClosedRange<Int>? = nil
  ) -> Gen<[Key: Value]> {
    zip(keys, self).array(count: count).map { Dictionary($0) { $1 } }
  }
}
