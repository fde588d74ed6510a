// What `-v` says of where the past came from.

internal import LogreplayShell
internal import StrataPast
internal import StrataTables

enum PastOrigin {
  /// Says on standard error that nothing was folded.
  static func sayOfSaved() { Terminal.note("logreplay: read from what the projection saved") }

  /// Says on standard error what was read from a history, and how many events were replayed.
  static func say(_ counts: PastCounts) {
    let events = PeopleText.count(Int(clamping: counts.foldedEvents), "event")
    if counts.healed > 0 {
      return Terminal.note("logreplay: read from the history, of which a part was lost; \(events) replayed")
    }
    switch (counts.fromHistory > 0, counts.foldedEvents) {
    case (true, 0): Terminal.note("logreplay: read from the history, no event replayed")
    case (true, _): Terminal.note("logreplay: read from the history, and \(events) after its end replayed")
    case (false, 0): Terminal.note("logreplay: read from the saved tables, no event replayed")
    case (false, _): Terminal.note("logreplay: \(events) replayed, no history read")
    }
  }
}
