// Where things of one sequence stand while they are put in and moved one at a time.

internal import StrataLists

/// A sequence that loses some things, gets some, and in which some move, or leave for another one.
///
/// What neither comes nor goes nor moves stays, and cuts the sequence into gaps: gap g lies before the g-th thing
/// that stays. Everything that is put in or arrives is put behind what was put into its gap before and in front of
/// what waits there to be moved:
///
/// ```text
/// stays₀  new new arrived │ waiting waiting   stays₁  …
///         gap 1, in its order at the end      gap 2
/// ```
///
/// So a place is a sum of counts, each found by binary search, and the count of those that wait, kept in a tree
/// (Fenwick, "A new data structure for cumulative frequency tables", 1994).
struct StepPlan {
  private var removed: [Int]
  /// Old places of what moves or leaves, ascending, and the gap that each waits in.
  private var leaving: [Int]
  private var leavingGaps: [Int] = []
  /// New places of what is put in, ascending, and their gaps.
  private var inserted: [Int]
  private var insertedGaps: [Int] = []
  /// New places of what moves or arrives, ascending, and their gaps.
  private var arriving: [Int]
  private var arrivingGaps: [Int] = []
  /// How many have arrived: they arrive by ascending place.
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

  /// Where to put in what ends at a new place, before anything has moved.
  func placeOfInsertion(at new: Int) -> Int {
    let arrivals = arriving.countBelow(new)
    let gap = new - arrivals - inserted.countBelow(new)
    return new - arrivals + leavingGaps.countBelow(gap)
  }

  /// Where something that stays is when everything is put in and nothing has moved.
  func placeBeforeMoves(ofStaying new: Int) -> Int {
    let inserts = inserted.countBelow(new)
    let rank = new - inserts - arriving.countBelow(new)
    return rank + inserts + leavingGaps.countBelow(rank + 1)
  }

  /// Where something that moves is when everything is put in and nothing has moved.
  func placeBeforeMoves(ofLeaving old: Int) -> Int {
    let index = leaving.countBelow(old)
    let gap = leavingGaps[index]
    return gap + insertedGaps.countBelow(gap + 1) + index
  }

  /// Where something that stays is in the end.
  func newPlace(ofStaying old: Int) -> Int {
    let rank = old - removed.countBelow(old) - leaving.countBelow(old)
    // The smallest count c such that c of what comes stands before place rank + c.
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

  /// Takes out what stood at an old place: where it is now.
  mutating func take(_ old: Int) -> Int {
    let index = leaving.countBelow(old)
    let gap = leavingGaps[index]
    let before = waiting.count(before: index)
    waiting.remove(index)
    return gap + insertedGaps.countBelow(gap + 1) + min(arrivedCount, arrivingGaps.countBelow(gap + 1))
      + before
  }

  /// Puts in what ends at a new place, the next by ascending place: where to put it now.
  mutating func put(_ new: Int) -> Int {
    let gap = arrivingGaps[arrivedCount]
    arrivedCount += 1
    return new + waiting.count(before: leavingGaps.countBelow(gap))
  }
}

/// How many of the first things are still there. A Fenwick tree; all methods O(log count).
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
