// How a writer ends: by an error after which it is not known what is on disk, or whose the store is.

internal import StrataBase

extension Committer {
  /// A step after whose failure it is not known what is on disk. A failed sync is never tried again: the system may
  /// have marked pages as clean that are not there.
  enum DecisiveStep: String {
    case sync = "a sync failed, so what is on disk is not known"
    case head = "HEAD cannot be written"
  }

  /// Accepts nothing any more, refuses what waits, and tells readers that nothing will come.
  ///
  /// - Returns: the first error that did this, for everybody who asks from here on.
  @discardableResult
  func poison(_ error: StoreError) -> StoreError {
    if let failure { return failure }
    let reason: StoreError =
      if error.reason == .poisoned { error } else { .poisoned(error.whatAndWhere) }
    failure = reason
    assertHasTurn()
    queue.end(reason, refusingPending: true)
    sealer.stop()
    source.tail.finish(reason)
    return reason
  }

  /// Runs a step whose error poisons the writer.
  func orPoison<Result>(
    _ step: DecisiveStep, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do throws(StoreError) { return try body() } catch {
      throw poison(.poisoned("\(step.rawValue): \(error.whatAndWhere)"))
    }
  }

  /// Poisons the writer once LOCK is not the file that it holds: another writer may be at work.
  func checkLock() throws(StoreError) {
    do throws(StoreError) { try state.lock.check() } catch { throw poison(error) }
  }

  /// Throws where the writer has ended, or finds that it has.
  func checkGoesOn() throws(StoreError) {
    if let failure { throw failure }
    try checkLock()
  }
}
