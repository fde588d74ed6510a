// The part that a store has among its copies, as `info` and `replicate --status` say it.

internal import StrataLog
internal import StrataReplica

/// What REPLICA says, and how far the other end is.
struct StorePart {
  let mark: ReplicaMark
  /// How many events are here and not in the copy, or there and not here; nil if the place does not say it.
  let lag: UInt64?

  /// Nil if the store has no copies that follow it. Asks the place of its copies.
  init?(of log: Log) {
    guard let mark = log.replica else { return nil }
    self.mark = mark
    guard mark.role == .writer || mark.role == .follower,
      let carrier = try? CarrierName.carrier(mark.carrier),
      let end = try? CarrierLog(carrier, of: log.storeID).end().sequence
    else {
      lag = nil
      return
    }
    let head = log.mark.sequence
    lag = max(end, head) - min(end, head)
  }

  /// The part as programs read it.
  var name: String {
    switch mark.role {
    case .writer: "writer"
    case .follower: "follower"
    case .fenced: "fenced"
    case .fork: "fork"
    }
  }

  var json: [UInt8] {
    var line = JSONLine()
    line.field("part", name)
    line.field("member", mark.member.description)
    line.field("place", mark.carrier)
    if let lag { line.field("lag", lag) }
    if mark.role == .fork {
      line.field("origin", mark.origin.description)
      line.field("originLast", mark.originSequence)
    }
    if mark.role == .fenced { line.field("reason", mark.reason) }
    return line.finish()
  }

  var text: String {
    let place = PeopleText.printable(mark.carrier)
    let missing = lag.map { $0 == 0 ? ", which has everything" : ", \(counted($0, "event")) to come" }
    switch mark.role {
    case .writer: return "writes, and is shipped to \(place)" + (missing ?? ", which does not answer")
    case .follower:
      let rest = lag.map { $0 == 0 ? ", and has everything" : ", \(counted($0, "event")) to come" }
      return "follows \(place)" + (rest ?? ", which does not answer")
    case .fenced: return "was overtaken, and takes no appends: \(PeopleText.printable(mark.reason))"
    case .fork:
      return "was made from \(place) up to sequence \(mark.originSequence) of the store \(mark.origin)"
    }
  }
}
