// What a history tells those who observe the store.

internal import StrataLog

extension Historian {
  /// Notes that the history is not used.
  func noteDiscarded(_ why: String) {
    log.observation.note(.discarded(.history, projection: name.name, why: why))
  }

  /// Notes that the history on disk is not used, which another process has left.
  ///
  /// - Parameter expected: what a manifest of this history would say.
  func noteDiscarded(_ found: HistoryManifest, _ expected: HistoryManifest) {
    noteDiscarded(
      found.isOf(expected)
        ? "a file of it is damaged, or the log has other events than it was made of"
        : "it is of another store, or other code has made it")
  }
}
