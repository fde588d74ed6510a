// How a writer fails: by an error after which it is unknown what is on disk, or which writer has the store.

internal import StrataBase

extension Committer {
  /// A step after whose failure it is unknown what is on disk. A failed sync is never retried: the system may have
  /// marked pages as clean that are not on disk.
  enum DecisiveStep: String {
    case sync = "a sync failed, so it is not known what is on disk"
    case head = "HEAD cannot be written"
  }

  /// Stops accepting appends, refuses those that wait, and notifies readers that no more events will come.
  ///
  /// - Returns: the first error that poisoned the writer, which all later calls get.
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
    observation.note(.poisoned(reason))
    return reason
  }

  /// Runs a step whose error poisons the writer.
  func orPoison<Result>(
    _ step: DecisiveStep, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let begin = step == .sync ? observation.now : nil
    do throws(StoreError) {
      let result = try body()
      if step == .sync { noteSync(since: begin) }
      return result
    } catch {
      throw poison(.poisoned("\(step.rawValue): \(error.whatAndWhere)"))
    }
  }

  private func noteSync(since begin: MonotonicTime?) {
    let time = begin?.elapsed
    lastSync = time ?? .zero
    observation.noteSync(time)
  }

  /// Poisons the writer once LOCK is no longer the file that it holds: another writer may be using the store.
  func checkLock() throws(StoreError) {
    do throws(StoreError) { try state.lock.check() } catch { throw poison(error) }
  }

  /// Throws if the writer has failed, or if this check finds that it has.
  func checkGoesOn() throws(StoreError) {
    if let failure { throw failure }
    try checkLock()
  }
}
