// The entries in the order of their keys, as an index file wants them.
//
// Keys of one category share a long beginning, so comparing pairs of them from the start would read the same
// bytes again and again. Instead eight bytes of every key are drawn into a word beside its index, and the
// words are sorted where they lie; keys whose words agree are sorted by their next eight bytes, and so on.

extension KeyTable {
  /// All entries by ascending key, also those without events. O(n log n) words, and once over each shared
  /// beginning.
  package func entriesSortedByKey() -> [EntryIndex] {
    var places = (0..<entries.count).map { SortPlace(word: 0, entry: UInt32($0), left: 0) }
    places.withUnsafeMutableBufferPointer { sort($0) }
    return places.map { EntryIndex(rawValue: $0.entry) }
  }

  private func sort(_ places: UnsafeMutableBufferPointer<SortPlace>) {
    var runs: [(range: Range<Int>, depth: Int)] = [(0..<places.count, 0)]
    while let (range, depth) = runs.popLast() {
      var run = UnsafeMutableBufferPointer(rebasing: places[range])
      if load(run, depth: depth) { run.sort { $0.precedes($1) } }
      // Those that agree in this word and go on behind it make a run of the next round.
      var start = 0
      while start < run.count {
        var end = start + 1
        while end < run.count, run[end].word == run[start].word, run[end].left == run[start].left {
          end += 1
        }
        if end - start > 1 {
          assert(run[start].left == SortPlace.goesOn, "a key is in the table twice")
          runs.append((range.lowerBound + start..<range.lowerBound + end, depth + 8))
        }
        start = end
      }
    }
  }

  /// Draws the words at a depth. False where all are the same, so that there is nothing to sort.
  private func load(_ run: UnsafeMutableBufferPointer<SortPlace>, depth: Int) -> Bool {
    var differ = false
    for index in run.indices {
      let key = key(of: entries.start[Int(run[index].entry)])
      run[index].word = key.word(at: depth)
      run[index].left = UInt32(min(key.count - depth, SortPlace.goesOn))
      differ = differ || run[index].word != run[0].word || run[index].left != run[0].left
    }
    return differ
  }
}

/// An entry on its way to its place.
private struct SortPlace {
  /// Bytes left at this depth from which on a key goes on behind the word.
  static var goesOn: Int { 9 }

  /// Eight bytes of the key, zeros behind its end.
  var word: UInt64
  var entry: UInt32
  /// Bytes of the key left at this depth, at most `goesOn`. Where the words agree, the shorter key is the
  /// beginning of the longer one, for the zeros that fill its word are zeros in the other's too.
  var left: UInt32

  @inline(__always)
  func precedes(_ other: SortPlace) -> Bool {
    word < other.word || (word == other.word && left < other.left)
  }
}
