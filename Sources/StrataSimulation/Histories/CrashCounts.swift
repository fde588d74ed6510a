// The counts of a run of crash cases, which show whether every kind of case has been tested.

/// The number of cases by outcome. A case is one power cut, or the end of one process, with unsynced data.
package struct CrashCounts: Sendable, CustomStringConvertible {
  package var cases = 0
  package var clean = 0
  /// The clean ones that have zeros after the end.
  package var zeroTails = 0
  package var torn = 0
  /// The stores refused as corrupt, which is allowed only for a disk outside the model.
  package var corrupt = 0
  /// Cases with a valid block after a gap, that is, after an offset without a valid block.
  package var holes = 0
  /// The number of cases by the work that was interrupted.
  package var phases: [CrashPhase: Int]
  /// The number of cases by what remained of the unsynced data.
  package var models: [CrashModel: Int]
  /// The number of cases by the depth of crashes within recoveries from crashes; index 0 is the first crash.
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

  /// The names of the kinds of cases that never occurred; empty if every kind did.
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
