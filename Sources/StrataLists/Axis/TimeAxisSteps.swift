// The steps of a time axis, and the states with which they end.

package import StrataEvents
package import StrataLog
internal import StrataTables

/// When the steps of a time axis begin, in a range of the log.
package struct TimeAxisSteps: Sendable {
  /// When each step begins, and when the last one ends, in nanoseconds since 1970. There is at least one step.
  let begins: [Int64]
  /// The sequence after which steps are noted, and the last one of the axis.
  package let range: ClosedRange<UInt64>
  /// Whether nothing that is appended later can be in the last step.
  let isOver: Bool

  /// The most steps of an axis.
  package static let countMax = 100_000
  /// The error for more steps.
  package static let tooMany = StoreError.invalid(
    what: "the time axis would have more than \(countMax) steps; choose longer steps or a shorter range")

  /// Throws `tooMany`, and what reading the log throws.
  ///
  /// - Parameters:
  ///   - steps: the steps of the axis; the last one holds the time of the last event, unless `until` is given.
  ///   - first: the sequence after which steps are noted.
  ///   - last: the sequence at which the axis ends, in the log.
  ///   - since: the begin of the axis, if it is not the first event after `first`.
  ///   - until: the end of the axis, if it is not the last event.
  package init(
    _ log: Log, _ steps: CalendarSteps, after first: UInt64, through last: UInt64, since: Int64? = nil,
    until: Int64? = nil, now: Int64
  ) throws(StoreError) {
    range = first...max(first, last)
    let mark = log.mark
    let final = try log.append(holding: max(last, mark.logBegin))
    let earliest = since == nil ? try log.append(holding: min(first + 1, mark.sequence)) : nil
    // The end is no part of the axis: the last step is the one before it.
    let latest = until.map { $0 > .min ? $0 - 1 : $0 } ?? final?.ownTime ?? since ?? now
    let begin = since ?? min(earliest?.ownTime ?? latest, latest)
    let end = max(begin, latest)
    guard
      let seconds = steps.begins(
        from: begin.flooredSeconds, through: end.flooredSeconds, countMax: Self.countMax)
    else { throw Self.tooMany }
    begins = seconds.map { Int64(clamping: Int128($0) * 1_000_000_000) }
    let stepEnd = begins[begins.count - 1]
    // What was appended after the range may be dated in its last step.
    let reaching = last < mark.sequence ? try log.lastAppend(notAfter: stepEnd - 1)?.last ?? 0 : last
    isOver = stepEnd <= now && reaching <= last && (until.map { $0 >= stepEnd } ?? true)
  }

  /// How many steps there are.
  var count: Int { begins.count - 1 }

  /// The index of the step that holds a time, the first or the last one if none does.
  func index(of time: Int64) -> Int {
    var (low, high) = (0, begins.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if begins[middle] <= time { low = middle } else { high = middle }
    }
    return low
  }

  /// The last sequence of the state at the end of each step, ascending: that of the last append in the range that is dated
  /// earlier than the end. O(steps · log n), or O(events of the range) where an append after the range is dated in it.
  package func ends(in log: Log) throws(StoreError) -> [UInt64] {
    var ends: [UInt64] = []
    for step in 0..<count - 1 {
      let last = try log.lastAppend(notAfter: begins[step + 1] - 1)?.last ?? 0
      guard last <= range.upperBound else { return try endsByEvents(in: log) }
      ends.append(max(range.lowerBound, last))
    }
    return ends + [range.upperBound]
  }

  private func endsByEvents(in log: Log) throws(StoreError) -> [UInt64] {
    var ends = [UInt64](repeating: range.lowerBound, count: count)
    var cursor = log.cursor(after: range.lowerBound)
    while let block = try cursor.next(), block.header.firstSequence <= range.upperBound {
      do throws(ContentProblem) {
        try block.forEachEvent { _, append, sequence in
          guard range.contains(sequence), sequence > range.lowerBound else { return }
          ends[index(of: append.ownTime)] = sequence
        }
      } catch { throw error.storeError(of: block.header) }
    }
    for step in ends.indices.dropFirst() { ends[step] = max(ends[step], ends[step - 1]) }
    ends[count - 1] = range.upperBound
    return ends
  }
}

extension Int64 {
  /// Nanoseconds as whole seconds, rounded down.
  fileprivate var flooredSeconds: Int64 { self / 1_000_000_000 - (self % 1_000_000_000 < 0 ? 1 : 0) }
}
