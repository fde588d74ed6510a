// Walks over the keys of one kind as they were after an event, from a key or a rank on.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension KeysAt {
  /// A key that is there. Valid only inside the call that lends it.
  struct Lent {
    var bytes: UnsafeRawBufferPointer
    var sectionLength: Int
    var idLength: Int
  }

  /// The keys of a range, ascending. O(keys of the pages that have some).
  func keys(from low: [UInt8], to high: [UInt8]?) throws(PageDamage) -> [PastKey] {
    var keys: [PastKey] = []
    try forEach(from: low, to: high, nil) { key in
      keys.append(
        PastKey(bytes: Array(key.bytes), sectionLength: key.sectionLength, idLength: key.idLength))
      return true
    }
    return keys
  }

  /// The pages that a walk begins, beside two of each run, before it is counted what groups have.
  private static let uncountedPageCountMax = 8

  /// Lends the keys that have some of the ranks among all keys, ascending. They are in a range of keys of which the ranks
  /// are known. O(log pages · runs · (keys of a page + changes of a chunk)), and then the keys; near the begin of the range
  /// O(runs · keys of a page), unless many keys that are not there lie before them.
  ///
  /// - Parameter all: the ranks of all keys of the range.
  func forEach(
    in ranks: Range<Int>, from low: [UInt8], to high: [UInt8]?, of all: Range<Int>, _ body: (Lent) -> Void
  ) throws(PageDamage) {
    guard !ranks.isEmpty else { return }
    var rank = all.lowerBound
    if ranks.lowerBound - rank < limits.uncountedKeyCountMax {
      let budget = PageBudget(2 * parts.count + Self.uncountedPageCountMax)
      try forEach(from: low, to: high, budget) { key in
        if rank >= ranks.lowerBound { body(key) }
        rank += 1
        return rank < ranks.upperBound
      }
      if rank == ranks.upperBound { return }
    }
    let next = max(rank, ranks.lowerBound)
    let begin = try begin(before: next, from: low, to: high, of: all)
    rank = begin.rank
    try forEach(from: begin.key, to: high, nil) { key in
      if rank >= next { body(key) }
      rank += 1
      return rank < ranks.upperBound
    }
    guard rank == ranks.upperBound else { throw PageDamage("the runs have other keys than they count") }
  }

  /// A key of a range with which a page begins, of any run, and that has as many keys before it as a rank says, or a few
  /// less, and few pages between it and the key of that rank; the range's own begin if there is none. Where pages have
  /// about equal numbers of keys that are there, a few looks find it: every other look is where the rank would be
  /// then, and the others halve the rest.
  private func begin(
    before rank: Int, from low: [UInt8], to high: [UInt8]?, of all: Range<Int>
  ) throws(PageDamage) -> (key: [UInt8], rank: Int) {
    var begin = (key: low, rank: all.lowerBound)
    var end = (key: high, rank: all.upperBound)
    // To pass some keys and pages takes no longer than one more look.
    let passedCountMax = max(2 * limits.uncountedKeyCountMax, 1)
    let passedPageCountMax = limits.uncountedKeyCountMax == 0 ? 0 : parts.count + Self.uncountedPageCountMax
    var (looksAtHalf, wasNear) = (false, false)
    while true {
      var pageCount = 0
      var widest: (keys: KeySet, pages: Range<Int>)?
      for part in parts {
        let pages = try pages(part, from: begin.key, to: end.key)
        if pages.count > widest?.pages.count ?? 0 { widest = (part.keys, pages) }
        pageCount += pages.count
      }
      let isNear = rank - begin.rank < passedCountMax
      guard let (keys, pages) = widest, !isNear || pageCount > passedPageCountMax else { return begin }
      // The rest after it was long because nothing had been looked at there.
      if isNear, !wasNear { (looksAtHalf, wasNear) = (false, true) }
      var middle = pages.lowerBound + pages.count / 2
      if !looksAtHalf, end.rank > begin.rank {
        // Before the rank at first, and then after it.
        let wanted = rank - begin.rank + (isNear ? passedCountMax : -passedCountMax) / 2
        let share = Double(wanted) / Double(end.rank - begin.rank)
        middle = pages.lowerBound + min(Int(share * Double(pages.count)), pages.count - 1)
      }
      looksAtHalf.toggle()
      middle = keys.page(near: middle, within: pages.count / 16, of: pages)
      let key = try keys.first(middle)
      let before = try count(from: [], to: key)
      if before <= rank { begin = (key, before) } else { end = (key, before) }
    }
  }

  /// Lends the keys of a range, ascending, until the body returns false or the budget is spent. O(keys of the pages that
  /// have some).
  ///
  /// - Parameter budget: nil if groups without a key that is there are left out, for which they are counted.
  private func forEach(
    from low: [UInt8], to high: [UInt8]?, _ budget: PageBudget?, _ body: (Lent) -> Bool
  ) throws(PageDamage) {
    try willFind(low, goesOn: true)
    var (positions, areThere): ([KeyPosition], [Bool]) = ([], [])
    for part in parts {
      let position = KeyPosition(part, of: self, from: low, to: high, budget)
      var exists = try position.next()
      while exists, position.cursor.key.isBefore(low) { exists = try position.next() }
      positions.append(position)
      areThere.append(exists)
    }
    var merge = SortedMerge(positions, areThere: areThere)
    while try merge.next(), budget.map({ $0.left >= 0 }) ?? true {
      // Of the runs that have the key, the newest one decides.
      guard let newest = merge.current.last.map({ merge.sources[$0] }), try newest.isAlive() else { continue }
      let goesOn = newest.cursor.key.withUnsafeBytes { key in
        body(Lent(bytes: key, sectionLength: newest.cursor.sectionLength, idLength: newest.cursor.idLength))
      }
      guard goesOn else { return }
    }
  }
}

