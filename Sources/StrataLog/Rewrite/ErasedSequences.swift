// The events of a segment whose content is erased, for a backup that compares two files of the segment.

internal import StrataBase

/// The sequences of erased events, as ranges. At most one range for every two events of a segment.
struct ErasedSequences: Equatable {
  /// Ascending, with a gap between neighbours.
  private(set) var ranges: [ClosedRange<UInt64>] = []
  private(set) var mark = ErasureMark()

  var isEmpty: Bool { ranges.isEmpty }

  /// Adds a sequence that is greater than all those added before.
  mutating func add(_ sequence: UInt64) {
    assert(ranges.last.map { $0.upperBound < sequence } ?? true, "sequences are added in ascending order")
    mark.add(sequence)
    if let last = ranges.last, last.upperBound == sequence - 1 {
      ranges[ranges.count - 1] = last.lowerBound...sequence
    } else {
      ranges.append(sequence...sequence)
    }
  }

  /// O(log ranges).
  func contains(_ sequence: UInt64) -> Bool {
    let ahead = ahead(of: sequence)
    return ahead > 0 && ranges[ahead - 1].contains(sequence)
  }

  /// O(ranges · log ranges).
  func isSuperset(of other: ErasedSequences) -> Bool {
    other.ranges.allSatisfy { range in
      // Ranges do not touch, so a range that is fully contained lies within a single one.
      let ahead = ahead(of: range.lowerBound)
      return ahead > 0 && ranges[ahead - 1].upperBound >= range.upperBound
    }
  }

  /// How many ranges begin at or before a sequence.
  private func ahead(of sequence: UInt64) -> Int {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].lowerBound <= sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The erased events of a segment, up to the first finding in the file, and that finding. O(bytes).
  static func read(
    _ file: any File, _ header: SegmentHeader, name: String
  ) throws(StoreError) -> (erased: ErasedSequences, finding: StoreFinding?) {
    var erased = ErasedSequences()
    let size = try UInt64(file.size())
    let walk = ClosedWalk(file: file, header: header, name: name, size: size, last: nil, next: nil)
    let outcome = try walk.run { block, decoded throws(StoreError) in
      guard block.kind == BlockKind.events, let decoded else { return }
      do throws(ContentProblem) {
        try decoded.forEachEvent { event, _, sequence in
          if event.kind == EventKind.erased { erased.add(sequence) }
        }
      } catch {
        throw error.storeError(
          in: name, at: block.ownOffset, first: block.firstSequence, last: block.nextSequence - 1)
      }
    }
    return (erased, outcome.finding)
  }
}
