// The seed of a run.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The number from which all cases of a run follow, on every machine.
public enum Seed {
  /// Returns the value of the environment variable `SEED`, or a new seed.
  ///
  /// A new one is printed before the first case, so that a run that hangs or ends the process can be repeated.
  /// - Throws: ``CheckError/environment(_:)`` if the variable is no number from 0 below 2⁶⁴.
  public static func ofRun(_ name: String) throws -> UInt64 {
    guard let text = getenv("SEED") else {
      let seed = UInt64.random(in: 0...UInt64(UInt32.max))
      print("\(name): SEED=\(seed)")
      return seed
    }
    guard let seed = UInt64(String(cString: text)) else {
      throw CheckError.environment("SEED is '\(String(cString: text))'; it must be a number from 0 below 2⁶⁴")
    }
    return seed
  }
}
