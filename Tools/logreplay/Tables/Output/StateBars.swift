// The progress of what comes before a state is saved.

internal import LogreplayShell
internal import StrataTables

/// Two lines on standard error, one after the other: the events that are folded, and the rows that are put in order.
struct StateBars {
  private let events: ProgressBar
  private let rows = ProgressBar("sort", unit: "M rows/s")

  /// - Parameter title: what the events are folded for.
  init(_ title: String = "fold") { events = ProgressBar(title, unit: "M events/s") }

  func update(_ progress: StateProgress) {
    switch progress {
    case .events(let done, let count): events.update(UInt64(done), of: UInt64(count))
    case .rows(let done, let count): rows.update(UInt64(done), of: UInt64(count))
    }
  }

  /// Clears the line.
  func finish() {
    events.finish()
    rows.finish()
  }
}
