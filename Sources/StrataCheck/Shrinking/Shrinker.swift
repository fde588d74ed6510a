// From a case that fails to the simplest one that fails in the same way.

/// Simplifies the choices of a case for as long as the property still fails.
///
/// The order in which it descends is: fewer choices first, then nearer to the targets from the front. The passes are
/// those of "Test-Case Reduction via Test-Case Generation: Insights from the Hypothesis Reducer" (D. MacIver,
/// A. Donaldson, ECOOP 2020): delete, replace by what is inside, lower, and those of several choices at a time. Here a
/// value is made before the property is called, so what is not simpler, or has been seen, costs no call.
final class Shrinker {
  /// A sequence of choices that makes a value, and how its generators are nested.
  struct Attempt: Sendable {
    var choices: [Choice]
    var spans: [Span]
  }

  private(set) var best: Attempt
  /// How many times the property was called, and how many of those were simpler and failed.
  private(set) var callCount = 0
  private(set) var stepCount = 0
  /// Whether the budget ended before nothing was left to try.
  private(set) var isCutShort = false

  private let make: ([Choice], _ extended: Bool) -> Attempt?
  private let fails: nonisolated(nonsending) (Attempt) async -> Bool
  private let mayGoOn: (_ callCount: Int) -> Bool
  private var tried: Set<UInt64> = []

  /// - Parameters:
  ///   - make: runs the generator on choices. With `extended` what is missing is the simplest.
  ///   - fails: whether the property fails in the same way.
  ///   - mayGoOn: whether the budget allows another call.
  init(
    _ first: Attempt, make: @escaping ([Choice], _ extended: Bool) -> Attempt?,
    mayGoOn: @escaping (_ callCount: Int) -> Bool,
    fails: nonisolated(nonsending) @escaping (Attempt) async -> Bool
  ) {
    (best, self.make, self.mayGoOn, self.fails) = (first, make, mayGoOn, fails)
    tried.insert(first.choices.fingerprint)
  }

  var choices: [Choice] { best.choices }

  /// Runs all passes until none of them finds anything simpler.
  nonisolated(nonsending) func run() async {
    var before = -1
    while before != stepCount, !isCutShort {
      before = stepCount
      await deleteSpans()
      await replaceByDescendants()
      await simplifySpans()
      await joinLists()
      await lowerTogether()
      await lowerEach()
      await sortSiblings()
      await lowerPairs()
      if before == stepCount {
        await deleteWindows()
        await lowerBySteps()
        await deleteReferred()
      }
    }
  }

  /// Keeps the choices if they are simpler and fail. At most one call of the property.
  nonisolated(nonsending) func attempt(_ candidate: [Choice]) async -> Bool {
    guard !isCutShort, tried.insert(candidate.fingerprint).inserted, let made = make(candidate, false) else {
      return false
    }
    return await attempt(made, of: candidate)
  }

  /// Keeps what a generator made of candidates, if it is simpler and fails.
  nonisolated(nonsending) private func attempt(_ made: Attempt, of candidate: [Choice]) async -> Bool {
    guard made.choices.isSimpler(than: best.choices) else { return false }
    let fingerprint = made.choices.fingerprint
    guard fingerprint == candidate.fingerprint || tried.insert(fingerprint).inserted else { return false }
    guard mayGoOn(callCount) else {
      isCutShort = true
      return false
    }
    callCount += 1
    guard await fails(made) else { return false }
    stepCount += 1
    best = made
    return true
  }

  /// Returns what the generator makes of choices and, where they end, of the simplest ones.
  func preview(_ candidate: [Choice]) -> Attempt? { make(candidate, true) }

  /// The largest number up to `limit` of which a predicate is true, if it is true of all below: found by doubling and
  /// halving, so that it costs twice the logarithm of the number.
  nonisolated(nonsending) func largest(
    through limit: UInt64, where isTrue: nonisolated(nonsending) (UInt64) async -> Bool
  ) async -> UInt64 {
    var (low, high) = (UInt64(0), UInt64(1))
    while high <= limit, await isTrue(high) {
      low = high
      // Small numbers are the most frequent, so the first few are tried one by one.
      let next = high < 4 ? high + 1 : high.multipliedReportingOverflow(by: 2).partialValue
      if high == limit { return limit }
      high = next <= high || next > limit ? limit : next
    }
    high = min(high, limit)
    while low + 1 < high {
      let middle = low + (high - low) / 2
      if await isTrue(middle) { low = middle } else { high = middle }
    }
    return low
  }
}
