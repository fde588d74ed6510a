// Ranks of many keys at once, among the keys that runs have.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Keys that lie in one run of bytes, in their order. The bytes outlive the value, and do not change.
struct OrderedKeys: Sendable {
  /// Numbers of the keys, ascending by the keys.
  let order: [Int]
  private let keys: [Range<Int>]
  nonisolated(unsafe) private let bytes: UnsafeRawBufferPointer

  /// The begin of a key as numbers, which decide most comparisons.
  private struct Head {
    var first: UInt64
    var second: UInt64
    var number: Int
  }

  /// O(k log k).
  init(_ keys: [Range<Int>], in bytes: UnsafeRawBufferPointer) {
    func key(_ number: Int) -> ByteRun { ByteRun(UnsafeRawBufferPointer(rebasing: bytes[keys[number]])) }
    (self.keys, self.bytes) = (keys, bytes)
    var shared = keys.isEmpty ? 0 : key(0).count
    for number in keys.indices where shared > 0 {
      shared = min(shared, key(number).commonPrefixLength(key(0)))
    }
    var heads = keys.indices.map { number in
      let key = key(number)
      return Head(first: key.head(shared), second: key.head(shared + 8), number: number)
    }
    heads.sort { a, b in
      if a.first != b.first { return a.first < b.first }
      if a.second != b.second { return a.second < b.second }
      return key(a.number).order(against: key(b.number)) < 0
    }
    order = heads.map(\.number)
  }

  subscript(number: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[keys[number]])
  }
}

extension KeysAt {
  private struct Rank {
    var before = 0
    var exists = false
  }

  /// The fewest keys that are worth a thread.
  private static let sharedCountMin = 128

  /// The number of keys that are less than each of the given ones, which lie in one run of bytes, and whether all of them
  /// are there. Each run is read forwards, once. O(k · runs · (log n + keys of a page)), on several threads if there are
  /// many.
  func ranks(
    of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer, on parallel: Parallel
  ) throws(PageDamage) -> (ranks: [Int], areAllFound: Bool) {
    let keys = OrderedKeys(keys, in: bytes)
    if let first = keys.order.first { try willFind(Array(keys[first]), goesOn: true) }
    let groupCounts = try groupCounts()
    let count = keys.order.count
    let shareCount = max(1, min(parallel.threadCountMax, count / Self.sharedCountMin))
    let shares = Lock([Result<[Rank], PageDamage>?](repeating: nil, count: shareCount))
    parallel.forEach(below: shareCount) { share in
      let positions = count * share / shareCount..<count * (share + 1) / shareCount
      let found = Result { () throws(PageDamage) in try counted(keys, positions, groupCounts) }
      shares.withLock { $0[share] = found }
    }
    var ranks = [Int](repeating: 0, count: count)
    var (position, areAllFound) = (0, true)
    for share in shares.withLock({ $0 }) {
      for rank in try share?.get() ?? [] {
        ranks[keys.order[position]] = rank.before
        if !rank.exists { areAllFound = false }
        position += 1
      }
    }
    return (ranks, areAllFound)
  }

  /// The ranks of the keys at some indexes of their order.
  private func counted(
    _ keys: OrderedKeys, _ positions: Range<Int>, _ groupCounts: [KeyCounts?]
  ) throws(PageDamage) -> [Rank] {
    var ranks = [Rank](repeating: Rank(), count: positions.count)
    // The newest run that has a key decides, and is the last one here.
    for part in parts {
      let sweep =
        positions.count < limits.sweptKeyCountMin
        ? nil : RunSweep(part.keys.reader, length: limits.sweepLength)
      var counter = KeyCounter(part.keys, at: sequence, groupCounts[part.index], sweep)
      for position in positions {
        let found = try counter.find(keys[keys.order[position]])
        ranks[position - positions.lowerBound].before &+= Int(truncatingIfNeeded: found.count)
        if let isAlive = found.isAlive { ranks[position - positions.lowerBound].exists = isAlive }
      }
    }
    return ranks
  }
}