/// How many pages a walk may still begin; below zero it ends. Pages that are left out do not count.
private final class PageBudget {
  @exclusivity(unchecked) var left: Int
  init(_ count: Int) { left = count }
}

/// Where a walk is in one run.
private final class KeyPosition: AscendingSource {
  /// A part of the directory of the run, and the first of its pages that begins after the walk, or their end.
  private struct Part {
    var index: Int
    var pages: KeyDirectoryPart
    var end: Int
  }

  private let run: KeysAt.Part
  private let keys: KeysAt
  private let budget: PageBudget?
  private let low: [UInt8]
  /// The first key after the walk.
  private let high: [UInt8]?
  @exclusivity(unchecked) private(set) var cursor: KeyCursor
  @exclusivity(unchecked) private var group: (number: Int, lives: KeyLives)?
  /// Nil before the first page.
  @exclusivity(unchecked) private var part: Part?

  init(_ run: KeysAt.Part, of keys: KeysAt, from low: [UInt8], to high: [UInt8]?, _ budget: PageBudget?) {
    (self.run, self.keys, self.low, self.high, self.budget) = (run, keys, low, high, budget)
    cursor = KeyCursor(run.keys)
  }

  /// Goes to the next key of the range. Pages without a key that is there are not read: of a million keys that come
  /// later, an early state has few. False at the end.
  func next() throws(PageDamage) -> Bool {
    if cursor.isAtEndOfPage {
      guard let (page, part) = try nextPage() else { return false }
      cursor.skip(toPage: page, in: part)
      budget?.left -= 1
    }
    guard try cursor.next() else { return false }
    return high.map { cursor.key.isBefore($0) } ?? true
  }

  func order(_ other: KeyPosition) -> Int { cursor.key.order(against: other.cursor.key) }

  private var isAtEnd: Bool { keys.sequence >= run.keys.reader.root.end }

