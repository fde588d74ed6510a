// The keys of one kind as they were after an event, counted and read by ranges.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// A key, without when it was there.
struct PastKey {
  var bytes: [UInt8]
  var sectionLength: Int
  var idLength: Int
}

/// What runs say of the keys after an event. The newest run that has a key decides whether it is there; counts of deltas
/// are what they change. Safe to use from several threads.
///
/// What each group of keys has is counted when somebody asks for a rank, in the run that has the event: it may have
/// thousands of groups, and the first keys of a list are found without them. The directories of runs that end before it
/// say what was there at their end.
final class KeysAt: Sendable {
  struct Part: Sendable {
    let keys: KeySet
    /// Its index among the parts.
    let index: Int
    /// Whether no run that the state is read from is before it: what it does not count is not there.
    let isFirst: Bool
  }

  /// In the order of the runs.
  let parts: [Part]
  let sequence: UInt64
  let limits: RunLimits
  /// How many keys there are; nil if only the groups count them.
  private let total: Int?
  /// The counts of the groups of each part, once they were asked for; nil for a run that ends with the event or before it.
  private let known = Lock<[KeyCounts?]?>(nil)

  /// Nil if a run does not have the owner's keys. O(runs), and O(parts of its directory) of a run that was not looked at
  /// before.
  ///
  /// - Parameter total: how many keys there are, if that is known without their groups.
  convenience init?(
    _ set: RunSet, _ kind: KeyOwner.Kind, of owner: KeyOwner, at sequence: UInt64, _ limits: RunLimits,
    total: Int? = nil
  ) throws(PageDamage) {
    var parts: [Part] = []
    let runs = set.runs(holding: sequence)
    for run in runs { run.willRead(kind, of: owner) }
    for (index, run) in zip(runs.indices, runs) {
      guard let keys = try run.keySet(kind, of: owner) else { return nil }
      guard !keys.isEmpty else { continue }
      parts.append(Part(keys: keys, index: parts.count, isFirst: index == runs.startIndex))
    }
    try self.init(parts, at: sequence, limits, total: total)
  }

  /// - Parameter parts: none is empty.
  init(
    _ parts: [Part], at sequence: UInt64, _ limits: RunLimits, total: Int? = nil
  ) throws(PageDamage) {
    assert(parts.allSatisfy { !$0.keys.isEmpty }, "a run without keys says nothing of them")
    assert(parts.indices.allSatisfy { parts[$0].index == $0 }, "a part knows its index")
    (self.parts, self.sequence, self.limits, self.total) = (parts, sequence, limits, total)
    let most = parts.reduce(UInt64(0)) { $0.addingSaturated($1.keys.root.count) }
    guard total.map({ UInt64($0) <= most }) ?? true else {
      throw PageDamage("the sections of the runs count more items than there are")
    }
  }

  /// Asks the system for what is read of all runs to find a key, where this process has not looked yet: a part of the
  /// directory of each run, and a page, before any of it is waited for. O(runs · log parts).
  ///
  /// - Parameter goesOn: whether keys after it are read, too, as they are where all of a run's keys are after it.
  func willFind(_ key: [UInt8], goesOn: Bool) throws(PageDamage) {
    var unknown: [(keys: KeySet, index: Int)] = []
    for part in parts {
      guard let index = part.keys.directory.part(of: key) ?? (goesOn ? 0 : nil) else { continue }
      if !part.keys.directory.isKnown(index) { unknown.append((part.keys, index)) }
    }
    guard unknown.count > 1 else { return }
    for (keys, index) in unknown { keys.reader.willRead([keys.directory.head(of: index).address]) }
    for (keys, index) in unknown {
      let part = try keys.part(index)
      keys.reader.willRead([part.address(of: part.page(of: key) ?? part.pages.lowerBound)])
    }
  }

  // MARK: Counting

  /// For each part, how many keys its groups count; nil for a run that ends with the event or before it. O(groups of the
  /// run that goes on after it) the first time.
  func groupCounts() throws(PageDamage) -> [KeyCounts?] {
    if let known = known.withLock({ $0 }) { return known }
    var counts: [KeyCounts?] = []
    var sum: Int64 = 0
    for part in parts {
      guard sequence < part.keys.reader.root.end else {
        sum &+= part.keys.directory.count
        counts.append(nil)
        continue
      }
      guard let own = try part.keys.groupCounts(at: sequence) else {
        throw PageDamage("a run has keys without groups")
      }
      sum &+= own.before.last ?? 0
      counts.append(own)
    }
    guard total.map({ sum == $0 }) ?? true else {
      throw PageDamage("the runs count other items than their sections have")
    }
    known.withLock { $0 = counts }
    return counts
  }

