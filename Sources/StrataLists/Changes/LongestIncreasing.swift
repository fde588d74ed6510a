// Which of several things may stay where they are so that as few as possible move.

/// The places of a longest strictly increasing subsequence of distinct numbers. O(n log n); the algorithm is
/// patience sorting (Fredman, "On computing the length of longest increasing subsequences", 1975).
package func longestIncreasingSubsequence(_ numbers: [Int]) -> [Int] {
  // tails[k] is the place of the smallest number that ends a run of k + 1.
  var tails: [Int] = []
  var before = [Int](repeating: -1, count: numbers.count)
  for (place, number) in numbers.enumerated() {
    var low = 0
    var high = tails.count
    // What ascends already needs no search.
    if let last = tails.last, numbers[last] < number { low = high }
    while low < high {
      let middle = (low + high) / 2
      if numbers[tails[middle]] < number { low = middle + 1 } else { high = middle }
    }
    if low > 0 { before[place] = tails[low - 1] }
    if low == tails.count { tails.append(place) } else { tails[low] = place }
  }
  var places: [Int] = []
  var place = tails.last ?? -1
  while place >= 0 {
    places.append(place)
    place = before[place]
  }
  return places.reversed()
}

/// Things that stand in both of two sequences, and whose order there may differ.
///
/// Everything in the sequences that is neither free nor taken out or put in is fixed: it stands in both in the
/// same order, and does not move. A free one may stay where the same fixed things stand before it in both
/// sequences; among the free ones between the same two fixed things, those of a longest increasing subsequence
/// stay. So the number of moves is the least that leaves the fixed ones alone.
struct FreePlaces {
  /// The free things: a number that the caller knows them by, and their places in the two sequences.
  var free: [(number: Int, old: Int, new: Int)] = []
  /// Places in the old sequence of what is not fixed: taken out, or free. In any order.
  var unfixedOld: [Int] = []
  /// Places in the new sequence of what is not fixed: put in, or free. In any order.
  var unfixedNew: [Int] = []

  /// Calls the body with the number of each free thing that moves. O(k log k) for k things that are not fixed.
  func forEachMoved(_ body: (Int) -> Void) {
    if free.count <= 1 { return forTheOne(body) }
    let unfixedOld = unfixedOld.sorted()
    let unfixedNew = unfixedNew.sorted()
    var run: [(number: Int, old: Int, new: Int)] = []
    var gap = -1
    func settle() {
      var staying = longestIncreasingSubsequence(run.map(\.new))[...]
      for (place, thing) in run.enumerated() {
        if staying.first == place { staying.removeFirst() } else { body(thing.number) }
      }
      run.removeAll(keepingCapacity: true)
    }
    for thing in free.sorted(by: { $0.old < $1.old }) {
      let oldGap = thing.old - unfixedOld.countBelow(thing.old)
      guard oldGap == thing.new - unfixedNew.countBelow(thing.new) else {
        body(thing.number)
        continue
      }
      if oldGap != gap { settle() }
      gap = oldGap
      run.append(thing)
    }
    settle()
  }

  /// The same for one thing at most, without sorting anything.
  private func forTheOne(_ body: (Int) -> Void) {
    guard let thing = free.first else { return }
    var oldGap = thing.old
    var newGap = thing.new
    for place in unfixedOld where place < thing.old { oldGap -= 1 }
    for place in unfixedNew where place < thing.new { newGap -= 1 }
    if oldGap != newGap { body(thing.number) }
  }
}
