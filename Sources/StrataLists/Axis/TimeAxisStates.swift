// Time axes of states that are read from a history, in place of a fold.

package import StrataLog
package import StrataTables

/// Makes a time axis of the states at the ends of its steps. Belongs to one thread at a time.
package struct TimeAxisStates {
  private let steps: TimeAxisSteps
  private let ends: [UInt64]

  /// - Parameter ends: the steps' `ends`.
  package init(_ steps: TimeAxisSteps, ends: [UInt64]) { (self.steps, self.ends) = (steps, ends) }

  /// The axis of a table. Between two states, the rows are read in which they differ.
  ///
  /// - Parameter table: the table after an event. Called with ascending sequences.
  package func axis<Failure: Error>(
    _ request: AxisRequest, _ table: (_ sequence: UInt64) throws(Failure) -> Table
  ) throws(Failure) -> TimeAxis {
    let rows = GroupedRows(request)
    var last = Table(name: "")
    var bytes: [UInt8] = []
    let stretches = try stretches { (sequence) throws(Failure) in
      let next = try table(sequence)
      Tree.forEachDifference(from: last.rows, to: next.rows) { difference in
        guard let value = difference.newValue else { return rows.remove(difference.key) }
        let row = StoredRow.view(id: difference.key, value)
        rows.part.take(from: row.document, to: &bytes)
        let stamp = Stamp(sequence: row.revision, time: row.time)
        bytes.withUnsafeBytes { rows.set(difference.key, $0, stamp) }
      }
      last = next
      return (rows.leftOutCount + next.problems.count, rows.takeChanges())
    }
    return TimeAxis(steps, stretches, keys: rows.groups.map(\.key), fieldCount: request.by.count)
  }

  /// The axis of a list whose sections are the groups: only counts of sections are read.
  ///
  /// - Parameter list: the list after an event. Called with ascending sequences.
  package func axis<Failure: Error>(
    _ list: (_ sequence: UInt64) throws(Failure) -> ListVersion
  ) throws(Failure) -> TimeAxis {
    var (keys, numbers, counts) = ([[UInt8]](), [[UInt8]: Int](), [Int]())
    let stretches = try stretches { (sequence) throws(Failure) in
      let version = try list(sequence)
      var new = [Int](repeating: 0, count: counts.count)
      for place in 0..<version.sectionCount {
        version.withSection(at: place) { key, count, _ in
          let key = Array(key)
          guard let number = numbers[key] else {
            numbers[key] = keys.count
            keys.append(key)
            return new.append(count)
          }
          new[number] = count
        }
      }
      let changes = new.indices.compactMap { number -> TimeAxis.Change? in
        guard number >= counts.count || new[number] != counts[number] else { return nil }
        return TimeAxis.Change(
          group: number, count: new[number], sum: nil, notFiniteCount: 0, notNumberCount: 0)
      }
      counts = new
      return (version.table.problems.count + version.view.problems.count, changes)
    }
    return TimeAxis(steps, stretches, keys: keys, fieldCount: 1)
  }

  /// - Parameter changes: how many rows are in no group after an event, and what changed since the call before.
  private func stretches<Failure: Error>(
    _ changes: (_ sequence: UInt64) throws(Failure) -> (leftOut: Int, changes: [TimeAxis.Change])
  ) throws(Failure) -> [TimeAxis.Stretch] {
    var stretches: [TimeAxis.Stretch] = []
    for (step, end) in ends.enumerated() {
      if let last = stretches.last, last.sequence == end {
        stretches[stretches.count - 1].steps = last.steps.lowerBound..<step + 1
        continue
      }
      let found = try changes(end)
      stretches.append(
        TimeAxis.Stretch(
          steps: step..<step + 1, sequence: end, leftOutCount: found.leftOut, changes: found.changes))
    }
    return stretches
  }
}
