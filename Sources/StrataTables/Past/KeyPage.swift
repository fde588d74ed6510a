// Finds one key in a page of keys, without putting the keys together, and counts those before it.

internal import StrataBase

/// A page of keys of one run. The page is read up to the key, or to where it would be.
///
/// Each key in a page is written without what it shares with the one before. So of every key that is passed only this
/// length is compared with what the one before shares with the key that is looked for: less of it, and the key is past
/// that one; more, and it is still before it.
struct KeyPage {
  private let page: RunRecord
  private let (directory, index): (KeyDirectory, Int)

  init(_ keys: KeySet, at index: Int) throws(StatePage.Damage) {
    page = try keys.reader.record(at: keys.directory.places[index])
    (directory, self.index) = (keys.directory, index)
  }

  /// The number, in its group, of the first key that is not less than another one, or of the one after the page, and
  /// whether it is that key. O(keys of the page before the key).
  func place(of key: UnsafeRawBufferPointer) throws(StatePage.Damage) -> (number: Int, isFound: Bool) {
    let key = ByteRun(key)
    var cursor = page.cursor
    // How long the last key is, and how much of the key that is looked for it begins with.
    var (length, matched, isFirst) = (0, 0, true)
    for number in directory.numbers(of: index) {
      guard let shared = cursor.varint(), shared <= UInt64(length), let rest = cursor.lengthPrefixed(),
        !isFirst || directory.withFirst(index, { rest.hasSameBytes(as: $0) }),
        let section = cursor.varint(), let id = cursor.varint()
      else { throw StatePage.Damage("a key of a run is broken") }
      length = Int(truncatingIfNeeded: shared) + rest.count
      guard section <= UInt64(length), id <= UInt64(length), length <= Tree.keyLengthMax else {
        throw StatePage.Damage("a key of a run is broken")
      }
      isFirst = false
      let order = Self.order(Int(truncatingIfNeeded: shared), ByteRun(rest), key, &matched)
      if order >= 0 { return (number, order == 0) }
    }
    guard cursor.remaining == 0 else { throw StatePage.Damage("a page has other keys than its run counts") }
    return (directory.numbers(of: index).upperBound, false)
  }

  /// Below, equal to or above zero if a key is before, equal to or after the one that is looked for. The one before it in
  /// the page is before that one.
  ///
  /// - Parameter matched: how much of the key that is looked for the last key begins with, and then this one.
  @inline(__always)
  private static func order(_ shared: Int, _ rest: ByteRun, _ key: ByteRun, _ matched: inout Int) -> Int {
    if shared > matched { return -1 }
    if shared < matched { return 1 }
    let left = ByteRun(base: key.base + matched, count: key.count - matched)
    let common = rest.commonPrefixLength(left)
    matched += common
    if common == rest.count { return rest.count - left.count }
    if common == left.count { return 1 }
    return Int(rest.base.load(fromByteOffset: common, as: UInt8.self))
      - Int(left.base.load(fromByteOffset: common, as: UInt8.self))
  }
}

/// What a run says of one key after an event.
struct KeyCount {
  /// How many of the run's keys that are less are there; in a delta, by how much that differs from the run's begin.
  var count: Int64 = 0
  /// Whether the key is there; nil if the run does not say.
  var isAlive: Bool?
}

/// Counts the keys of one run that are there after an event, and less than others that are given in ascending order.
/// Belongs to one thread at a time.
struct KeyCounter {
  private let keys: KeySet
  private let sequence: UInt64
  private let counts: KeyCounts
  // What was looked at last: the next key is often near.
  private var page: (index: Int, keys: KeyPage)?
  private var group: (number: Int, lives: KeyLives)?
  private var lastIndex = 0

  /// - Parameter counts: of the groups, after the event.
  init(_ keys: KeySet, at sequence: UInt64, _ counts: KeyCounts) {
    (self.keys, self.sequence, self.counts) = (keys, sequence, counts)
  }

  /// O(log n + keys of a page + changes of a chunk).
  mutating func count(below key: UnsafeRawBufferPointer) throws(StatePage.Damage) -> KeyCount {
    guard let index = keys.directory.page(of: key, from: lastIndex) else { return KeyCount() }
    lastIndex = index
    let place: (number: Int, isFound: Bool)
    if keys.directory.begins(index, with: key) {
      place = (keys.directory.numbers(of: index).lowerBound, true)
    } else {
      let page = try page(at: index)
      place = try page.place(of: key)
    }
    let number = keys.directory.group(of: index)
    let lives = try lives(of: number)
    return KeyCount(
      count: counts.before[number] &+ lives.count(below: place.number),
      isAlive: place.isFound ? lives.now[place.number] : nil)
  }

  private mutating func page(at index: Int) throws(StatePage.Damage) -> KeyPage {
    if let page, page.index == index { return page.keys }
    let read = try KeyPage(keys, at: index)
    page = (index, read)
    return read
  }

  private mutating func lives(of number: Int) throws(StatePage.Damage) -> KeyLives {
    if let group, group.number == number { return group.lives }
    let lives = try keys.lives(of: number, at: sequence, counted: counts)
    group = (number, lives)
    return lives
  }
}

extension KeySet {
  /// Which keys of a group are there after an event, if they are as many as were counted after it.
  func lives(
    of group: Int, at sequence: UInt64, counted: KeyCounts
  ) throws(StatePage.Damage) -> KeyLives {
    let lives = try lives(of: group, at: sequence)
    guard lives.count(below: directory.keyCount(of: group)) == counted.count(of: group) else {
      throw StatePage.Damage("a group of keys has others than are counted")
    }
    return lives
  }
}
