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
  private let axisSteps: TimeAxisSteps
  private var begins: [Int64] { axisSteps.begins }
  private var range: ClosedRange<UInt64> { axisSteps.range }
  private let rows: GroupedRows
  private var blocks: BlocksAhead
  /// The last sequence that was folded in.
  private var reached: UInt64
  private var stretches: [TimeAxis.Stretch] = []
  /// The step of the last append.
  private var step = 0
  private var bytes: [UInt8] = []

  package init(_ log: Log, _ table: String, _ request: AxisRequest, _ steps: TimeAxisSteps) {
    self.log = log
    self.table = Array(table.utf8)
    self.request = request
    axisSteps = steps
    rows = GroupedRows(request)
    reached = log.mark.logBegin - 1
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
    let new = axisSteps.index(of: time)
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

  /// Notes that all steps before one end with the state of now.
  private func note(through end: Int) {
    let begin = stretches.last?.steps.upperBound ?? 0
    guard begin < end else { return }
    let changes = rows.takeChanges()
    stretches.append(
      TimeAxis.Stretch(
        steps: begin..<end, sequence: reached, leftOutCount: rows.leftOutCount + rows.refusedCount,
        changes: changes))
  }

  private var axis: TimeAxis {
    TimeAxis(axisSteps, stretches, keys: rows.groups.map(\.key), fieldCount: request.by.count)
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
