// What a history tells those who observe the store.

internal import StrataLog

extension Historian {
  /// Notes that the history on disk is not used.
  ///
  /// - Parameter expected: what a manifest of this history would say.
  func noteDiscarded(_ found: HistoryManifest, _ expected: HistoryManifest, _ isDamaged: Bool) {
    let why =
      if isDamaged {
        "a file of it is damaged"
      } else if !found.isOf(expected) {
        "it is of another store, or other code has made it"
      } else {
        "it is damaged, or the log has other events than it was made of"
      }
    log.observation.note(.discarded(.history, projection: name.name, why: why))
  }
}
