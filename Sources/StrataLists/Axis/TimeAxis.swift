// A time axis: how many rows were in each group at the end of each step.

public import StrataDocuments
public import StrataEvents
internal import StrataTables

/// Counts, and sums, of the rows of a table in groups, at the end of each step of a range of the log.
///
/// A sequence of its steps, oldest first. Steps in which nothing changed are there, with what was true in them. The state
/// at the end of a step is the one at the last nanosecond of it, as `LogPoint.time` finds it: after the last append whose
/// own time is earlier than the end.
public struct TimeAxis: Sequence, Sendable {
  /// One step of the axis.
  public struct Step: Sendable {
    /// When the step begins, and when the next one does.
    public var begin: Timestamp
    public var end: Timestamp
    /// The last sequence of the state at the end of the step.
    public var sequence: UInt64
    /// False for the last step if more may still be appended to it, or if the range ends inside of it.
    public var isOver: Bool
    /// The groups that have rows, ascending by their values: null < false < true < numbers < strings < bytes.
    public var groups: [Group]
    /// How many rows are in no group: those whose last event could not be applied, or with an array, an object or a tagged
    /// value as a field of groups.
    public var leftOutCount: Int
  }

  /// The rows with the same values.
  public struct Group: Sendable {
    /// The values of the fields, in their order. Missing values are null, and a number that is whole is an integer.
    public var values: [DocumentValue]
    /// How many rows it has.
    public var count: Int
    /// The exact sum of the numbers in the summed field: an integer if all are integers, otherwise the nearest double. Nil if
    /// nothing is summed, or if it is too large for a double.
    public var sum: DocumentValue?
    /// How many of the summed values are a NaN or an infinity, which is not in the sum.
    public var notFiniteCount: Int
    /// How many of the summed values are no number, without null and missing ones.
    public var notNumberCount: Int
  }

  /// What changed between the ends of two steps.
  struct Change: Sendable {
    var group: Int
    var count: Int
    var sum: DocumentValue?
    var notFiniteCount: Int
    var notNumberCount: Int
  }

  /// Steps that end with one state.
  struct Stretch: Sendable {
    var steps: Range<Int>
    var sequence: UInt64
    var leftOutCount: Int
    /// The groups that are not what they were in the stretch before.
    var changes: [Change]
  }

  /// When each step begins, and when the last one ends.
  let begins: [Timestamp]
  let stretches: [Stretch]
  /// The values of each group, and its index among all groups in their order.
  let values: [[DocumentValue]]
  let ranks: [Int]
  let isOver: Bool

  /// - Parameters:
  ///   - stretches: all steps, in their order.
  ///   - keys: the values of each group that changes name.
  init(_ steps: TimeAxisSteps, _ stretches: [Stretch], keys: [[UInt8]], fieldCount: Int) {
    begins = steps.begins.map { Timestamp(nanoseconds: $0) }
    isOver = steps.isOver
    self.stretches = stretches
    let order = keys.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }
    var ranks = [Int](repeating: 0, count: keys.count)
    for (rank, group) in order.enumerated() { ranks[group] = rank }
    self.ranks = ranks
    values = keys.map { key in
      key.withUnsafeBytes { key in
        var reader = SortKeyReader(key)
        return (0..<fieldCount).map { _ in (try? reader.readDocumentValue()) ?? .null }
      }
    }
  }

  /// How many steps there are.
  public var stepCount: Int { begins.count - 1 }

  /// Whether no row was ever in a group, or left out.
  package var isEmpty: Bool { values.isEmpty && stretches.allSatisfy { $0.leftOutCount == 0 } }

  /// The values of all groups, in the order that they have in a step.
  package var groupValues: [[DocumentValue]] {
    var ordered = values
    for (group, rank) in ranks.enumerated() { ordered[rank] = values[group] }
    return ordered
  }

  public func makeIterator() -> Iterator { Iterator(self) }

  /// Goes over the steps. A step costs O(groups) if something changed in it.
  public struct Iterator: IteratorProtocol {
    private let axis: TimeAxis
    private var step = 0
    private var stretch = 0
    private var groups: [Group?]
    private var shown: [Group] = []

    init(_ axis: TimeAxis) {
      self.axis = axis
      groups = Array(repeating: nil, count: axis.ranks.count)
    }

    public mutating func next() -> Step? {
      guard step < axis.stepCount else { return nil }
      if step == axis.stretches[stretch].steps.upperBound { stretch += 1 }
      let now = axis.stretches[stretch]
      if step == now.steps.lowerBound, !now.changes.isEmpty {
        for change in now.changes {
          groups[axis.ranks[change.group]] =
            change.count == 0
            ? nil
            : Group(
              values: axis.values[change.group], count: change.count, sum: change.sum,
              notFiniteCount: change.notFiniteCount, notNumberCount: change.notNumberCount)
        }
        shown = groups.compactMap { $0 }
      }
      defer { step += 1 }
      return Step(
        begin: axis.begins[step], end: axis.begins[step + 1], sequence: now.sequence,
        isOver: axis.isOver || step < axis.stepCount - 1, groups: shown, leftOutCount: now.leftOutCount)
    }
  }
}
