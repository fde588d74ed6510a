// The scalars that a pattern does not tell apart, as one class each.

/// Numbers the classes of scalars that are in the same sets of a pattern. A pattern has far fewer of them than there
/// are scalars, so that an automaton can have a table of them.
struct PatternAlphabet: Sendable {
  /// The number of classes.
  private(set) var count = 0
  /// The class of each ASCII character.
  private(set) var ascii: [UInt16] = []
  /// Where each run of scalars of one class begins, ascending from 0, and its class.
  private var starts: [UInt32] = []
  private var classes: [UInt16] = []

  /// The alphabet of some sets: the partition of all scalars that they make. O(ranges · log ranges + runs in sets).
  init(_ sets: [ScalarSet]) {
    var bounds: Set<UInt32> = [0]
    for set in sets {
      for range in set.ranges {
        bounds.insert(range.lowerBound)
        if range.upperBound < ScalarSet.scalarMax { bounds.insert(range.upperBound + 1) }
      }
    }
    starts = bounds.sorted()
    // A set and its complement divide the scalars in the same way.
    var parts = [Int](repeating: 0, count: starts.count)
    var partCount = 1
    for set in sets {
      var renamed: [Int: Int] = [:]
      for range in set.ranges {
        forEachRun(in: range) { run in
          if let part = renamed[parts[run]] {
            parts[run] = part
          } else {
            renamed[parts[run]] = partCount
            parts[run] = partCount
            partCount += 1
          }
        }
      }
    }
    var numbers: [Int: UInt16] = [:]
    for part in parts {
      let number = numbers[part] ?? UInt16(numbers.count)
      numbers[part] = number
      classes.append(number)
    }
    count = numbers.count
    ascii = (0..<128).map { classes[run(of: $0)] }
  }

  /// The class of a scalar. O(log runs) beyond ASCII.
  func number(of scalar: UInt32) -> Int { Int(classes[run(of: scalar)]) }

  /// Whether each class is in a set, which is one of the alphabet's sets.
  func membership(in set: ScalarSet) -> [Bool] {
    var members = [Bool](repeating: set.isNegated, count: count)
    for range in set.ranges { forEachRun(in: range) { members[Int(classes[$0])] = !set.isNegated } }
    return members
  }

  /// The run that a scalar is in.
  private func run(of scalar: UInt32) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= scalar { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// The runs of a range whose ends are among the bounds.
  private func forEachRun(in range: ClosedRange<UInt32>, _ body: (Int) -> Void) {
    var run = run(of: range.lowerBound)
    while run < starts.count, starts[run] <= range.upperBound {
      body(run)
      run += 1
    }
  }
}
