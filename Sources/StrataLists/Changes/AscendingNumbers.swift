// Counting in ascending arrays.

extension [Int] {
  /// The number of elements of an ascending array that are less than `number`. O(log count).
  @usableFromInline
  package func countBelow(_ number: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
