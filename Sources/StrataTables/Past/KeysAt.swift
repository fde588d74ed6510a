// The keys of one kind as they were after an event, counted and read by ranges.

internal import StrataBase

/// A key, without when it was there.
struct PastKey {
  var bytes: [UInt8]
  var sectionLength: Int
  var idLength: Int
}

/// What runs say of the keys after an event. The newest run that has a key decides whether it is there; counts of deltas
/// are what they change. Safe to use from several threads, since nothing changes.
final class KeysAt: Sendable {
  struct Part: Sendable {
    let keys: KeySet
    /// How many keys the pages before each page count, and all pages at the end.
    let before: [Int64]
    /// Whether no run that the state is read from is before it: what it does not count is not there.
    let isFirst: Bool
  }

  /// In the order of the runs.
  let parts: [Part]
  let sequence: UInt64
  /// See `RunLimits.wholeKeyCountMax`.
  let wholeCountMax: Int

  /// Nil if a run does not have the owner's keys. O(pages of the runs).
  init?(
    _ set: RunSet, _ kind: KeyOwner.Kind, of owner: KeyOwner, at sequence: UInt64, wholeCountMax: Int
  ) throws(StatePage.Damage) {
    self.wholeCountMax = wholeCountMax
    self.sequence = sequence
    var parts: [Part] = []
    let runs = set.runs(holding: sequence)
    for (index, run) in zip(runs.indices, runs) {
      guard let keys = try run.keySet(kind, of: owner) else { return nil }
      guard let counts = try keys.pageCounts(at: sequence) else { continue }
      parts.append(Part(keys: keys, before: counts.before, isFirst: index == runs.startIndex))
    }
    self.parts = parts
  }

  // MARK: Counting

  /// The number of keys in a range. O(runs · (log n + keys of a page)).
  ///
  /// - Parameter high: the first key after them; nil for no bound.
  func count(from low: [UInt8], to high: [UInt8]?) throws(StatePage.Damage) -> Int {
    try counts(from: low, to: high, cutAt: [])[0]
  }

  /// The numbers of keys in the parts of a range, which begin at ascending keys. O(parts · runs · (log n + keys of a page)).
  func counts(
    from low: [UInt8], to high: [UInt8]?, cutAt cuts: [[UInt8]]
  ) throws(StatePage.Damage) -> [Int] {
    var counts: [Int] = []
    counts.reserveCapacity(cuts.count + 1)
    var before = try count(below: low)
    for index in 0...cuts.count {
      let next = try count(below: index < cuts.count ? cuts[index] : high)
      let (count, isOverflow) = next.subtractingReportingOverflow(before)
      guard !isOverflow, count >= 0, let count = Int(exactly: count) else {
        throw StatePage.Damage("the runs count less than no key")
      }
      counts.append(count)
      before = next
    }
    return counts
  }

  private func count(below key: [UInt8]?) throws(StatePage.Damage) -> Int64 {
    var count: Int64 = 0
    for part in parts {
      guard let key else {
        count &+= part.before.last ?? 0
        continue
      }
      guard let page = part.keys.directory.page(of: key) else { continue }
      count &+= part.before[page]
      guard !part.keys.directory.begins(page, with: key) else { continue }
      let inPage = try KeyPage(part.keys, at: page)
      count &+= try key.lendBytes { (key) throws(StatePage.Damage) in
        try inPage.count(below: key, at: sequence).count
      }
    }
    return count
  }

  /// How many keys each section has, for keys whose sections are counted. O(sections of the runs).
  static func sections(
    _ set: RunSet, of owner: KeyOwner, at sequence: UInt64
  ) throws(StatePage.Damage) -> [(section: [UInt8], count: Int)] {
    var counts: [(section: [UInt8], count: Int64)] = []
    for run in set.runs(holding: sequence) {
      guard let keys = try run.keySet(.items, of: owner) else { continue }
      counts = sum(counts, try keys.sectionCounts(at: sequence))
    }
    var sections: [(section: [UInt8], count: Int)] = []
    for (section, count) in counts where count != 0 {
      guard count > 0, let count = Int(exactly: count) else {
        throw StatePage.Damage("the runs count less than no item of a section")
      }
      sections.append((section, count))
    }
    return sections
  }

  /// Adds up counts of ascending sections.
  private static func sum(
    _ one: [(section: [UInt8], count: Int64)], _ other: [(section: [UInt8], count: Int64)]
  ) -> [(section: [UInt8], count: Int64)] {
    guard !one.isEmpty, !other.isEmpty else { return one.isEmpty ? other : one }
    var sum: [(section: [UInt8], count: Int64)] = []
    sum.reserveCapacity(max(one.count, other.count))
    var (i, j) = (0, 0)
    while i < one.count, j < other.count {
      if one[i].section == other[j].section {
        sum.append((one[i].section, one[i].count &+ other[j].count))
        (i, j) = (i + 1, j + 1)
      } else if one[i].section.isBefore(other[j].section) {
        sum.append(one[i])
        i += 1
      } else {
        sum.append(other[j])
        j += 1
      }
    }
    return sum + one[i...] + other[j...]
  }

