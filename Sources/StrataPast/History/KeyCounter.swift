// Counts the keys of one run as they were after an event.

internal import StrataBase
internal import StrataTables

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
/// Most runs that a state is read from end before its event. What was there at the end of a run is in its directory and
/// its pages; only what was there in the middle is asked of the groups.
struct KeyCounter {
  private let keys: KeySet
  private let sequence: UInt64
  private let counts: KeyCounts?
  private let sweep: RunSweep?

  // What was looked at last: the next key is often near.
  private var part: (index: Int, part: KeyDirectoryPart)?
  private var lastPage = 0
  private var page: (index: Int, keys: KeyPage)?
  private var group: (number: Int, lives: KeyLives)?

  /// - Parameters:
  ///   - counts: of the groups, after the event; nil if the run ends with it or before it.
  ///   - sweep: reads the pages of the keys, if there are many; nil if the pages stay in memory.
  init(_ keys: KeySet, at sequence: UInt64, _ counts: KeyCounts?, _ sweep: RunSweep? = nil) {
    (self.keys, self.sequence, self.counts, self.sweep) = (keys, sequence, counts, sweep)
  }

  /// How many keys there are, as in `KeyCount`.
  var count: Int64 { counts?.before.last ?? keys.directory.count }

  /// How many keys are less, as in `KeyCount`. O(log n + keys of a page + changes of a chunk), and the pages of a part of
  /// the directory that was not read before.
  mutating func count(below key: UnsafeRawBufferPointer) throws(PageDamage) -> Int64 {
    guard let index = partIndex(of: key) else { return 0 }
    if keys.directory.order(index, key) == 0 { return count(beforePart: index) }
    let part = try goToPage(of: key, inPart: index)
    guard part.begins(lastPage, with: key) else { return try found(key, in: part, index).count }
    guard let counts else { return countAtEnd(beforePage: lastPage, of: part, index) }
    let group = part.group(of: lastPage)
    let number = part.numbers(of: lastPage).lowerBound
    guard number > 0 else { return counts.before[group] }
    return counts.before[group] &+ (try lives(of: group, in: part, counts)).count(below: number)
  }

  /// The same, and whether the key is there.
  mutating func find(_ key: UnsafeRawBufferPointer) throws(PageDamage) -> KeyCount {
    guard let index = partIndex(of: key) else { return KeyCount() }
    return try found(key, in: goToPage(of: key, inPart: index), index)
  }

  private func count(beforePart index: Int) -> Int64 {
    if let counts { return counts.before[keys.directory.group(ofPart: index)] }
    return Int64(keys.directory.head(of: index).countBefore)
  }

  private func countAtEnd(beforePage page: Int, of part: KeyDirectoryPart, _ index: Int) -> Int64 {
    Int64(keys.directory.head(of: index).countBefore)
      &+ part.countAtEnd(of: part.pages.lowerBound..<page)
  }

  /// The part of the directory that has a key if any has it.
  private func partIndex(of key: UnsafeRawBufferPointer) -> Int? {
    keys.directory.part(of: key, from: part?.index)
  }

  /// Makes the page of a key the last one. Returns the part that has it.
  private mutating func goToPage(
    of key: UnsafeRawBufferPointer, inPart index: Int
  ) throws(PageDamage) -> KeyDirectoryPart {
    let known = part?.index == index ? part?.part : nil
    let found = if let known { known } else { try keys.part(index) }
    if known == nil { (part, lastPage) = ((index, found), found.pages.lowerBound) }
    // The part begins with its first page, which is not after the key.
    lastPage = found.page(of: key, from: lastPage) ?? lastPage
    return found
  }

  private mutating func found(
    _ key: UnsafeRawBufferPointer, in part: KeyDirectoryPart, _ index: Int
  ) throws(PageDamage) -> KeyCount {
    let page = try page(at: lastPage, in: part)
    let (position, isFound) = try page.position(of: key)
    guard let counts else {
      return KeyCount(
        count: countAtEnd(beforePage: lastPage, of: part, index) &+ page.lives.count(below: position),
        isAlive: isFound ? page.lives.now[position] : nil)
    }
    let (group, number) = (part.group(of: lastPage), part.numbers(of: lastPage).lowerBound + position)
    let lives = try lives(of: group, in: part, counts)
    return KeyCount(
      count: counts.before[group] &+ lives.count(below: number), isAlive: isFound ? lives.now[number] : nil)
  }

  private mutating func page(
    at index: Int, in part: KeyDirectoryPart
  ) throws(PageDamage) -> KeyPage {
    if let page, page.index == index { return page.keys }
    let read = try KeyPage(keys, at: index, in: part, sweep)
    page = (index, read)
    return read
  }

  private mutating func lives(
    of number: Int, in part: KeyDirectoryPart, _ counts: KeyCounts
  ) throws(PageDamage) -> KeyLives {
    if let group, group.number == number { return group.lives }
    let lives = try keys.lives(of: number, in: part, at: sequence, counted: counts)
    group = (number, lives)
    return lives
  }
}

extension KeySet {
  /// Which keys of a group are there after an event, if they are as many as were counted after it.
  func lives(
    of group: Int, in part: KeyDirectoryPart, at sequence: UInt64, counted: KeyCounts
  ) throws(PageDamage) -> KeyLives {
    let lives = try lives(of: group, in: part, at: sequence)
    guard lives.count(below: part.keyCount(of: group)) == counted.count(of: group) else {
      throw PageDamage("a group of keys has others than are counted")
    }
    return lives
  }
}
