// Ranks of many keys at once, among the keys that runs have.

internal import StrataBase

/// Keys that lie in one run of bytes, in their order.
struct OrderedKeys {
  /// Numbers of the keys, ascending by the keys.
  let order: [Int]
  private let keys: [Range<Int>]
  private let bytes: UnsafeRawBufferPointer

  /// The begin of a key as numbers, which decide most comparisons.
  private struct Head {
    var first: UInt64
    var second: UInt64
    var number: Int
  }

  /// O(k log k).
  ///
  /// - Parameter bytes: must outlive the value.
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
  /// The number of keys that are less than each of the given ones, which lie in one run of bytes, and whether all of them
  /// are there. Each run is read forwards, once. O(k · runs · (log n + keys of a page)).
  func ranks(
    of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer
  ) throws(StatePage.Damage) -> (ranks: [Int], areAllFound: Bool) {
    let keys = OrderedKeys(keys, in: bytes)
    var ranks = [Int](repeating: 0, count: keys.order.count)
    var areThere = [Bool](repeating: false, count: keys.order.count)
    // The newest run that has a key decides, and is the last one here.
    for part in parts {
      var (index, page): (Int?, KeyPage?)
      for number in keys.order {
        guard let next = part.keys.directory.page(of: keys[number], from: index ?? 0) else { continue }
        if next != index { (index, page) = (next, try KeyPage(part.keys, at: next)) }
        guard let found = try page?.count(below: keys[number], at: sequence) else { continue }
        ranks[number] &+= Int(truncatingIfNeeded: part.before[next] &+ found.count)
        if let isAlive = found.isAlive { areThere[number] = isAlive }
      }
    }
    return (ranks, areThere.allSatisfy { $0 })
  }
}
