// When a state is saved that nobody asked for: the table of the decision.

@testable internal import StrataPast
internal import Testing

@Suite struct SaveDecisionTests {
  /// Every combination.
  private static let all: [SaveDecision] = (0..<64).map { bits in
    SaveDecision(
      mayBeSaved: bits & 1 > 0, wasEvicted: bits & 2 > 0, isWanting: bits & 4 > 0, hasFailed: bits & 8 > 0,
      takesLong: bits & 16 > 0, isInProportion: bits & 32 > 0)
  }

  @Test(arguments: SaveDecision.Moment.allCases)
  func `nothing is saved where it may not be, and what gave way to the log is saved again`(
    _ moment: SaveDecision.Moment
  ) {
    for decision in Self.all {
      if !decision.mayBeSaved { #expect(!decision.isDue(moment), "\(decision)") }
      if decision.mayBeSaved, decision.wasEvicted { #expect(decision.isDue(moment), "\(decision)") }
    }
  }

  @Test
  func `in the background what takes long is saved in proportion, and what is wanting once until it failed`()
  {
    for decision in Self.all where decision.mayBeSaved && !decision.wasEvicted {
      let expected: Bool
      switch (decision.isWanting, decision.takesLong) {
      case (false, false): expected = false
      case (false, true): expected = decision.isInProportion
      case (true, false): expected = !decision.hasFailed
      case (true, true): expected = true
      }
      #expect(decision.isDue(.background) == expected, "\(decision)")
    }
  }

  @Test func `a close saves whatever folding would not give soon, whatever it takes`() {
    for decision in Self.all where decision.mayBeSaved && !decision.wasEvicted {
      #expect(decision.isDue(.close) == (decision.isWanting || decision.takesLong), "\(decision)")
      if decision.isDue(.background) { #expect(decision.isDue(.close), "\(decision)") }
    }
  }
}
