// A progress bar for imports and exports, shown only on a terminal.

internal import StrataBase

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Shows the progress of an import or an export up to ten times a second. Shows nothing if standard error is not a terminal.
package struct TransferProgress {
  private let unit: String
  private let isShown: Bool
  private let began = MonotonicTime.now()
  private var shown = MonotonicTime.now()
  private var countdown = 0
  private var isOnLine = false

  package init(unit: String, isTerminal: Bool = isatty(2) == 1) {
    self.unit = unit
    isShown = isTerminal
  }

  /// - Parameter fraction: returns the fraction that is done, 0 to 1, or nil if it is not known. Called only
  ///   when the bar is updated.
  package mutating func update(_ count: UInt64, fraction: () -> Double?) {
    guard isShown else { return }
    countdown -= 1
    guard countdown < 0 else { return }
    countdown = 63
    guard shown.elapsed > .milliseconds(100) else { return }
    shown = .now()
    isOnLine = true
    importNote("\r" + text(count, fraction: fraction()) + "\u{1B}[K", terminator: "")
  }

  /// Clears the bar.
  package mutating func end() {
    guard isOnLine else { return }
    isOnLine = false
    importNote("\r\u{1B}[K", terminator: "")
  }

  /// The text of the line: a bar, the count, the rate, and the time left.
  func text(_ count: UInt64, fraction: Double?) -> String {
    let nanoseconds = max(1, Double(MonotonicTime.now().nanoseconds - began.nanoseconds))
    let rate = "\(count) \(unit), \(Int(Double(count) / nanoseconds * 1e9))/s"
    guard let fraction, fraction > 0 else { return rate }
    let width = 30
    let done = min(width, Int(fraction * Double(width)))
    let bar = String(repeating: "#", count: done) + String(repeating: "-", count: width - done)
    let left = Int((nanoseconds / 1e9 * (1 - min(1, fraction)) / fraction).rounded(.up))
    let minutes = left / 60 > 0 ? "\(left / 60)m" : ""
    return "[\(bar)] \(Int(min(1, fraction) * 100)) %  \(rate), \(minutes)\(left % 60)s left"
  }
}

/// Writes to standard error.
package func importNote(_ text: String, terminator: String = "\n") {
  var text = text + terminator
  text.withUTF8 { bytes in
    var rest = UnsafeRawBufferPointer(bytes)
    while !rest.isEmpty {
      let count = write(2, rest.baseAddress, rest.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }
}
