// Maps whose pairs are written as they come, and are counted and put in order at their end.

/// Memory for the maps that a writer has begun and not ended, kept from one document to the next.
package struct CBOROpenMaps: ~Copyable {
  /// A pair as it was written.
  struct Pair {
    var start: Int
    var end: Int
    /// The key's length, and its first bytes: encoded keys are in the order of their lengths.
    var length: Int
    var prefix: UInt64
    /// The offset of the key's text.
    var text: Int
  }

  fileprivate var pairs = MoveStack<Pair>()
  /// The pairs of a map that is put in order.
  fileprivate var copy = CBORWriter(capacity: 1024)

  package init() {}

  /// The number of pairs of all maps that are open.
  var count: Int { pairs.count }

  /// Forgets maps that were begun.
  mutating func removeAll() { pairs.forget(to: 0) }
}

/// A map that a writer has begun.
struct CBOROpenMap {
  fileprivate var position: Int
  fileprivate var firstPair: Int
}

extension CBORWriter {
  /// Removes what was written after a position.
  package mutating func removeAll(from position: Int) {
    assert(position <= count, "only what was written is removed")
    count = position
  }

  /// Begins a map whose number of pairs is not known.
  mutating func beginMap(_ maps: borrowing CBOROpenMaps) -> CBOROpenMap {
    let map = CBOROpenMap(position: count, firstPair: maps.pairs.count)
    // Most maps have a head of one byte.
    writeByte(CBORMajor.map)
    return map
  }

  /// Writes the key of the next pair. Its value must follow, and then `endPair`.
  @inline(__always)
  mutating func beginPair(
    key: UnsafeBufferPointer<UInt8>, _ maps: inout CBOROpenMaps
  ) {
    let start = count
    writeText(utf8: UnsafeRawBufferPointer(key))
    maps.pairs.push(
      CBOROpenMaps.Pair(
        start: start, end: 0, length: key.count, prefix: prefixBytes(key), text: count - key.count))
  }

  /// Ends the pair that was begun as the number `index` of all that are open.
  @inline(__always)
  mutating func endPair(_ index: Int, _ maps: inout CBOROpenMaps) { maps.pairs.base[index].end = count }

  /// Ends a map: puts its pairs in the order of their keys, and writes how many they are. Returns false, with the map
  /// unfinished, if a key occurs twice.
  mutating func endMap(_ map: CBOROpenMap, _ maps: inout CBOROpenMaps) -> Bool {
    let pairs = UnsafeMutableBufferPointer(
      start: maps.pairs.base + map.firstPair, count: maps.pairs.count - map.firstPair)
    let isOrdered = sort(pairs)
    for index in pairs.indices.dropFirst() where order(pairs[index - 1], pairs[index]) == 0 { return false }
    if !isOrdered {
      let begin = map.position + 1
      maps.copy.removeAll()
      maps.copy.writeEncoded(UnsafeRawBufferPointer(start: base + begin, count: count - begin))
      count = begin
      for pair in pairs {
        writeEncoded(
          UnsafeRawBufferPointer(start: maps.copy.base + (pair.start - begin), count: pair.end - pair.start))
      }
    }
    writeCount(pairs.count, CBORMajor.map, at: map.position)
    maps.pairs.forget(to: map.firstPair)
    return true
  }

  /// Begins an array whose number of items is not known, and returns its position for `endArray`.
  mutating func beginArray() -> Int {
    writeByte(CBORMajor.array)
    return count - 1
  }

  /// Ends an array with the number of items that were written since it began.
  mutating func endArray(at position: Int, count: Int) {
    writeCount(count, CBORMajor.array, at: position)
  }

  /// Puts the head of a container in the place of its first byte.
  private mutating func writeCount(_ itemCount: Int, _ major: UInt8, at position: Int) {
    guard itemCount >= 24 else {
      base.storeBytes(of: major | UInt8(itemCount), toByteOffset: position, as: UInt8.self)
      return
    }
    let end = count
    writeHead(major, UInt64(itemCount))
    let gap = count - end - 1
    reserve(gap)
    // The head was written at the end to know its length; it comes before the items.
    withUnsafeTemporaryAllocation(byteCount: gap + 1, alignment: 1) { head in
      head.copyMemory(from: UnsafeRawBufferPointer(start: base + end, count: gap + 1))
      (base + position + gap + 1).copyMemory(from: base + position + 1, byteCount: end - position - 1)
      (base + position).copyMemory(from: head.baseAddress.unsafelyUnwrapped, byteCount: gap + 1)
    }
    count = end + gap
  }

  /// Sorts pairs, and returns whether they were in order.
  private func sort(_ pairs: UnsafeMutableBufferPointer<CBOROpenMaps.Pair>) -> Bool {
    var firstWrong = 1
    while firstWrong < pairs.count, order(pairs[firstWrong - 1], pairs[firstWrong]) < 0 { firstWrong += 1 }
    guard firstWrong < pairs.count else { return true }
    guard pairs.count <= CodecLimits.insertionSortCountMax else {
      var pairs = pairs
      pairs.sort { order($0, $1) < 0 }
      return false
    }
    for index in firstWrong..<pairs.count {
      let moved = pairs[index]
      var hole = index
      while hole > 0, order(pairs[hole - 1], moved) > 0 {
        pairs[hole] = pairs[hole - 1]
        hole -= 1
      }
      pairs[hole] = moved
    }
    return false
  }

  @inline(__always)
  private func order(_ a: CBOROpenMaps.Pair, _ b: CBOROpenMaps.Pair) -> Int {
    if a.length != b.length { return a.length < b.length ? -1 : 1 }
    if a.prefix != b.prefix { return a.prefix < b.prefix ? -1 : 1 }
    return a.length <= 8 ? 0 : compareBytes(text(of: a), text(of: b))
  }

  private func text(of pair: CBOROpenMaps.Pair) -> UnsafeBufferPointer<UInt8> {
    UnsafeRawBufferPointer(start: base + pair.text, count: pair.length).assumingMemoryBound(to: UInt8.self)
  }
}
