// A program that cuts the power of simulated disks for as long as it is told, and says what that came to.

internal import Foundation
internal import StrataSimulation

/// `strata-soak MINUTES [SEED]` runs histories; `strata-soak history SEED` runs one again.
@main
enum Soak {
  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.count) {
    case ("history", 2):
      guard let seed = UInt64(arguments[1]) else { usage() }
      try again(seed)
    case (let minutes?, 1...2):
      let seed = arguments.count == 2 ? UInt64(arguments[1]) : UInt64.random(in: 0...UInt64(UInt32.max))
      guard let minutes = Double(minutes), minutes > 0, let seed else { usage() }
      try run(minutes, seed)
    default: usage()
    }
  }

  private static func usage() -> Never {
    say("strata-soak MINUTES [SEED] | strata-soak history SEED")
    exit(64)
  }

  private static func run(_ minutes: Double, _ seed: UInt64) throws {
    say("power cuts for \(minutes) minutes, SEED=\(seed)")
    var run = CrashRun()
    run.timeMax = .seconds(minutes * 60)
    run.failuresMax = 1
    run.threadCount = 2 * ProcessInfo.processInfo.activeProcessorCount
    let outcome = try run.run(seed: seed) { say(describe($0)) }
    say(describe(outcome))
    for failure in outcome.failures {
      say("FAILED: \(failure)\nagain: strata-soak history \(failure.seed)")
    }
    if outcome.failures.isEmpty, !outcome.counts.missing.isEmpty {
      say("FAILED: never reached: \(outcome.counts.missing.joined(separator: ", "))")
    }
    exit(outcome.failures.isEmpty && outcome.counts.missing.isEmpty ? 0 : 1)
  }

  private static func again(_ seed: UInt64) throws {
    var history = CrashHistory(seed: seed)
    do throws(CrashHistory.Failure) { try history.run() } catch {
      say("FAILED: \(error)")
      exit(1)
    }
    say("history \(seed): \(history.counts)")
  }

  private static func describe(_ outcome: CrashRun.Outcome) -> String {
    let seconds = Int(outcome.duration / .seconds(1))
    return "\(seconds) s, \(Int(outcome.rate)) cases a second; \(outcome.counts)"
  }

  /// At once, also where the output is a file.
  private static func say(_ text: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
  }
}