  // MARK: Ranges

  /// About how many pages of all runs have keys of a range. O(runs · log n).
  func pageCount(from low: [UInt8], to high: [UInt8]?) -> Int {
    parts.reduce(0) { $0 + 1 + pages($1, from: low, to: high).count }
  }

  /// The pages that begin inside a range, and not with its first key.
  private func pages(_ part: Part, from low: [UInt8], to high: [UInt8]?) -> Range<Int> {
    let directory = part.keys.directory
    var first = directory.firstIndex(from: low)
    if first < directory.pageCount, directory.begins(first, with: low) { first += 1 }
    let end = high.map { directory.firstIndex(from: $0) } ?? directory.pageCount
    return first..<max(first, end)
  }

  /// Keys at which pages begin, ascending: fewer than a number, and between two of them are about as many pages. With all
  /// runs together, no part has more than two of that number's shares.
  func cuts(from low: [UInt8], to high: [UInt8]?, partCount: Int) -> [[UInt8]] {
    var candidates: [(key: [UInt8], weight: Double)] = []
    for part in parts {
      let pages = pages(part, from: low, to: high)
      let count = min(partCount, pages.count)
      for index in 0..<count {
        let page = pages.lowerBound + pages.count * index / count
        candidates.append((part.keys.directory.first(page), Double(pages.count) / Double(count)))
      }
    }
    candidates.sort { $0.key.isBefore($1.key) }
    let share = candidates.reduce(0) { $0 + $1.weight } / Double(partCount)
    var cuts: [[UInt8]] = []
    var passed = 0.0
    for candidate in candidates {
      if passed >= share * Double(cuts.count + 1) - 1e-6 || candidates.count < partCount,
        cuts.last != candidate.key,
        cuts.count + 1 < partCount
      {
        cuts.append(candidate.key)
      }
      passed += candidate.weight
    }
    return cuts
  }

  /// The keys of a range, ascending. O(keys of the pages that have some).
  func keys(from low: [UInt8], to high: [UInt8]?) throws(StatePage.Damage) -> [PastKey] {
    var heads: [(cursor: KeyCursor, part: Part)] = []
    for part in parts {
      var cursor = KeyCursor(part.keys, page: part.keys.directory.page(of: low) ?? 0)
      var isThere = try next(&cursor, part, before: high)
      while isThere, cursor.key.isBefore(low) { isThere = try next(&cursor, part, before: high) }
      if isThere { heads.append((cursor, part)) }
    }
    var keys: [PastKey] = []
    while var least = heads.first?.cursor.key {
      for head in heads.dropFirst() where head.cursor.key.isBefore(least) { least = head.cursor.key }
      var isAlive = false
      var newest: PastKey?
      for index in heads.indices.reversed() where heads[index].cursor.key == least {
        if newest == nil {
          let cursor = heads[index].cursor
          newest = PastKey(
            bytes: least, sectionLength: cursor.sectionLength, idLength: cursor.idLength)
          isAlive = try cursor.isAlive(at: sequence)
        }
        let part = heads[index].part
        if try !next(&heads[index].cursor, part, before: high) { heads.remove(at: index) }
      }
      if isAlive, let newest { keys.append(newest) }
    }
    return keys
  }

  /// Goes to the next key before another one. Pages of which no key is there are not read: of a million keys that come
  /// later, an early state has few. False at the end.
  private func next(
    _ cursor: inout KeyCursor, _ part: Part, before high: [UInt8]?
  ) throws(StatePage.Damage) -> Bool {
    if cursor.isAtEndOfPage {
      let page = part.isFirst ? part.firstPage(from: cursor.nextPage) : cursor.nextPage
      let directory = part.keys.directory
      guard page < directory.pageCount,
        high.map({ high in
          directory.withFirst(page) { first in high.withUnsafeBytes { first.order($0) < 0 } }
        }) ?? true
      else { return false }
      cursor.skip(toPage: page)
    }
    guard try cursor.next() else { return false }
    return high.map { cursor.key.isBefore($0) } ?? true
  }
}

extension KeysAt.Part {
  /// The first page at or after one of which a key is there, for the first part. O(log pages).
  fileprivate func firstPage(from index: Int) -> Int {
    guard index < before.count else { return index }
    var (low, high) = (index + 1, before.count)
    while low < high {
      let middle = (low + high) / 2
      if before[middle] > before[index] { high = middle } else { low = middle + 1 }
    }
    return low - 1
  }
}