  /// The number of all keys. O(runs · changes of a chunk).
  func count() throws(PageDamage) -> Int {
    if let total { return total }
    var sum: Int64 = 0
    for part in parts { sum &+= try part.keys.total(at: sequence) }
    guard sum >= 0, let count = Int(exactly: sum) else {
      throw PageDamage("the runs count less than no key")
    }
    return count
  }

  /// The number of keys in a range. O(runs · (log n + keys of a page + changes of a chunk)).
  ///
  /// - Parameter high: the first key after them; nil for no bound.
  func count(from low: [UInt8], to high: [UInt8]?) throws(PageDamage) -> Int {
    if low.isEmpty, high == nil { return try count() }
    return try counts(from: low, to: high, cutAt: [])[0]
  }

  /// The numbers of keys in the parts of a range, which begin at ascending keys. O(parts · runs · (log n + keys of a page + changes of a
  /// chunk)).
  func counts(
    from low: [UInt8], to high: [UInt8]?, cutAt cuts: [[UInt8]]
  ) throws(PageDamage) -> [Int] {
    assert(zip(cuts, cuts.dropFirst()).allSatisfy { $0.isBefore($1) }, "parts of a range are cut in order")
    for bound in [low, high] { if let bound { try willFind(bound, goesOn: false) } }
    let groupCounts = try groupCounts()
    var counters = zip(parts, groupCounts).map { KeyCounter($0.keys, at: sequence, $1) }
    /// The keys below another one, which ascend from call to call; all of them for nil.
    func count(below key: [UInt8]?) throws(PageDamage) -> Int64 {
      var count: Int64 = 0
      for index in parts.indices {
        guard let key else {
          count &+= counters[index].count
          continue
        }
        count &+= try key.lendBytes { (key) throws(PageDamage) in try counters[index].count(below: key)
        }
      }
      return count
    }
    var counts: [Int] = []
    counts.reserveCapacity(cuts.count + 1)
    var before = try count(below: low)
    for index in 0...cuts.count {
      let next = try count(below: index < cuts.count ? cuts[index] : high)
      let (count, isOverflow) = next.subtractingReportingOverflow(before)
      guard !isOverflow, count >= 0, let count = Int(exactly: count) else {
        throw PageDamage("the runs count less than no key")
      }
      counts.append(count)
      before = next
    }
    return counts
  }

  /// How many keys each section has, for keys whose sections are counted. O(sections of the runs).
  static func sections(
    _ set: RunSet, of owner: KeyOwner, at sequence: UInt64
  ) throws(PageDamage) -> [(section: [UInt8], count: Int)] {
    var sum = SectionCounts()
    let runs = set.runs(holding: sequence)
    for run in runs { run.willRead(.items, of: owner) }
    for run in runs {
      guard let keys = try run.keySet(.items, of: owner) else { continue }
      try sum.add(keys.sectionCounts(at: sequence))
    }
    var sections: [(section: [UInt8], count: Int)] = []
    sections.reserveCapacity(sum.sections.count)
    var total: UInt64 = 0
    for (section, count) in zip(sum.sections, sum.counts) where count != 0 {
      guard count > 0, let count = Int(exactly: count) else {
        throw PageDamage("the runs count less than no item of a section")
      }
      total = total.addingSaturated(UInt64(count))
      guard total <= UInt64(UInt32.max) else { throw PageDamage("the runs count too many items") }
      sections.append((section, count))
    }
    return sections
  }

  // MARK: Ranges

  /// About how many pages of all runs have keys of a range. O(runs · log n).
  func pageCount(from low: [UInt8], to high: [UInt8]?) throws(PageDamage) -> Int {
    var count = 0
    for part in parts { count += 1 + (try pages(part, from: low, to: high)).count }
    return count
  }

  /// The pages that begin inside a range, and not with its first key.
  func pages(
    _ part: Part, from low: [UInt8], to high: [UInt8]?
  ) throws(PageDamage) -> Range<Int> {
    let pageCount = part.keys.directory.pageCount
    var first = try part.keys.firstPage(from: low)
    if first < pageCount, try part.keys.first(first) == low { first += 1 }
    let end = if let high { try part.keys.firstPage(from: high) } else { pageCount }
    return first..<max(first, end)
  }

  /// Keys at which pages begin, ascending: fewer than a number, and between two of them are about as many pages. With all
  /// runs together, no part has more than two of that number's shares.
  func cuts(
    from low: [UInt8], to high: [UInt8]?, partCount: Int
  ) throws(PageDamage) -> [[UInt8]] {
    var candidates: [(key: [UInt8], weight: Double)] = []
    for part in parts {
      let pages = try pages(part, from: low, to: high)
      let count = min(partCount, pages.count)
      for index in 0..<count {
        let even = pages.lowerBound + pages.count * index / count
        // Few parts of the directory are read for it, and the number of keys between two cuts hardly changes.
        let page = part.keys.page(near: even, within: pages.count / count / 8, of: pages)
        candidates.append((try part.keys.first(page), Double(pages.count) / Double(count)))
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
}
