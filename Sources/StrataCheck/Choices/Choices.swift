// What a generator draws from: random numbers, or the choices of a case that ran before.

/// Why a generator made no value.
public enum Rejection: Error, Sendable {
  /// What was drawn does not fit, for example to a filter.
  case unsuitable
  /// There are more choices than the budget allows, or than were given to be repeated.
  case overrun
}

/// Where a generator's decisions come from.
///
/// A generator must decide by nothing else, so that the same choices make the same value.
public struct Choices: ~Copyable {
  /// How large what is drawn should be, from 0. Lists have about as many elements at most; what is in a list gets less.
  public internal(set) var size: Int

  var record: [Choice] = []
  var spans: [Span] = []
  private var random: ChoiceRandom
  private let given: [Choice]
  /// How many choices are given, or nil if they are drawn at random.
  private let givenCount: Int?
  private let limit: Int
  private let recordsSpans: Bool
  private var openSpan = -1

  /// Random choices.
  init(random: ChoiceRandom, size: Int, limit: Int, reusing storage: consuming [Choice] = []) {
    (self.random, self.size, self.limit) = (random, size, limit)
    (given, givenCount, recordsSpans) = ([], nil, false)
    record = storage
    record.removeAll(keepingCapacity: true)
  }

  /// The given choices, and after them none, or the simplest ones.
  init(repeating given: [Choice], extended: Bool = false, limit: Int) {
    (self.given, self.limit) = (given, limit)
    givenCount = extended ? limit : given.count
    (random, size, recordsSpans) = (ChoiceRandom(seed: 0), 0, true)
    record.reserveCapacity(given.count)
  }

  /// Moves the choices out, and leaves none that could be drawn from.
  mutating func take() -> Choices {
    let taken = self
    self = Choices(repeating: [], limit: 0)
    return taken
  }

  // MARK: Decisions

  /// Draws a number of a range.
  /// - Parameters:
  ///   - target: the simplest number, to which shrinking goes; without one, what is nearest to 0. It is moved into the
  ///     range.
  public mutating func integer<Number: FixedWidthInteger>(
    in range: ClosedRange<Number>, towards target: Number? = nil
  ) throws(Rejection) -> Number {
    precondition(Number.bitWidth <= 64, "numbers of more than 64 bits cannot be drawn")
    let target = min(max(target ?? 0, range.lowerBound), range.upperBound)
    let choice = Choice(
      .integer, up: UInt64(truncatingIfNeeded: range.upperBound &- target),
      down: UInt64(truncatingIfNeeded: target &- range.lowerBound))
    let drawn = try decide(choice) { (random, record) in choice.random(&random, after: record) }
    let distance = Number(truncatingIfNeeded: drawn.magnitude)
    return drawn.isNegative ? target &- distance : target &+ distance
  }

  /// Draws a number from 0 below a count, uniformly.
  /// - Precondition: `count` is above 0.
  public mutating func index(below count: Int) throws(Rejection) -> Int {
    let choice = Choice(.integer, up: UInt64(count - 1))
    return Int(
      try decide(choice) { (random, _) in
        choice.at(random.next(through: choice.up), isNegative: false) ?? choice
      }
      .magnitude)
  }

  /// Draws a number from 0 below a count, which is the given one unless choices are repeated.
  mutating func index(below count: Int, ifRandom wanted: Int) throws(Rejection) -> Int {
    let choice = Choice(.integer, up: UInt64(count - 1))
    return Int(
      try decide(choice) { (_, _) in choice.at(UInt64(wanted), isNegative: false) ?? choice }.magnitude)
  }

  /// Draws a number that may be any one, also infinite or not a number.
  public mutating func double() throws(Rejection) -> Double {
    let choice = Choice(.float, up: .max, down: .max)
    let drawn = try decide(choice) { (random, _) in
      let value = Double.breaking(&random)
      return choice.at(FloatOrder.code(of: value), isNegative: value.sign == .minus) ?? choice
    }
    let value = FloatOrder.value(ofCode: drawn.magnitude)
    return drawn.isNegative ? -value : value
  }

  /// Draws whether a list goes on.
  /// - Parameter forced: what is decided already. It is noted all the same, so that every element has its flag.
  mutating func flag(forced: Bool?, ifRandom wanted: Bool) throws(Rejection) -> Bool {
    if let forced {
      var choice = Choice(.flag, up: 1)
      (choice.magnitude, choice.isForced) = (forced ? 1 : 0, true)
      _ = try decide(choice) { (_, _) in choice }
      return forced
    }
    let choice = Choice(.flag, up: 1)
    return try decide(choice) { (_, _) in choice.at(wanted ? 1 : 0, isNegative: false) ?? choice }.magnitude
      == 1
  }

  /// A number that decides at random and is not shrunk: how long a list should be. 0 where choices are repeated.
  mutating func hint(through bound: Int) -> Int {
    givenCount == nil ? Int(random.next(through: UInt64(max(0, bound)))) : 0
  }

  @inline(__always)
  private mutating func decide(
    _ choice: Choice, _ draw: (inout ChoiceRandom, [Choice]) -> Choice
  ) throws(Rejection) -> Choice {
    guard record.count < limit else { throw .overrun }
    var drawn = choice
    if let givenCount {
      let index = record.count
      guard index < givenCount else { throw .overrun }
      if index < given.count, !choice.isForced, given[index].kind == choice.kind {
        drawn = choice.at(given[index].magnitude, isNegative: given[index].isNegative) ?? choice
      }
    } else if !choice.isForced {
      drawn = draw(&random, record)
    }
    record.append(drawn)
    return drawn
  }

  // MARK: Spans

  /// Draws what belongs together, so that shrinking may remove, replace or move it as one.
  public mutating func span<Value>(
    _ body: (inout Choices) throws(Rejection) -> Value
  ) throws(Rejection) -> Value {
    guard recordsSpans else { return try body(&self) }
    let index = open(label: ObjectIdentifier(Value.self).hashValue, isElement: false)
    let value = try body(&self)
    close(index)
    return value
  }

  /// Begins a span of what makes values of a type. The number is for ``close(_:)``.
  mutating func open<Value>(_ type: Value.Type) -> Int {
    recordsSpans ? open(label: ObjectIdentifier(type).hashValue, isElement: false) : -1
  }

  /// Begins an element of a list, with its flag.
  mutating func openElement() -> Int { recordsSpans ? open(label: 0, isElement: true) : -1 }

  private mutating func open(label: Int, isElement: Bool) -> Int {
    spans.append(
      Span(start: record.count, end: record.count, parent: openSpan, label: label, isElement: isElement))
    openSpan = spans.count - 1
    return openSpan
  }

  mutating func close(_ index: Int) {
    guard index >= 0 else { return }
    spans[index].end = record.count
    openSpan = spans[index].parent
  }

  /// Forgets an element that turned out to be the end of its list.
  mutating func drop(_ index: Int) {
    guard index >= 0 else { return }
    openSpan = spans[index].parent
    spans.removeLast()
  }
}
