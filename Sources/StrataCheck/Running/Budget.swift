// How much a check may do.

/// How many cases a check runs, how large they get, and how long it may take.
public struct Budget: Sendable {
  /// How many cases are run, without those that were discarded.
  public var cases: Int
  /// The greatest size of a case. The first has size 1; cases grow evenly up to the hundredth, and then again from 1.
  public var size: Int
  /// How long the whole check may take, with shrinking. A case that runs is not interrupted.
  public var duration: Duration
  /// How many times the property may be called to shrink a case.
  public var shrinkCalls: Int
  /// How many choices one case may have.
  public var choices: Int

  /// A budget. What is not given is what an ordinary test has.
  public init(
    cases: Int = 200, size: Int = 50, duration: Duration = .seconds(60), shrinkCalls: Int = 5_000,
    choices: Int = 8_192
  ) {
    (self.cases, self.size, self.duration) = (cases, size, duration)
    (self.shrinkCalls, self.choices) = (shrinkCalls, choices)
  }

  /// The size of a case, the first of which is 1.
  func size(ofCase number: Int) -> Int {
    let period = max(1, min(100, cases))
    return max(1, size * ((number - 1) % period + 1) / period)
  }
}
