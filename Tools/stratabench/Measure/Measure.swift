// Measures time, computes medians, and prints results.

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

func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return sorted.count % 2 == 1
    ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
}

/// The least value that this many hundredths of the values do not exceed.
func percentile(_ hundredths: Int, _ values: [Double]) -> Double {
  guard !values.isEmpty else { return .nan }
  return values.sorted()[min(values.count - 1, values.count * hundredths / 100)]
}

/// The median of the ratios of each round, for two workloads that took turns.
func medianRatio(_ times: [Double], to limits: [Double]) -> Double {
  median(zip(times, limits).map { $0 / $1 })
}

func microseconds(_ seconds: Double) -> String { String(format: "%.1f µs", seconds * 1e6) }

func milliseconds(_ seconds: Double) -> String { String(format: "%.2f ms", seconds * 1e3) }

func ratio(_ a: Double, _ b: Double) -> String { String(format: "%.2f", a / b) }

func rate(_ count: Int, _ seconds: Double) -> String {
  let perSecond = Double(count) / seconds
  return perSecond >= 1e6
    ? String(format: "%.2f M/s", perSecond / 1e6) : String(format: "%.1f k/s", perSecond / 1e3)
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

func report(_ name: String, _ value: String) {
  print("  " + name.padding(toLength: max(34, name.count), withPad: " ", startingAt: 0) + " " + value)
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

func bytesOnDisk(_ path: String) -> Int {
  guard let files = FileManager.default.enumerator(atPath: path) else { return 0 }
  var bytes = 0
  for case let name as String in files {
    let attributes = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
    if attributes?[.type] as? FileAttributeType == .typeRegular { bytes += attributes?[.size] as? Int ?? 0 }
  }
  return bytes
}
