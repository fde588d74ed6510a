// Random numbers that are the same on every machine.

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). It is
/// repeated here since this module imports no other one.
struct ChoiceRandom: Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// The numbers of one case of a run. They depend on no other case.
  init(seed: UInt64, case number: Int) {
    state = seed
    state = next() ^ (UInt64(truncatingIfNeeded: number) &* 0xD134_2543_DE82_EF95)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 through `bound`. Its deviation from uniform is below 2⁻³² for bounds below 2³².
  mutating func next(through bound: UInt64) -> UInt64 {
    if bound == .max { return next() }
    return next().multipliedFullWidth(by: bound + 1).high
  }

  /// True once in `count` times.
  mutating func isOne(in count: UInt64) -> Bool { next(through: count - 1) == 0 }
}
