// How many random histories of states a test runs, and how many bits of their files it changes.

internal import Foundation
internal import Testing

/// Counts the random histories of one test, and prints when the test ends how many there were.
///
/// An ordinary run has 500 or more, or a part of them where several tests are of one property or each takes long. The
/// environment variable `RUNS` asks for more, and never for fewer. A build without optimisation takes some fifty times as
/// long for each, and runs a twentieth of a whole property.
final class StateRuns {
  private static let asked = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) }

  /// How many an ordinary run has of most properties.
  private static let usual = 500

  /// Whether more is asked for than in an ordinary run.
  static var isLong: Bool { asked ?? 0 > usual }

  let countMin: Int
  private(set) var count = 0
  private let test: String
  private let begin = ContinuousClock.now

  /// - Parameters:
  ///   - usual: the number in an ordinary run.
  ///   - parts: the number of tests of one property, or of arguments of a test, that share `usual` and `RUNS`.
  ///   - isLight: whether one takes so little that a build without optimisation runs as many.
  init(_ usual: Int = StateRuns.usual, parts: Int = 1, isLight: Bool = false) {
    let asked = Self.asked ?? 0
    var divisor = parts
    #if DEBUG
      if !isLight { divisor = max(20, parts) }
    #endif
    countMin = (max(usual, asked) + divisor - 1) / divisor
    test = Test.current?.name ?? ""
  }

  deinit {
    let seconds = (ContinuousClock.now - begin).components.seconds
    print("random histories: \(count) in \(seconds) s: \(test)")
  }

  /// Whether there were fewer than there should be.
  var isShort: Bool { count < countMin }

  func add(_ number: Int = 1) { count += number }

  /// Counts one more. False if there are enough, and then counts none.
  func next() -> Bool {
    guard isShort else { return false }
    add()
    return true
  }
}

/// Which bits of the files of a state are changed.
enum DamagedBits {
  /// The environment variable `STRATA_DAMAGE_STEP`: the number of bits from one change to the next. Nil without it.
  static let step = ProcessInfo.processInfo.environment["STRATA_DAMAGE_STEP"].flatMap(Int.init)
    .flatMap { $0 > 0 ? $0 : nil }

  /// The bits of a file that are changed, one at a time: every one or some, as `STRATA_DAMAGE_STEP` says, and without it
  /// one of each byte, in turn the first to the eighth.
  static func of(byteCount: Int) -> [Int] {
    if let step { return Array(stride(from: 0, to: 8 * byteCount, by: step)) }
    return (0..<byteCount).map { 8 * $0 + $0 % 8 }
  }
}
