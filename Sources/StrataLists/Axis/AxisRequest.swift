// What a time axis counts: which rows, in which groups, and what of them is summed.

package import StrataTables

/// The groups of a time axis.
package struct AxisRequest: Sendable {
  /// The fields whose values make a group; without one, all rows are one group.
  package var by: [FieldPath]
  /// The field that is summed.
  package var sum: FieldPath?
  /// Which rows are counted.
  package var filter: RowFilter?

  package init(by: [FieldPath], sum: FieldPath? = nil, filter: RowFilter? = nil) {
    (self.by, self.sum, self.filter) = (by, sum, filter)
  }

  /// Every path that is read.
  var paths: Set<FieldPath> {
    Set(by).union(filter?.fields ?? []).union(sum.map { [$0] } ?? [])
  }

  /// Whether the filter reads the row's id, its revision or its time.
  var filtersByRow: Bool { filter?.fields.contains { $0.subject != .field } ?? false }

  /// Whether the filter reads the row's revision or its time, which an event that changes nothing leaves as they are.
  var filtersByStamp: Bool { filter?.fields.contains { $0 == .revision || $0 == .time } ?? false }
}
