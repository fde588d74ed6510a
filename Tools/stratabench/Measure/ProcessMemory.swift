// The resident memory of this process, as Linux counts it.

internal import Foundation

/// The resident memory of this process, in bytes.
struct ProcessMemory {
  /// Now.
  let resident: Int
  /// The most since the process began.
  let peak: Int

  /// Nil on a system that does not say it as Linux does.
  static func now() -> ProcessMemory? {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
    func bytes(_ name: String) -> Int? {
      let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      let words = line?.split { $0 == " " || $0 == "\t" } ?? []
      return words.count > 1 ? Int(words[1]).map { $0 << 10 } : nil
    }
    guard let resident = bytes("VmRSS"), let peak = bytes("VmHWM") else { return nil }
    return ProcessMemory(resident: resident, peak: peak)
  }
}

func mebibytes(_ bytes: Double) -> String { String(format: "%.1f MiB", bytes / Double(1 << 20)) }
