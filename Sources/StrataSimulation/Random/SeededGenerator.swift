// Random numbers that can be reproduced from a seed.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014):
/// the same seed gives the same numbers on every machine.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a separate generator for a part of the work. Its numbers do not depend on how many the other parts draw.
  public mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }
}

extension SeededGenerator {
  /// Returns the seed for a random test: the value of the environment variable `SEED`, or a new one. It is printed, so
  /// that a failure can be reproduced.
  public static func testSeed(_ test: String = #function) -> UInt64 {
    let given = getenv("SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
    print("\(test): SEED=\(seed)")
    return seed
  }
}
