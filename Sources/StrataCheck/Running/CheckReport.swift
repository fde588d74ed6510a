// What a check that passed has run.

/// What was run, and of what classes the cases were.
public struct CheckReport: Sendable, CustomStringConvertible {
  /// With which the same run happens again.
  public internal(set) var seed: UInt64
  /// Cases that passed.
  public internal(set) var cases = 0
  /// Cases that did not count: a filter or ``assume(_:)`` refused them.
  public internal(set) var discarded = 0
  /// Cases that were equal to earlier ones, and were not run.
  public internal(set) var repeated = 0
  /// How many cases each class of ``Property/classify(_:when:)`` and ``Property/cover(_:atLeast:when:)`` had.
  public internal(set) var classes: [String: Int] = [:]
  /// How long it took.
  public internal(set) var duration: Duration = .zero
  /// Whether no further case is left, as far as can be seen: a thousand in a row were equal to earlier ones.
  public internal(set) var isExhausted = false

  public var description: String {
    var text = "\(cases) cases, \(discarded) discarded, \(repeated) equal to earlier ones, SEED=\(seed)"
    for (label, count) in classes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      text += "\n\(Self.text(percent(count))) % \(label)"
    }
    return text
  }

  func percent(_ count: Int) -> Double { cases == 0 ? 0 : 100 * Double(count) / Double(cases) }

  static func text(_ percent: Double) -> String { "\((percent * 10).rounded() / 10)" }
}
