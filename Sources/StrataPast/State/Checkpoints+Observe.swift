// What the states of a projection tell those who observe the store.

internal import StrataLog

extension Checkpoints {
  func noteSaved(_ written: Written) {
    log.observation.counters.addSavedState()
    log.observation.note(
      .stateSaved(projection: projectionName, sequence: written.sequence, byteCount: written.bytes))
  }

  /// A failure counts, but not that another process has the folder, which is as it should be.
  func noteFailed(_ error: StoreError) {
    guard error != StateHome.taken(name) else { return }
    log.observation.counters.addFailedState()
    log.observation.note(.stateFailed(projection: projectionName, error: error))
  }

  /// Notes that a state on disk is not used.
  func noteDiscarded(_ why: String) {
    log.observation.note(.discarded(.state, projection: projectionName, why: why))
  }

  /// Why a state is not used, as far as its slot tells; nil if it does not.
  func refusal(of slot: StateSlot, _ erasures: SegmentErasures) -> String? {
    if slot.name != name.hash { return "it is of another projection" }
    if !fingerprint.isOf(slot) { return "other code has made it" }
    do throws(StoreError) { return try slot.refusal(by: log, erasures) } catch {
      return "the log cannot be read where it ends"
    }
  }
}

extension StateSlot {
  /// Why the state is not of the events that a log has; nil if it is.
  func refusal(by log: Log, _ erasures: SegmentErasures) throws(StoreError) -> String? {
    let mark = log.mark
    if storeID != log.storeID { return "it is of another store" }
    if sequence > mark.sequence || appends > mark.appends { return "the log ends before it" }
    if sequence < mark.logBegin { return "the log begins after it" }
    if self.erasures != erasures.hash(through: sequence) {
      return "content of events was erased since it was made"
    }
    return try log.chain(after: sequence) == chain ? nil : "the log has other events than it was made of"
  }
}
