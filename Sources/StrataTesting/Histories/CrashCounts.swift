// What a run of crash cases came to: a suite that never reached a place has not tested it.

/// How many cases ended where. A case is one power cut, or the end of one process, with something unsynced.
package struct CrashCounts: Sendable, CustomStringConvertible {
  package var cases = 0
  package var clean = 0
  /// Clean ones with zeros behind the end.
  package var zeroTails = 0
  package var torn = 0
  /// Refused as corrupt, which only a disk outside the model may bring about.
  package var corrupt = 0
  /// A block that is right by itself behind a place where none is.
  package var holes = 0
  /// By the work that was interrupted.
  package var phases: [CrashPhase: Int]
  /// By what became of what was not synced.
  package var models: [CrashModel: Int]
  /// By the depth of crashes within recoveries from crashes; index 0 is the first crash.
  package var depths: [Int]

  package init(depthMax: Int = CrashHistory.depthMax) {
    phases = Dictionary(uniqueKeysWithValues: CrashPhase.allCases.map { ($0, 0) })
    models = Dictionary(uniqueKeysWithValues: CrashModel.allCases.map { ($0, 0) })
    depths = Array(repeating: 0, count: depthMax)
  }

  package static func += (counts: inout CrashCounts, other: CrashCounts) {
    counts.cases += other.cases
    counts.clean += other.clean
    counts.zeroTails += other.zeroTails
    counts.torn += other.torn
    counts.corrupt += other.corrupt
    counts.holes += other.holes
    counts.phases.merge(other.phases, uniquingKeysWith: +)
    counts.models.merge(other.models, uniquingKeysWith: +)
    for depth in counts.depths.indices { counts.depths[depth] += other.depths[depth] }
  }

  /// What was never reached, by its name; empty where every kind of place was.
  package var missing: [String] {
    parts.filter { $0.count == 0 }.map(\.name)
  }

  private var parts: [(name: String, count: Int)] {
    var parts = [
      ("clean", clean), ("before zeros", zeroTails), ("torn", torn), ("corrupt", corrupt),
      ("hole before a later block", holes),
    ]
    parts += CrashPhase.allCases.map { ("in \($0)", phases[$0] ?? 0) }
    parts += CrashModel.allCases.map { ("\($0)", models[$0] ?? 0) }
    parts += depths.enumerated().map { ("depth \($0 + 1)", $1) }
    return parts
  }

  package var description: String {
    "\(cases) crashes: " + parts.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
  }
}
