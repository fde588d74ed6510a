// Medians, and figures as text.

internal import Foundation

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

func microseconds(_ seconds: Double) -> String { String(format: "%.1f µs", seconds * 1e6) }

func milliseconds(_ seconds: Double) -> String { String(format: "%.2f ms", seconds * 1e3) }

func ratio(_ a: Double, _ b: Double) -> String { String(format: "%.2f", a / b) }

func rate(_ count: Int, _ seconds: Double) -> String {
  let perSecond = Double(count) / seconds
  return perSecond >= 1e6
    ? String(format: "%.2f M/s", perSecond / 1e6) : String(format: "%.1f k/s", perSecond / 1e3)
}

/// Prints a name and what was measured, in two columns, at once also where the output is a file.
func report(_ name: String, _ value: String) {
  print("  " + name.padding(toLength: max(34, name.count), withPad: " ", startingAt: 0) + " " + value)
  fflush(nil)
}
