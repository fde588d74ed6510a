// Choosing which of several items stay, so that as few as possible move.

/// The indexes of a longest strictly increasing subsequence of distinct numbers. O(n log n); the algorithm is patience
/// sorting (Fredman, "On computing the length of longest increasing subsequences", 1975).
@usableFromInline
package func longestIncreasingSubsequence(_ numbers: [Int]) -> [Int] {
  // tails[k] is the index of the smallest number that ends an increasing subsequence of length k + 1.
  var tails: [Int] = []
  var before = [Int](repeating: -1, count: numbers.count)
  for (index, number) in numbers.enumerated() {
    var low = 0
    var high = tails.count
    // A number that continues the longest subsequence needs no search.
    if let last = tails.last, numbers[last] < number { low = high }
    while low < high {
      let middle = (low + high) / 2
      if numbers[tails[middle]] < number { low = middle + 1 } else { high = middle }
    }
    if low > 0 { before[index] = tails[low - 1] }
    if low == tails.count { tails.append(index) } else { tails[low] = index }
  }
  var indexes: [Int] = []
  var index = tails.last ?? -1
  while index >= 0 {
    indexes.append(index)
    index = before[index]
  }
  return indexes.reversed()
}

/// Elements that are in both of two sequences, and whose order there may differ.
///
/// Everything in the sequences that is neither free nor deleted nor inserted is fixed: it has the same order in both,
/// and does not move. A free element may stay if the same fixed elements precede it in both sequences; among the free
/// elements between the same two fixed ones, those of a longest increasing subsequence stay. The number of moves is
/// therefore the smallest that does not move fixed elements.
struct FreePositions {
  /// The free elements: the caller's number for each, and its indexes in the two sequences.
  var free: [(number: Int, old: Int, new: Int)] = []
  /// Indexes in the old sequence of all elements that are not fixed: deleted or free. In any order.
  var unfixedOld: [Int] = []
  /// Indexes in the new sequence of all elements that are not fixed: inserted or free. In any order.
  var unfixedNew: [Int] = []

  /// Calls the body with the number of each free element that moves. O(k log k) for k elements that are not fixed.
  func forEachMoved(_ body: (Int) -> Void) {
    if free.count <= 1 { return forTheOne(body) }
    let unfixedOld = unfixedOld.sorted()
    let unfixedNew = unfixedNew.sorted()
    var run: [(number: Int, old: Int, new: Int)] = []
    var gap = -1
    func settle() {
      var staying = longestIncreasingSubsequence(run.map(\.new))[...]
      for (index, thing) in run.enumerated() {
        if staying.first == index { staying.removeFirst() } else { body(thing.number) }
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

  /// The same for at most one free element, without sorting.
  private func forTheOne(_ body: (Int) -> Void) {
    guard let thing = free.first else { return }
    var oldGap = thing.old
    var newGap = thing.new
    for index in unfixedOld where index < thing.old { oldGap -= 1 }
    for index in unfixedNew where index < thing.new { newGap -= 1 }
    if oldGap != newGap { body(thing.number) }
  }
}
