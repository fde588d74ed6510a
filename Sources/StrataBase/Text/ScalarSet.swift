// A set of Unicode scalars: a letter, or a class of a pattern.

/// Ranges of scalars, ascending and apart, and whether the set is what is outside them.
struct ScalarSet: Hashable, Sendable {
  private(set) var ranges: [ClosedRange<UInt32>] = []
  private(set) var isNegated = false

  static let scalarMax: UInt32 = 0x10_FFFF
  static let all = ScalarSet([0...scalarMax])
  /// What `.` matches: anything but a line feed.
  static let anything = ScalarSet([0x0A...0x0A], isNegated: true)
  /// What `\w` matches.
  static let word = ScalarSet(UnicodeTable.words)
  /// What `\d` matches.
  static let digit = ScalarSet(UnicodeTable.digits)
  /// What `\s` matches: the property White_Space, which is stable.
  static let space = ScalarSet([
    0x09...0x0D, 0x20...0x20, 0x85...0x85, 0xA0...0xA0, 0x1680...0x1680, 0x2000...0x200A, 0x2028...0x2029,
    0x202F...0x202F, 0x205F...0x205F, 0x3000...0x3000,
  ])

  init(_ ranges: [ClosedRange<UInt32>], isNegated: Bool = false) {
    self.isNegated = isNegated
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = self.ranges.last, range.lowerBound <= last.upperBound &+ 1 {
        self.ranges[self.ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  init(_ scalar: UInt32) { ranges = [scalar...scalar] }

  /// A table of the first and last scalars of ranges.
  private init(_ table: [UInt32]) {
    for row in stride(from: 0, to: table.count, by: 2) { ranges.append(table[row]...table[row + 1]) }
  }

  var negated: ScalarSet {
    var set = self
    set.isNegated.toggle()
    return set
  }

  /// The ranges of the set, whether it is negated or not.
  var members: [ClosedRange<UInt32>] {
    guard isNegated else { return ranges }
    var gaps: [ClosedRange<UInt32>] = []
    var next: UInt32 = 0
    for range in ranges {
      if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
      next = range.upperBound + 1
    }
    if next <= Self.scalarMax { gaps.append(next...Self.scalarMax) }
    return gaps
  }

  /// The scalar, if the set has one only.
  var only: UInt32? {
    guard !isNegated, ranges.count == 1, ranges[0].count == 1 else { return nil }
    return ranges[0].lowerBound
  }

  func contains(_ scalar: UInt32) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
    }
    return (low < ranges.count && ranges[low].contains(scalar)) != isNegated
  }

  /// The set with all scalars whose case folds as that of a member does. A negated set leaves out those alike to what
  /// it leaves out.
  var ignoringCase: ScalarSet {
    if let only { return ScalarSet(CaseFolding.alike(only).map { $0...$0 }) }
    let positive = isNegated ? negated : self
    var added = ranges
    for family in CaseFolding.families.values where family.contains(where: positive.contains) {
      added += family.map { $0...$0 }
    }
    return ScalarSet(added, isNegated: isNegated)
  }
}
