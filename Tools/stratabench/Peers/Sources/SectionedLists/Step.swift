// The times of one change, and how they are printed.

internal import Foundation

/// Seconds from the beginning of a write.
struct Step {
  /// Until the write returned.
  var write: Double
  /// Until the new list was available.
  var list: Double
  /// Until the new list and the difference were available.
  var whole: Double

  /// Measures a write, the list after it, and the difference.
  static func measured<List>(
    write: () async throws -> Void, list: () async throws -> List, difference: (List) -> Void
  ) async throws -> Step {
    let clock = ContinuousClock()
    let start = clock.now
    try await write()
    let written = clock.now
    let new = try await list()
    let listed = clock.now
    difference(new)
    return Step(
      write: (written - start).seconds, list: (listed - start).seconds, whole: (clock.now - start).seconds)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
}

/// Prints a median time, and the median of the ratios of each round.
func report(_ name: String, _ steps: [Step], _ part: KeyPath<Step, Double>, beside others: [Step]) {
  let times = steps.map { $0[keyPath: part] }
  let ratios = zip(times, others).map { $0 / $1.whole }
  print(
    "  " + name.padding(toLength: 32, withPad: " ", startingAt: 0)
      + String(
        format: "%10.1f µs  %8.2f ×   (the write %.1f µs)", median(times) * 1e6, median(ratios),
        median(steps.map(\.write)) * 1e6))
}
