// Bisection.

extension Array {
  /// The length of the prefix whose elements satisfy a condition. No element after it may satisfy it. O(log count).
  @inlinable
  package func countAhead(where isAhead: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isAhead(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
