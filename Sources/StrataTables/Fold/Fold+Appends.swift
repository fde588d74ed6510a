// The states at the ends of individual appends, a few at a time.

package import StrataBase
internal import StrataEvents
package import StrataLog

extension Fold {
  /// Folds whole appends up to a sequence, and returns the state at the end of each append: at most `countMax` states,
  /// none at the end of the log. If the log cannot be read any further, the call first returns the states before the
  /// error. The states share all pages that did not change between them.
  ///
  /// - Returns: nil if the slice ended before the end of an append.
  package func statesByAppend(
    through last: UInt64, countMax: Int, _ slice: TimeSlice
  ) throws(StoreError) -> [TableSet]? {
    precondition(countMax > 0, "countMax is at least 1")
    struct IsEnough: Error {}
    var states: [TableSet] = []
    var isPaused = false
    do {
      isPaused = try !runByAppend(through: last, slice) { state in
        states.append(copy state)
        if states.count == countMax { throw IsEnough() }
      }
    } catch let error as StoreError {
      // The states before the error are returned first; the next call throws the error again.
      if states.isEmpty { throw error }
    } catch {
      assert(error is IsEnough, "a fold throws what the store throws")
    }
    return isPaused && states.isEmpty ? nil : states
  }

  /// `statesByAppend(through:countMax:_:)` without slices.
  package func statesByAppend(through last: UInt64, countMax: Int) throws(StoreError) -> [TableSet] {
    try statesByAppend(through: last, countMax: countMax, TimeSlice()) ?? []
  }
}
