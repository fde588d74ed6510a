// The keys of one kind of one owner, as one run has them.

internal import StrataBase
internal import StrataTables

/// One set of keys in one run. A value that holds the run open.
struct KeySet: Sendable {
  let reader: RunReader
  let root: KeySetRoot
  let directory: KeyDirectory

  var isEmpty: Bool { root.addresses == nil }

  /// The counts of all groups after an event; in a delta, by how much they differ from those at the run's begin. Nil for
  /// no key.
  func groupCounts(at sequence: UInt64) throws(PageDamage) -> KeyCounts? {
    guard let addresses = root.addresses else { return nil }
    let counts = try reader.counts(addresses.tally, at: sequence)
    guard counts.unitCount == directory.groupCount else {
      throw PageDamage("a tally of keys has other groups than there are")
    }
    return counts
  }

  /// How many keys there are after an event; in a delta, by how much that differs from the run's begin. Without the counts
  /// of its groups.
  func total(at sequence: UInt64) throws(PageDamage) -> Int64 {
    guard let addresses = root.addresses, sequence < reader.root.end else { return directory.count }
    return try reader.total(addresses.tally, at: sequence)
  }

  /// The sections with the same counts.
  func sectionCounts(at sequence: UInt64) throws(PageDamage) -> SectionCounts {
    guard let addresses = root.sections else { return SectionCounts() }
    let atEnd = try reader.sections(of: addresses.pages, keys: root.count)
    guard sequence < reader.root.end else {
      guard atEnd.total == directory.count else {
        throw PageDamage("the sections of a run have other keys than its pages")
      }
      return atEnd
    }
    let counts = try reader.counts(addresses.tally, at: sequence)
    guard counts.unitCount == atEnd.sections.count else {
      throw PageDamage("a tally of keys has other sections than there are")
    }
    return SectionCounts(
      sections: atEnd.sections, counts: atEnd.sections.indices.map { counts.count(of: $0) })
  }
}

/// How many keys each of some sections has; in a delta, by how much that differs from the run's begin.
struct SectionCounts {
  /// Ascending.
  private(set) var sections: [[UInt8]] = []
  private(set) var counts: [Int64] = []

  /// Of those of a run it does not wrap: neither a count nor the number of sections is above that of the keys.
  var total: Int64 { counts.reduce(0, &+) }

  /// The sections of a run with the counts at its end.
  ///
  /// - Parameter keyCount: the number of keys that they have.
  init(decoding record: RunRecord, keys keyCount: UInt64) throws(PageDamage) {
    var cursor = record.cursor
    var section: [UInt8] = []
    while cursor.remaining > 0 {
      try AscendingKeys.next(&cursor, &section, isFirst: sections.isEmpty)
      guard let count = cursor.varint().map(ZigZag.decode), count.magnitude <= keyCount,
        sections.count < keyCount
      else { throw PageDamage("the sections of a run have other keys than there are") }
      sections.append(section)
      counts.append(count)
    }
  }

  /// - Parameter sections: as many as there are counts.
  package init(sections: [[UInt8]] = [], counts: [Int64] = []) {
    assert(sections.count == counts.count, "each section has a count")
    (self.sections, self.counts) = (sections, counts)
  }

  /// Adds counts. O(sections of both).
  mutating func add(_ other: SectionCounts) {
    guard !sections.isEmpty else { return self = other }
    // Most runs name sections that those before them have.
    var positions: [Int] = []
    positions.reserveCapacity(other.sections.count)
    var position = 0
    for section in other.sections {
      var order = -1
      while position < sections.count {
        order = sections[position].order(against: section)
        guard order < 0 else { break }
        position += 1
      }
      guard order == 0 else { return merge(other) }
      positions.append(position)
    }
    for (index, position) in positions.enumerated() { counts[position] &+= other.counts[index] }
  }

  private mutating func merge(_ other: SectionCounts) {
    var merged = SectionCounts()
    var (i, j) = (0, 0)
    while i < sections.count || j < other.sections.count {
      let isAtEnd = (i == sections.count, j == other.sections.count)
      let order = isAtEnd.0 ? 1 : isAtEnd.1 ? -1 : sections[i].order(against: other.sections[j])
      merged.sections.append(order <= 0 ? sections[i] : other.sections[j])
      merged.counts.append((order <= 0 ? counts[i] : 0) &+ (order >= 0 ? other.counts[j] : 0))
      if order <= 0 { i += 1 }
      if order >= 0 { j += 1 }
    }
    self = merged
  }
}
