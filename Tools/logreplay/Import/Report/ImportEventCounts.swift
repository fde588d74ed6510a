// What an import of events counts beside its appends.

internal import StrataEvents

/// The counts of events.
struct ImportEventCounts: Equatable {
  let events: ImportedEvents

  var json: [String] {
    [
      "\"events\":\(events.eventsRead)", "\"own\":\(events.ownLeftOut)", "\"erased\":\(events.erasedLeftOut)",
      "\"erasedNow\":\(events.erased)", "\"openOrders\":\(events.openOrdersLeftOut)",
      "\"same\":\(events.relation == .same)",
    ]
  }

  /// What follows the counts of appends.
  func short(raised: UInt64) -> String {
    var text = ""
    if events.relation == .same { text += ", with the same chain" }
    if events.erased > 0 {
      text += ", \(counted(events.erased, "event")) erased by orders that were open"
    }
    if events.ownLeftOut > 0 { text += ", \(counted(events.ownLeftOut, "event")) of Strata's own left out" }
    if events.erasedLeftOut > 0 { text += ", \(counted(events.erasedLeftOut, "erased event")) left out" }
    if raised > 0 { text += ", \(counted(raised, "append")) earlier than the one before" }
    return text
  }
}
