// Ascending sequences, kept as they are in an index: one by one, or as runs.

internal import StrataBase

/// Ascending sequences of events. Runs of consecutive ones take the room of one, so the memory is bounded by what a file
/// holds, whatever the file says that it counts.
package struct SequenceList: RandomAccessCollection, Sendable {
  /// The first sequence of each run.
  private var starts: [UInt64] = []
  /// The number of sequences up to and including each run; empty if every run is a single sequence.
  private var ends: [Int] = []

  package init() {}

  /// Creates a list of ascending sequences, each a run.
  package init(_ sequences: [UInt64]) {
    assert(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 }, "sequences ascend")
    starts = sequences
  }

  /// Adds a run after all others. Nil if there are more sequences than can be counted.
  mutating func add(_ run: ClosedRange<UInt64>) -> Bool {
    assert(last ?? 0 < run.lowerBound || isEmpty, "runs ascend")
    let (length, isTooLong) = (run.upperBound - run.lowerBound).addingReportingOverflow(1)
    guard !isTooLong, let length = Int(exactly: length), length <= Int.max - count else { return false }
    if length > 1, ends.count < starts.count { ends = Array(1...starts.count) }
    if length > 1 || !ends.isEmpty { ends.append(count + length) }
    starts.append(run.lowerBound)
    return true
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { ends.last ?? starts.count }

  package subscript(position: Int) -> UInt64 {
    precondition(indices.contains(position), "no such sequence")
    guard !ends.isEmpty else { return starts[position] }
    let run = ends.countAhead { $0 <= position }
    return starts[run] + UInt64(position - (run > 0 ? ends[run - 1] : 0))
  }

  /// Runs of consecutive sequences, ascending, as long as they can be.
  package var runs: [ClosedRange<UInt64>] {
    var runs: [ClosedRange<UInt64>] = []
    for (number, start) in starts.enumerated() {
      let length = ends.isEmpty ? 1 : ends[number] - (number > 0 ? ends[number - 1] : 0)
      let end = start + UInt64(length - 1)
      if let last = runs.last, last.upperBound + 1 == start {
        runs[runs.count - 1] = last.lowerBound...end
      } else {
        runs.append(start...end)
      }
    }
    return runs
  }
}

extension SequenceList: Equatable {
  /// Whether both hold the same sequences, however they keep them.
  package static func == (a: SequenceList, b: SequenceList) -> Bool { a.elementsEqual(b) }
}

extension SequenceList: ExpressibleByArrayLiteral {
  package init(arrayLiteral sequences: UInt64...) { self.init(sequences) }
}
