// Ranks of many keys at once, among the keys that runs have.

internal import StrataBase

extension KeysAt {
  /// The number of keys that are less than each of the given ones, which lie in one run of bytes, and whether all of them
  /// are there. Each run is read forwards, once. O(k · runs · (log n + keys of a page)).
  func ranks(
    of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer
  ) throws(StatePage.Damage) -> (ranks: [Int], areAllFound: Bool) {
    func key(_ index: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[keys[index]]) }
    let order = keys.indices.sorted { key($0).order(key($1)) < 0 }
    var ranks = [Int64](repeating: 0, count: keys.count)
    var isThere = [Bool](repeating: false, count: keys.count)
    // The newest run that has a key decides, and is the last one here.
    for part in parts {
      var counter = KeyCounter(part, at: sequence)
      for index in order {
        let found = try counter.count(below: key(index))
        ranks[index] &+= found.count
        if let isAlive = found.isAlive { isThere[index] = isAlive }
      }
    }
    return (ranks.map { Int(truncatingIfNeeded: $0) }, isThere.allSatisfy { $0 })
  }
}

/// Counts the keys of one run that are less than others, which are asked for in ascending order.
private struct KeyCounter {
  private let part: KeysAt.Part
  private let sequence: UInt64
  /// Where it is in a page; nil before the first one.
  private var cursor: KeyCursor?
  private var page = -1
  /// The keys of the page before the cursor's.
  private var countInPage: Int64 = 0
  /// What the cursor's key adds, once the next one is reached.
  private var countOfKey: Int64 = 0

  init(_ part: KeysAt.Part, at sequence: UInt64) { (self.part, self.sequence) = (part, sequence) }

  /// - Returns: how many keys the run counts below the key, and whether it says that the key is there; nil if it does not
  ///   say.
  mutating func count(
    below key: UnsafeRawBufferPointer
  ) throws(StatePage.Damage) -> (count: Int64, isAlive: Bool?) {
    guard let next = part.keys.directory.page(of: key) else { return (0, nil) }
    if next != page {
      page = next
      cursor = KeyCursor(part.keys, page: next)
      countInPage = 0
      try step()
    }
    while let order = cursor?.key.withUnsafeBytes({ $0.order(key) }) {
      if order == 0 { return (part.before[page] &+ countInPage, try cursor?.isAlive(at: sequence)) }
      if order > 0 { return (part.before[page] &+ countInPage, nil) }
      countInPage &+= countOfKey
      if cursor?.isAtEndOfPage ?? true { cursor = nil } else { try step() }
    }
    return (part.before[page] &+ countInPage, nil)
  }

  private mutating func step() throws(StatePage.Damage) {
    guard try cursor?.next() == true, let cursor else { throw StatePage.Damage("a page of keys is empty") }
    countOfKey = try cursor.isAlive(at: sequence) ? 1 : 0
    if !part.isBase, cursor.isAliveAtBegin { countOfKey -= 1 }
  }
}
