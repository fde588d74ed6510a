// Measures time, beside a limit, in a temporary folder.

internal import Foundation
internal import StrataBase

/// The number of seconds that a body takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  let start = MonotonicTime.now()
  try body()
  return start.seconds
}

func seconds(_ body: () async throws -> Void) async rethrows -> Double {
  let start = MonotonicTime.now()
  try await body()
  return start.seconds
}

/// The current monotonic time in seconds.
func now() -> Double { Double(MonotonicTime.now().nanoseconds) / 1e9 }

extension MonotonicTime {
  var seconds: Double { Double(MonotonicTime.now().nanoseconds - nanoseconds) / 1e9 }
}

/// The median of the ratios of each round, for two workloads that took turns.
func medianRatio(_ times: [Double], to limits: [Double]) -> Double {
  median(zip(times, limits).map { $0 / $1 })
}

/// Prints a rate and its limit; the ratio is the median of the ratios of each round.
func report(_ name: String, _ times: [Double], limit: [Double], count: Int, limitName: String) {
  let ratios = zip(times, limit).map { $1 / $0 }
  let figures = String(format: "%@ (%.3f s)", rate(count, median(times)), median(times))
  let limits = String(format: "%@ %@ (%.3f s)", limitName, rate(count, median(limit)), median(limit))
  let ratio = String(
    format: "ratio %.2f (%.2f…%.2f)", median(ratios), ratios.min() ?? .nan, ratios.max() ?? .nan)
  report(name, "\(figures)   \(limits)   \(ratio)")
}

/// A temporary folder for one run.
struct Scratch: Sendable {
  let path: String

  init(_ directory: String?) throws {
    let root = directory ?? NSTemporaryDirectory()
    path = (root as NSString).appendingPathComponent(
      "stratabench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func fresh(_ name: String) -> String {
    let folder = "\(path)/\(name)"
    try? FileManager.default.removeItem(atPath: folder)
    return folder
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
