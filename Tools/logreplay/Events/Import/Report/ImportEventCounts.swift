// What an import of events counts beside its appends.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents

/// The counts of events.
struct ImportEventCounts: Equatable {
  let events: ImportedEvents

  var json: [String] {
    consumers + [
      "\"events\":\(events.eventsRead)", "\"own\":\(events.ownLeftOut)", "\"erased\":\(events.erasedLeftOut)",
      "\"erasedNow\":\(events.erased)", "\"openOrders\":\(events.openOrdersLeftOut)",
      "\"same\":\(events.relation == .same)",
    ]
  }

  /// The consumers whose positions are left out, if there are any.
  private var consumers: [String] {
    let names = events.consumersLeftOut
    return names.isEmpty
      ? [] : ["\"consumers\":[\(names.map { DocumentValue.string($0).json() }.joined(separator: ","))]"]
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
    let names = events.consumersLeftOut
    if !names.isEmpty {
      let first = names.prefix(10).map { PeopleText.printable($0) }.joined(separator: ", ")
      text +=
        "\n  positions of consumers left out: \(first)\(names.count > 10 ? " and \(names.count - 10) more" : "")"
    }
    return text
  }
}
