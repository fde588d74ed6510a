// What a failed check throws.

/// The simplest case found in which a property fails.
public struct Counterexample: Error, CustomStringConvertible, Sendable {
  /// The property.
  public let name: String
  /// With which the same run happens again.
  public let seed: UInt64
  /// The case, as source text in Swift that makes it.
  public let source: String
  /// What the property threw in that case.
  public let failure: any Error
  /// The number of the case that failed first, from 1; 0 if it was in the folder of failures.
  public let foundAt: Int
  /// How many times the property was called to shrink that case, and how many of those led to a simpler one.
  public let shrinkCalls: Int
  public let shrinkSteps: Int
  /// Whether shrinking ended because the budget did.
  public let isCutShort: Bool
  /// What else there is to say, one line each: where a store was written, for example.
  public var notes: [String] = []

  public var description: String {
    var lines = ["\(name) does not hold: \(failure)"]
    lines.append("the simplest case found\(isCutShort ? " until the budget ended" : ""):")
    lines.append(source)
    lines.append(contentsOf: notes)
    let first = foundAt == 0 ? "from the folder of failures" : "case \(foundAt)"
    lines.append(
      "\(first), shrunk \(shrinkSteps) times in \(shrinkCalls) calls; SEED=\(seed) repeats the run")
    return lines.joined(separator: "\n")
  }
}

/// Why a check says nothing of a property.
public enum CheckError: Error, CustomStringConvertible, Sendable {
  /// Nearly all cases were discarded: make the generator fit, instead of filtering.
  case tooFewCases(_ count: Int, rejected: Int)
  /// Fewer cases are of a class than ``Property/cover(_:atLeast:when:)`` requires, and chance is excluded.
  case uncovered(_ label: String, percent: Double, required: Double)
  /// The variable `SEED`, or another one of the environment, is no number.
  case environment(String)

  public var description: String {
    switch self {
    case .tooFewCases(let count, let rejected):
      "only \(count) cases fit, and \(rejected) were discarded; let the generator make what fits"
    case .uncovered(let label, let percent, let required):
      "\(CheckReport.text(percent)) % of the cases are '\(label)', where \(CheckReport.text(required)) % are required"
    case .environment(let text): text
    }
  }
}
