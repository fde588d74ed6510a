// The states at the ends of single appends, a few at a time.

package import StrataBase
internal import StrataEvents
package import StrataLog

extension Fold {
  /// Folds whole appends up to a sequence, and returns the state at the end of each: at most so many, none at the
  /// end. Where the log cannot be read on, the states before that come first. The states share all pages that did
  /// not change between them.
  ///
  /// A block that holds more appends than that is walked again by the next call, so a few at a time cost less
  /// than one by one.
  ///
  /// - Returns: nil where the slice was over before the end of an append.
  package func statesByAppend(
    through last: UInt64, countMax: Int, _ slice: TimeSlice
  ) throws(StoreError) -> [TableSet]? {
    precondition(countMax > 0, "without a state there is no progress")
    struct IsEnough: Error {}
    var states: [TableSet] = []
    var isPaused = false
    do {
      isPaused = try !runByAppend(through: last, slice) { state in
        states.append(copy state)
        if states.count == countMax { throw IsEnough() }
      }
    } catch let error as StoreError {
      // What was folded before it is delivered first; the next call meets the error again.
      if states.isEmpty { throw error }
    } catch {
      assert(error is IsEnough, "a fold throws what the store throws")
    }
    return isPaused && states.isEmpty ? nil : states
  }

  /// The same without slices.
  package func statesByAppend(through last: UInt64, countMax: Int) throws(StoreError) -> [TableSet] {
    try statesByAppend(through: last, countMax: countMax, TimeSlice()) ?? []
  }
}
