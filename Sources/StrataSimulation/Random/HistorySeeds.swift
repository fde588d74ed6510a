// The seeds of the random histories of a test: a fixed number of them, and more when somebody asks.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension SeededGenerator {
  /// The seeds of a test that runs one history for each.
  ///
  /// An ordinary run has the seeds from 0, the same in every run. The environment variable `RUNS` asks for more
  /// histories, and never for fewer; their seeds begin at the value of `SEED`, so that each long run has others. It then
  /// prints how many there are.
  ///
  /// - Parameters:
  ///   - usual: the number in an ordinary run.
  ///   - share: how many times fewer than `RUNS` there are of these histories, since each takes long.
  package static func historySeeds(_ usual: Int, share: Int = 1, of test: String = #fileID) -> [UInt64] {
    let asked = getenv("RUNS").flatMap { Int(String(cString: $0)) } ?? 0
    let count = asked / max(1, share)
    guard count > usual else { return Array(0..<UInt64(usual)) }
    let first = getenv("SEED").flatMap { UInt64(String(cString: $0)) } ?? 0
    print("random histories: \(count) with seeds from \(first): \(test)")
    return (0..<UInt64(count)).map { first &+ $0 }
  }
}
