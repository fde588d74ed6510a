// The indices of the elements of a sequence while elements are inserted and moved one at a time.

internal import StrataLists

/// The plan for changing a sequence of elements one step at a time: some are removed, some are inserted, and some move
/// within the sequence, leave it for another one, or arrive from another one.
///
/// The elements that are none of these stay, and divide the sequence into gaps: gap g is before the g-th element that
/// stays. An element that is inserted or arrives is put into its gap after the elements that were put there earlier and
/// before the elements that wait there to be moved:
///
/// ```text
/// stays₀  new new arrived │ waiting waiting   stays₁  …
///         gap 1, in its final order           gap 2
/// ```
///
/// So an index is a sum of counts that are found by binary search, and of the count of waiting elements, which is kept
/// in a tree (Fenwick, "A new data structure for cumulative frequency tables", 1994).
struct StepPlan {
  private var removed: [Int]
  /// The old indices of the elements that move or leave, ascending.
  private var leaving: [Int]
  /// The gap in which each of them waits.
  private var leavingGaps: [Int] = []
  /// The new indices of the inserted elements, ascending.
  private var inserted: [Int]
  /// Their gaps.
  private var insertedGaps: [Int] = []
  /// The new indices of the elements that move or arrive, ascending.
  private var arriving: [Int]
  /// Their gaps.
  private var arrivingGaps: [Int] = []
  /// The number of elements that have arrived. They arrive by ascending index.
  private var arrivedCount = 0
  private var waiting: PrefixCounts

  init(removed: [Int], leaving: [Int], inserted: [Int], arriving: [Int]) {
    self.removed = removed.sorted()
    self.leaving = leaving.sorted()
    self.inserted = inserted.sorted()
    self.arriving = arriving.sorted()
    waiting = PrefixCounts(ones: leaving.count)
    leavingGaps = self.leaving.enumerated().map { $1 - $0 - self.removed.countBelow($1) }
    insertedGaps = self.inserted.enumerated().map { $1 - $0 - self.arriving.countBelow($1) }
    arrivingGaps = self.arriving.enumerated().map { $1 - $0 - self.inserted.countBelow($1) }
  }

  /// The index at which to insert an element whose new index is given, before anything has moved.
  func positionOfInsertion(at new: Int) -> Int {
    let arrivals = arriving.countBelow(new)
    let gap = new - arrivals - inserted.countBelow(new)
    return new - arrivals + leavingGaps.countBelow(gap)
  }

  /// The index of an element that stays, after all insertions and before all moves.
  func positionBeforeMoves(ofStaying new: Int) -> Int {
    let inserts = inserted.countBelow(new)
    let rank = new - inserts - arriving.countBelow(new)
    return rank + inserts + leavingGaps.countBelow(rank + 1)
  }

  /// The index of an element that moves, after all insertions and before all moves.
  func positionBeforeMoves(ofLeaving old: Int) -> Int {
    let index = leaving.countBelow(old)
    let gap = leavingGaps[index]
    return gap + insertedGaps.countBelow(gap + 1) + index
  }

  /// The final index of an element that stays.
  func newPosition(ofStaying old: Int) -> Int {
    let rank = old - removed.countBelow(old) - leaving.countBelow(old)
    // The smallest count c such that c of the inserted and arriving elements are before index rank + c.
    var low = 0
    var high = inserted.count + arriving.count
    while low < high {
      let middle = (low + high) / 2
      if inserted.countBelow(rank + middle + 1) + arriving.countBelow(rank + middle + 1) > middle {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return rank + low
  }

  /// Takes out the element that had an old index, and returns its current index.
  mutating func take(_ old: Int) -> Int {
    let index = leaving.countBelow(old)
    let gap = leavingGaps[index]
    let before = waiting.count(before: index)
    waiting.remove(index)
    return gap + insertedGaps.countBelow(gap + 1) + min(arrivedCount, arrivingGaps.countBelow(gap + 1))
      + before
  }

  /// Puts in the element that gets a new index, and returns the index at which to put it now. Elements are put in by
  /// ascending new index.
  mutating func put(_ new: Int) -> Int {
    let gap = arrivingGaps[arrivedCount]
    arrivedCount += 1
    return new + waiting.count(before: leavingGaps.countBelow(gap))
  }
}

/// How many of the first elements are left. A Fenwick tree; all methods are O(log count).
private struct PrefixCounts {
  private var sums: [Int]

  init(ones count: Int) {
    sums = (0...count).map { $0 & -$0 }
  }

  mutating func remove(_ index: Int) {
    var node = index + 1
    while node < sums.count {
      sums[node] -= 1
      node += node & -node
    }
  }

  func count(before index: Int) -> Int {
    var sum = 0
    var node = index
    while node > 0 {
      sum += sums[node]
      node &= node - 1
    }
    return sum
  }
}
