// What a run of crash cases came to: a suite that never reached a place has not tested it.

/// How many cases ended where.
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
  package var inCreation = 0
  package var inRoll = 0
  package var inRecovery = 0
  /// By the depth of crashes within recoveries from crashes; index 0 is the first crash.
  package var depths = [0, 0, 0]

  package init() {}

  package static func += (counts: inout CrashCounts, other: CrashCounts) {
    counts.cases += other.cases
    counts.clean += other.clean
    counts.zeroTails += other.zeroTails
    counts.torn += other.torn
    counts.corrupt += other.corrupt
    counts.holes += other.holes
    counts.inCreation += other.inCreation
    counts.inRoll += other.inRoll
    counts.inRecovery += other.inRecovery
    for depth in counts.depths.indices { counts.depths[depth] += other.depths[depth] }
  }

  /// True when every kind of place was reached.
  package var isComplete: Bool {
    ([clean, zeroTails, torn, corrupt, holes, inCreation, inRoll, inRecovery] + depths).allSatisfy { $0 > 0 }
  }

  package var description: String {
    "\(cases) crashes: \(clean) clean (\(zeroTails) before zeros), \(torn) torn, \(corrupt) corrupt, \(holes) with "
      + "a hole before a later block, \(inCreation) inside creation, \(inRoll) inside a roll, \(inRecovery) inside recovery, "
      + "by depth \(depths)"
  }
}
