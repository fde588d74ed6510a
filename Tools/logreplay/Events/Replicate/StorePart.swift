// The part that a store has among its copies, as `info` and `replicate --status` say it.

internal import LogreplayShell
package import StrataLog
internal import StrataReplica

/// What REPLICA says, and what the last object at the other end says.
package struct StorePart {
  /// The other end, compared with this store.
  enum Other: Equatable {
    /// How many events are here and not there, or there and not here.
    case lag(UInt64)
    /// Another member writes there, or there are other events than here.
    case overtaken(String)
    /// Nothing is there.
    case nothing
    /// It could not be looked at, and why.
    case unknown(String)
    /// The store has no part that another end belongs to.
    case none
  }

  let mark: ReplicaMark
  let other: Other
  /// Why the other end could not be looked at, or that nothing is there; nil if it could.
  let failure: CommandFailure?

  /// Nil if the store has no copies that follow it. Asks the place of its copies.
  package init?(of log: Log) {
    guard let mark = log.replica else { return nil }
    self.mark = mark
    let isOfCopies = mark.role == .writer || mark.role == .follower
    (other, failure) = isOfCopies ? Self.look(log, mark) : (.none, nil)
  }

  private static func look(_ log: Log, _ mark: ReplicaMark) -> (Other, CommandFailure?) {
    let carrier: any Carrier
    do throws(CommandFailure) { carrier = try CarrierName.carrier(mark.carrier) } catch {
      return (.unknown(error.what), error)
    }
    do throws(StoreError) {
      let found = try other(log, mark, CarrierLog(carrier, of: log.storeID))
      return (found, found == .nothing ? CommandFailure(.nothingThere(carrier.name)) : nil)
    } catch {
      return (.unknown(error.what), CommandFailure(error))
    }
  }

  private static func other(_ log: Log, _ mark: ReplicaMark, _ objects: CarrierLog) throws(StoreError)
    -> Other
  {
    guard let last = try objects.lastObject() else { return .nothing }
    let (end, head) = (last.end, log.mark.sequence)
    if let problem = try problem(log, mark, last) { return .overtaken(problem) }
    if mark.role == .follower, end.sequence < head {
      return .overtaken("it ends at \(end.sequence), and has lost what this store has from there")
    }
    return .lag(max(end.sequence, head) - min(end.sequence, head))
  }

  /// Why a store with a mark cannot go on after an object as it is; nil if it can.
  static func problem(_ log: Log, _ mark: ReplicaMark?, _ last: WireObject) throws(StoreError) -> String? {
    let (end, head) = (last.end, log.mark.sequence)
    if mark?.role != .follower, last.header.writer != mark?.member {
      return "the member \(last.header.writer) writes there now"
    }
    if end.sequence <= head, try log.chain(after: end.sequence) != end.chain {
      return "there are other events than here up to \(end.sequence)"
    }
    if mark?.role != .follower, end.sequence > head {
      return "it has events up to \(end.sequence), and this store was put back to \(head)"
    }
    return nil
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

  package var json: [UInt8] {
    var line = JSONLine()
    line.field("part", name)
    line.field("member", mark.member.description)
    line.field("place", mark.carrier)
    switch other {
    case .lag(let lag): line.field("lag", lag)
    case .overtaken(let why): line.field("overtaken", why)
    case .nothing: line.field("unknown", "nothing is there")
    case .unknown(let why): line.field("unknown", why)
    case .none: break
    }
    if mark.role == .fork {
      line.field("origin", mark.origin.description)
      line.field("originLast", mark.originSequence)
    }
    if mark.role == .fenced { line.field("reason", mark.reason) }
    return line.finish()
  }

  package var text: String {
    let place = PeopleText.printable(mark.carrier)
    switch mark.role {
    case .writer: return "writes, and is shipped to \(place)" + rest(ifCurrent: "which has everything")
    case .follower: return "follows \(place)" + rest(ifCurrent: "and has everything")
    case .fenced: return "takes no appends: \(PeopleText.printable(mark.reason))"
    case .fork:
      return "was made from \(place) up to sequence \(mark.originSequence) of the store \(mark.origin)"
    }
  }

  private func rest(ifCurrent text: String) -> String {
    switch other {
    case .lag(0): ", \(text)"
    case .lag(let lag): ", \(counted(lag, "event")) to come"
    case .overtaken(let why):
      ", but \(PeopleText.printable(why))" + (mark.role == .writer ? ": see --rejoin" : "")
    case .nothing: ", where nothing is"
    case .unknown(let why): ", which could not be looked at: \(PeopleText.printable(why))"
    case .none: ""
    }
  }
}
