// The progress of a long operation, shown only on a terminal.

internal import StrataBase

/// A line on standard error that is updated in place. Shows nothing if standard error is not a terminal.
package final class ProgressBar: Sendable {
  private let title: String
  /// What is counted in millions a second.
  private let unit: String
  private let isShown: Bool
  private let began = MonotonicTime.now()
  private let last = Lock<MonotonicTime?>(nil)

  private static let interval: Duration = .milliseconds(100)
  private static let width = 24
  /// The longest time that is shown: a sparse file may claim any length.
  private static let secondsMax: Double = 1e9

  package init(_ title: String, unit: String = "MB/s") {
    self.title = title
    self.unit = unit
    isShown = Terminal.isError
  }

  /// Shows how many of all bytes, or of what else is counted, are done.
  package func update(_ done: UInt64, of all: UInt64) {
    guard isShown, all > 0, isDue() else { return }
    let share = min(1, Double(done) / Double(all))
    let filled = Int(share * Double(Self.width))
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
    let seconds =
      Double(began.elapsed.components.seconds) + Double(began.elapsed.components.attoseconds) / 1e18
    var text = "\(title) \(bar) \(Int(share * 100)) %"
    if seconds > 1, share > 0 {
      let rate = Double(done) / seconds / 1e6
      let left = min((seconds / share - seconds).rounded(.up), Self.secondsMax)
      let digits = rate < 10 ? "\(Double(Int(rate * 10)) / 10)" : "\(Int(rate))"
      text += "  \(digits) \(unit)  \(Int(left)) s left"
    }
    show("\r\u{1B}[K" + text)
  }

  /// Whether the line is old enough to be shown again.
  private func isDue() -> Bool {
    last.withLock { last in
      if let time = last, time.elapsed < Self.interval { return false }
      last = .now()
      return true
    }
  }

  /// Clears the line.
  package func finish() {
    if isShown, last.withLock({ $0 }) != nil { show("\r\u{1B}[K") }
  }

  private func show(_ text: String) { Terminal.note(text, end: "") }
}
