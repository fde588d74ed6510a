// Counts the keys of one run as they were after an event.

internal import StrataBase

/// What a run says of one key after an event.
struct KeyCount {
  /// How many of the run's keys that are less are there; in a delta, by how much that differs from the run's begin.
  var count: Int64 = 0
  /// Whether the key is there; nil if the run does not say.
  var isAlive: Bool?
}

/// Counts the keys of one run that are there after an event, and less than others that are given in ascending order.
/// Belongs to one thread at a time.
///
/// Most runs that a state is read from end before its event. What was there at the end of a run is in its pages; only
/// what was there in the middle is asked of the groups.
struct KeyCounter {
  private let keys: KeySet
  private let sequence: UInt64
  private let counts: KeyCounts
  private let sweep: RunSweep?
  // What was looked at last: the next key is often near.
  private var page: (index: Int, keys: KeyPage)?
  private var group: (number: Int, lives: KeyLives)?
  private var lastIndex = 0

  /// - Parameters:
  ///   - counts: of the groups, after the event.
  ///   - sweep: reads the pages of the keys, if there are many; nil if the pages stay in memory.
  init(_ keys: KeySet, at sequence: UInt64, _ counts: KeyCounts, _ sweep: RunSweep? = nil) {
    (self.keys, self.sequence, self.counts, self.sweep) = (keys, sequence, counts, sweep)
  }

  private var isAtEnd: Bool { sequence >= keys.reader.root.end }

  /// How many keys are less, as in `KeyCount`. O(log n + keys of a page + changes of a chunk).
  mutating func count(below key: UnsafeRawBufferPointer) throws(StatePage.Damage) -> Int64 {
    guard let index = goToPage(of: key) else { return 0 }
    guard keys.directory.begins(index, with: key) else { return try found(key, inPage: index).count }
    let group = keys.directory.group(of: index)
    let pages = keys.directory.pages(of: group).lowerBound..<index
    guard !pages.isEmpty else { return counts.before[group] }
    if isAtEnd { return try before(group) &+ keys.directory.countAtEnd(of: pages) }
    return counts.before[group]
      &+ (try lives(of: group)).count(below: keys.directory.numbers(of: index).lowerBound)
  }

  /// The same, and whether the key is there.
  mutating func find(_ key: UnsafeRawBufferPointer) throws(StatePage.Damage) -> KeyCount {
    guard let index = goToPage(of: key) else { return KeyCount() }
    return try found(key, inPage: index)
  }

  private mutating func goToPage(of key: UnsafeRawBufferPointer) -> Int? {
    guard let index = keys.directory.page(of: key, from: lastIndex) else { return nil }
    lastIndex = index
    return index
  }

  private mutating func found(
    _ key: UnsafeRawBufferPointer, inPage index: Int
  ) throws(StatePage.Damage) -> KeyCount {
    let page = try page(at: index)
    let (place, isFound) = try page.place(of: key)
    let group = keys.directory.group(of: index)
    guard !isAtEnd else {
      return KeyCount(
        count: try before(group)
          &+ keys.directory.countAtEnd(of: keys.directory.pages(of: group).lowerBound..<index)
          &+ page.lives.count(below: place),
        isAlive: isFound ? page.lives.now[place] : nil)
    }
    let number = keys.directory.numbers(of: index).lowerBound + place
    let lives = try lives(of: group)
    return KeyCount(
      count: counts.before[group] &+ lives.count(below: number), isAlive: isFound ? lives.now[number] : nil)
  }

  private mutating func page(at index: Int) throws(StatePage.Damage) -> KeyPage {
    if let page, page.index == index { return page.keys }
    let read = try KeyPage(keys, at: index, sweep)
    page = (index, read)
    return read
  }

  private mutating func lives(of number: Int) throws(StatePage.Damage) -> KeyLives {
    if let group, group.number == number { return group.lives }
    let lives = try keys.lives(of: number, at: sequence, counted: counts)
    group = (number, lives)
    return lives
  }

  /// How many keys of the groups before one were there at the run's end.
  private func before(_ group: Int) throws(StatePage.Damage) -> Int64 {
    guard keys.directory.countAtEnd(of: keys.directory.pages(of: group)) == counts.count(of: group) else {
      throw KeySet.miscounted
    }
    return counts.before[group]
  }
}

extension KeySet {
  /// Which keys of a group are there after an event, if they are as many as were counted after it.
  func lives(
    of group: Int, at sequence: UInt64, counted: KeyCounts
  ) throws(StatePage.Damage) -> KeyLives {
    let lives = try lives(of: group, at: sequence)
    guard lives.count(below: directory.keyCount(of: group)) == counted.count(of: group) else {
      throw Self.miscounted
    }
    return lives
  }

  fileprivate static var miscounted: StatePage.Damage {
    StatePage.Damage("a group of keys has others than are counted")
  }
}