  /// Whether the key is there.
  func isAlive() throws(PageDamage) -> Bool {
    guard !isAtEnd, let part = cursor.part else { return cursor.isAliveAtEnd }
    return try lives(of: cursor.group, in: part).now[cursor.number]
  }

  private func lives(of number: Int, in part: KeyDirectoryPart) throws(PageDamage) -> KeyLives {
    if let group, group.number == number { return group.lives }
    let lives =
      if let counts = try counts() {
        try run.keys.lives(of: number, in: part, at: keys.sequence, counted: counts)
      } else {
        try run.keys.lives(of: number, in: part, at: keys.sequence)
      }
    group = (number, lives)
    return lives
  }

  /// What the groups count, inside of a run. A walk with a budget does without that.
  private func counts() throws(PageDamage) -> KeyCounts? {
    budget == nil ? try keys.groupCounts()[run.index] : nil
  }

  // MARK: Pages

  /// The next page that is read; nil at the end of the walk.
  private func nextPage() throws(PageDamage) -> (Int, KeyDirectoryPart)? {
    var page = cursor.nextPage
    while true {
      if let part {
        if page < part.end { page = try firstPage(from: page, of: part) }
        if page < part.end { return (page, part.pages) }
        guard part.end == part.pages.pages.upperBound else { return nil }
      }
      let (isBegin, index) = (part == nil, try nextPart())
      guard index < run.keys.directory.partCount,
        high.map({ run.keys.directory.order(index, $0) < 0 }) ?? true
      else { return nil }
      let pages = try run.keys.part(index)
      part = Part(
        index: index, pages: pages, end: high.map { pages.firstPage(from: $0) } ?? pages.pages.upperBound)
      page = isBegin ? pages.page(of: low) ?? pages.pages.lowerBound : pages.pages.lowerBound
    }
  }

  /// The next part of the directory; for the first run, the next one with a key that is there, as far as that is known.
  private func nextPart() throws(PageDamage) -> Int {
    let directory = run.keys.directory
    let next = part.map { $0.index + 1 } ?? directory.part(of: low) ?? 0
    guard run.isFirst, next < directory.partCount else { return next }
    if isAtEnd { return directory.firstPartAtEnd(from: next) }
    return directory.part(ofGroup: try firstGroup(from: directory.group(ofPart: next)))
  }

  /// The first page at or after one of which a key is there, for the first run; the end of the part if it has none. With a
  /// budget, and inside of a run, that is known only of the group that the walk is in. O(log pages + pages of a group +
  /// changes of a chunk).
  private func firstPage(from index: Int, of part: Part) throws(PageDamage) -> Int {
    let known = part.pages
    guard run.isFirst else { return index }
    guard !isAtEnd else { return known.firstAtEnd(in: index..<known.pages.upperBound) }
    var index = index
    while index < part.end {
      let number = known.group(of: index)
      guard budget == nil || number == group?.number else { return index }
      let next = try firstGroup(from: number)
      guard next == number else {
        index = next < known.groups.upperBound ? known.pages(of: next).lowerBound : known.pages.upperBound
        continue
      }
      let ofGroup = known.pages(of: number)
      if let key = try lives(of: number, in: known).now.first(from: known.numbers(of: index).lowerBound) {
        return (index..<ofGroup.upperBound).first { known.numbers(of: $0).contains(key) } ?? index
      }
      index = ofGroup.upperBound
    }
    return index
  }

  /// The first group at or after one of which a key is there, for the first run, as far as groups are counted. O(log
  /// groups).
  private func firstGroup(from index: Int) throws(PageDamage) -> Int {
    guard let before = try counts()?.before, index + 1 < before.count, before[index + 1] <= before[index]
    else { return index }
    var (low, high) = (index + 1, before.count)
    while low < high {
      let middle = (low + high) / 2
      if before[middle] > before[index] { high = middle } else { low = middle + 1 }
    }
    return low - 1
  }
}
