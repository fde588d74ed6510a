// The entries in the order of their keys, as an index file needs them.
//
// Keys of one category share a long prefix, so comparing pairs of them from the start would read the same bytes again
// and again. Instead eight bytes of every key are loaded into a word beside its index, and the words are sorted in
// place; keys with equal words are then sorted by their next eight bytes, and so on.

extension KeyTable {
  /// All entries by ascending key, including those without events. O(n log n) words, and one pass over each shared
  /// prefix.
  package func entriesSortedByKey() -> [EntryIndex] {
    var places = (0..<entries.count).map { SortSlot(word: 0, entry: UInt32($0), left: 0) }
    places.withUnsafeMutableBufferPointer { sort($0) }
    return places.map { EntryIndex(rawValue: $0.entry) }
  }

  private func sort(_ places: UnsafeMutableBufferPointer<SortSlot>) {
    var runs: [(range: Range<Int>, depth: Int)] = [(0..<places.count, 0)]
    while let (range, depth) = runs.popLast() {
      var run = UnsafeMutableBufferPointer(rebasing: places[range])
      if load(run, depth: depth) { run.sort { $0.precedes($1) } }
      // Keys that agree in this word and continue past it form a run of the next round.
      var start = 0
      while start < run.count {
        var end = start + 1
        while end < run.count, run[end].word == run[start].word, run[end].left == run[start].left {
          end += 1
        }
        if end - start > 1 {
          assert(run[start].left == SortSlot.goesOn, "a key is in the table once")
          runs.append((range.lowerBound + start..<range.lowerBound + end, depth + 8))
        }
        start = end
      }
    }
  }

  /// Loads the words at a depth. False if all are equal, so that there is nothing to sort.
  private func load(_ run: UnsafeMutableBufferPointer<SortSlot>, depth: Int) -> Bool {
    var differ = false
    for index in run.indices {
      let key = key(of: entries.start[Int(run[index].entry)])
      run[index].word = key.word(at: depth)
      run[index].left = UInt32(min(key.count - depth, SortSlot.goesOn))
      differ = differ || run[index].word != run[0].word || run[index].left != run[0].left
    }
    return differ
  }
}

/// An entry while it is being sorted.
private struct SortSlot {
  /// The value of `left` that means that a key continues past the word.
  static var goesOn: Int { 9 }

  /// Eight bytes of the key, with zeros past its end.
  var word: UInt64
  var entry: UInt32
  /// Bytes of the key left at this depth, at most `goesOn`. If the words are equal, the shorter key is a prefix of the
  /// longer one, because the zeros that fill its word are also zeros in the other key.
  var left: UInt32

  @inline(__always)
  func precedes(_ other: SortSlot) -> Bool {
    word < other.word || (word == other.word && left < other.left)
  }
}
