// The pass over the log that makes a time axis.

package import StrataBase
internal import StrataDocuments
internal import StrataEvents
package import StrataLog
internal import StrataTables

/// Folds the document events of one table into counts by group, and notes them at the end of each step. One pass over the
/// log, O(events + changes of groups by step); of each row only what is counted is kept. Belongs to one thread at a time.
///
/// An append may be dated earlier than one before it. The state at the end of a step is the one after the last append that
/// is dated earlier than that end, so such an append belongs to every step since its time: what was noted for them is
/// taken back, and noted again later.
package final class TimeAxisFold: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  private let log: Log
  private let table: [UInt8]
  private let request: AxisRequest
  /// When each step begins, and when the last one ends, in nanoseconds since 1970.
  private let begins: [Int64]
  private let range: ClosedRange<UInt64>
  private let isOver: Bool
  private let rows: GroupedRows
  private var blocks: BlocksAhead
  /// The last sequence that was folded in.
  private var reached: UInt64
  private var stretches: [TimeAxis.Stretch] = []
  /// The step of the last append.
  private var step = 0
  private var bytes: [UInt8] = []

  /// The most steps of an axis.
  package static let stepCountMax = 100_000
  /// The error for more steps.
  package static let tooManySteps = StoreError.invalid(
    what: "the time axis would have more than \(stepCountMax) steps; choose longer steps or a shorter range")

  /// - Parameters:
  ///   - steps: the steps of the axis; the last one holds the time of the last event, unless `until` is given.
  ///   - first: the sequence after which steps are noted.
  ///   - last: the sequence at which the axis ends, in the log.
  ///   - since: the begin of the axis, if it is not the first event after `first`.
  ///   - until: the end of the axis, if it is not the last event.
  package init(
    _ log: Log, _ table: String, _ request: AxisRequest, _ steps: CalendarSteps, after first: UInt64,
    through last: UInt64, since: Int64? = nil, until: Int64? = nil, now: Int64
  ) throws(StoreError) {
    self.log = log
    self.table = Array(table.utf8)
    self.request = request
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
        from: begin.flooredSeconds, through: end.flooredSeconds, countMax: Self.stepCountMax)
    else { throw Self.tooManySteps }
    begins = seconds.map { Int64(clamping: Int128($0) * 1_000_000_000) }
    let stepEnd = begins[begins.count - 1]
    // What was appended after the range may be dated in its last step.
    let reaching = last < mark.sequence ? try log.lastAppend(notAfter: stepEnd - 1)?.last ?? 0 : last
    isOver = stepEnd <= now && reaching <= last && (until.map { $0 >= stepEnd } ?? true)
    rows = GroupedRows(request)
    reached = mark.logBegin - 1
    blocks = log.blocksAhead(after: reached)
  }

  /// Goes on for a slice. Returns the axis once it is complete.
  package func resume(_ slice: TimeSlice?) throws(StoreError) -> TimeAxis? {
    defer { blocks.pause() }
    while reached < range.upperBound {
      if !log.options.writesInStep {
        blocks.begin(events: range.upperBound - reached, log.options.machine)
      }
      guard let block = try blocks.next() else { break }
      do throws(ContentProblem) { try fold(block) } catch { throw error.storeError(of: block.header) }
      if slice?.isOver ?? false, reached < range.upperBound { return nil }
    }
    note(through: begins.count - 1)
    return axis
  }

  private func fold(_ block: DecodedBlock) throws(ContentProblem) {
    try block.forEachEvent { event, append, sequence throws(ContentProblem) in
      guard sequence > reached, sequence <= range.upperBound else { return }
      if sequence > range.lowerBound, append.ownTime >= begins[step + 1] || append.ownTime < begins[step] {
        turn(to: append.ownTime)
      }
      reached = sequence
      guard let (change, category, id) = DocumentFold.target(of: event, only: nil),
        table.withUnsafeBytes({ $0.hasSameBytes(as: category) })
      else { return }
      apply(change, event, id, Stamp(sequence: sequence, time: append.ownTime))
    }
  }

  // MARK: Steps

  /// Goes to the step of an append that is dated at a time.
  private func turn(to time: Int64) {
    let new = stepIndex(of: time)
    if new > step { note(through: new) }
    while let last = stretches.last, last.steps.upperBound > new {
      guard last.steps.lowerBound >= new else {
        stretches[stretches.count - 1].steps = last.steps.lowerBound..<new
        break
      }
      stretches.removeLast()
      for change in last.changes { rows.noteChanged(change.group) }
    }
    step = new
  }

  /// The index of the step that holds a time, the first or the last one if none does.
  private func stepIndex(of time: Int64) -> Int {
    var (low, high) = (0, begins.count - 1)
    while high - low > 1 {
      let middle = (low + high) / 2
      if begins[middle] <= time { low = middle } else { high = middle }
    }
    return low
  }

  /// Notes that all steps before one end with the state of now.
  private func note(through end: Int) {
    let begin = stretches.last?.steps.upperBound ?? 0
    guard begin < end else { return }
    let changes = rows.takeChanged().map { number in
      let group = rows.groups[number]
      return TimeAxis.Change(
        group: number, count: group.count, sum: request.sum == nil ? nil : group.sum.value,
        notFiniteCount: group.sum.notFiniteCount, notNumberCount: group.sum.notNumberCount)
    }
    stretches.append(
      TimeAxis.Stretch(
        steps: begin..<end, sequence: reached, leftOutCount: rows.leftOutCount + rows.refusedCount,
        changes: changes))
  }

  private var axis: TimeAxis {
    let groups = rows.groups
    let order = groups.indices.sorted { groups[$0].key.lexicographicallyPrecedes(groups[$1].key) }
    var ranks = [Int](repeating: 0, count: groups.count)
    for (rank, group) in order.enumerated() { ranks[group] = rank }
    let values = groups.map { group in
      group.key.withUnsafeBytes { key in
        var reader = SortKeyReader(key)
        return request.by.map { _ in (try? reader.readDocumentValue()) ?? .null }
      }
    }
    return TimeAxis(
      begins: begins.map { Timestamp(nanoseconds: $0) }, stretches: stretches, values: values, ranks: ranks,
      isOver: isOver)
  }

  // MARK: Rows

  /// Does to the part of a row what `DocumentFold` does to the row.
  private func apply(
    _ change: DocumentFold.Change, _ event: borrowing EventView, _ id: UnsafeRawBufferPointer, _ stamp: Stamp
  ) {
    let (codec, payload) = (event.codec, event.payload)
    let isObject =
      change != .delete && codec == PayloadCodec.cbor.rawValue && !payload.isEmpty
      && payload[0] & 0xE0 == 0xA0 && CBORReader.isDeterministicDocument(payload)
    switch change {
    case .delete: rows.remove(id)
    case .put where isObject:
      rows.part.take(from: payload, to: &bytes)
      bytes.withUnsafeBytes { rows.set(id, $0, stamp) }
    case .put:
      set(id, try? DocumentFold.decoded(payload, codec).get(), stamp)
    case .merge:
      let isMerged = rows.withPart(of: id) { old in
        let empty: [UInt8] = [0xA0]
        return empty.withUnsafeBytes { isObject && rows.part.merge(payload, into: &bytes, old ?? $0) }
      }
      if isMerged {
        bytes.withUnsafeBytes { rows.set(id, $0, stamp) }
      } else {
        let patch = try? DocumentFold.decoded(payload, codec).get()
        let old = rows.withPart(of: id) { part in
          part.map { try? DocumentValue(cbor: $0) } ?? .object([:])
        }
        set(id, patch.flatMap { patch in old?.applying(mergePatch: patch) }, stamp)
      }
    }
  }

  /// Sets a row to a value, which must be an object.
  private func set(_ id: UnsafeRawBufferPointer, _ value: DocumentValue?, _ stamp: Stamp) {
    guard case .object? = value, let document = value?.cbor() else { return rows.remove(id, refused: true) }
    document.withUnsafeBytes { rows.part.take(from: $0, to: &bytes) }
    bytes.withUnsafeBytes { rows.set(id, $0, stamp) }
  }
}

extension Int64 {
  /// Nanoseconds as whole seconds, rounded down.
  fileprivate var flooredSeconds: Int64 { self / 1_000_000_000 - (self % 1_000_000_000 < 0 ? 1 : 0) }
}
