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
/// Most runs that a state is read from end before its event. What was there at the end of a run is in its directory and
/// its pages; only what was there in the middle is asked of the groups.
struct KeyCounter {
  private let keys: KeySet
  private let sequence: UInt64
  private let counts: KeyCounts?
  private let sweep: RunSweep?

  /// A page, and the part of the directory that has it.
  private struct Place {
    var partIndex: Int
    var part: KeyDirectoryPart
    var page: Int
  }

  // What was looked at last: the next key is often near.
  private var page: (index: Int, keys: KeyPage)?
  private var group: (number: Int, lives: KeyLives)?
  private var place: Place?

  /// - Parameters:
  ///   - counts: of the groups, after the event; nil if the run ends before it.
  ///   - sweep: reads the pages of the keys, if there are many; nil if the pages stay in memory.
  init(_ keys: KeySet, at sequence: UInt64, _ counts: KeyCounts?, _ sweep: RunSweep? = nil) {
    (self.keys, self.sequence, self.counts, self.sweep) = (keys, sequence, counts, sweep)
  }

  /// How many keys there are.
  var count: Int64 { counts?.before.last ?? keys.directory.count }

  /// How many keys are less, as in `KeyCount`. O(log n + keys of a page + changes of a chunk).
  mutating func count(below key: UnsafeRawBufferPointer) throws(StatePage.Damage) -> Int64 {
    guard let partIndex = part(of: key) else { return 0 }
    if keys.directory.order(partIndex, key) == 0 { return count(beforePart: partIndex) }
    let place = try goToPage(of: key, inPart: partIndex)
    let (part, index) = (place.part, place.page)
    guard part.begins(index, with: key) else { return try found(key, at: place).count }
    guard let counts else { return count(beforePageAtEnd: place) }
    let group = part.group(of: index)
    let number = part.numbers(of: index).lowerBound
    guard number > 0 else { return counts.before[group] }
    return counts.before[group] &+ (try lives(of: group, in: part, counts)).count(below: number)
  }

  private func count(beforePart index: Int) -> Int64 {
    if let counts { return counts.before[keys.directory.group(ofPart: index)] }
    return Int64(keys.directory.head(of: index).countBefore)
  }

  private func count(beforePageAtEnd place: Place) -> Int64 {
    count(beforePart: place.partIndex)
      &+ place.part.countAtEnd(of: place.part.pages.lowerBound..<place.page)
  }

  /// The same, and whether the key is there.
  mutating func find(_ key: UnsafeRawBufferPointer) throws(StatePage.Damage) -> KeyCount {
    guard let partIndex = part(of: key) else { return KeyCount() }
    return try found(key, at: goToPage(of: key, inPart: partIndex))
  }

  /// The part of the directory that has a key if any has it.
  private func part(of key: UnsafeRawBufferPointer) -> Int? {
    keys.directory.part(of: key, from: place?.partIndex ?? 0)
  }

  private mutating func goToPage(
    of key: UnsafeRawBufferPointer, inPart index: Int
  ) throws(StatePage.Damage) -> Place {
    let last = place?.partIndex == index ? place : nil
    let part = if let last { last.part } else { try keys.part(index) }
    // A part begins with its first page.
    let page = part.page(of: key, from: last?.page) ?? part.pages.lowerBound
    let found = Place(partIndex: index, part: part, page: page)
    place = found
    return found
  }

  private mutating func found(
    _ key: UnsafeRawBufferPointer, at place: Place
  ) throws(StatePage.Damage) -> KeyCount {
    let (part, index) = (place.part, place.page)
    let page = try page(at: index, in: part)
    let (found, isFound) = try page.place(of: key)
    guard let counts else {
      return KeyCount(
        count: count(beforePageAtEnd: place) &+ page.lives.count(below: found),
        isAlive: isFound ? page.lives.now[found] : nil)
    }
    let (group, number) = (part.group(of: index), part.numbers(of: index).lowerBound + found)
    let lives = try lives(of: group, in: part, counts)
    return KeyCount(
      count: counts.before[group] &+ lives.count(below: number), isAlive: isFound ? lives.now[number] : nil)
  }

  private mutating func page(
    at index: Int, in part: KeyDirectoryPart
  ) throws(StatePage.Damage) -> KeyPage {
    if let page, page.index == index { return page.keys }
    let read = try KeyPage(keys, at: index, in: part, sweep)
    page = (index, read)
    return read
  }

  private mutating func lives(
    of number: Int, in part: KeyDirectoryPart, _ counts: KeyCounts
  ) throws(StatePage.Damage) -> KeyLives {
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
  ) throws(StatePage.Damage) -> KeyLives {
    let lives = try lives(of: group, in: part, at: sequence)
    guard lives.count(below: part.keyCount(of: group)) == counted.count(of: group) else {
      throw StatePage.Damage("a group of keys has others than are counted")
    }
    return lives
  }
}
