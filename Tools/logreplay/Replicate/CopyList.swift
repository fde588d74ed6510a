// The machines that have copies of a store, as they have said of themselves.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataReplica

/// The members of a place, for people and programs.
struct CopyList {
  private let members: [StoreMember]

  init(in carrier: any Carrier) throws(StoreError) { members = try EventStore.members(in: carrier) }

  func has(_ member: String) -> Bool { members.contains { $0.id == member } }

  static func unknown(_ member: String, _ carrier: any Carrier) -> StoreError {
    .replica(
      .notFound, place: carrier.name, what: "there is no member \(member)",
      next: "name one that --status lists")
  }

  var json: [[UInt8]] {
    members.map { member in
      var line = JSONLine()
      line.field("member", member.id)
      if let state = member.state {
        line.field("part", state.isWriter ? "writer" : state.wasOvertaken ? "overtaken" : "follower")
        line.field("last", state.position.sequence)
        line.field("chain", LogPosition.hex(state.position.chain))
        line.field("erasedThrough", state.erasedThrough)
        line.field("said", state.time.description)
      } else {
        line.field("unknown", "its note cannot be read")
      }
      return line.finish()
    }
  }

  func text(_ people: PeopleText) -> String {
    members.map { member in
      let id = PeopleText.printable(member.id)
      guard let state = member.state else { return "  \(id)  has a note that cannot be read\n" }
      let part = state.isWriter ? "writes " : state.wasOvertaken ? "wrote  " : "follows"
      return "  \(id)  \(part)  up to \(state.position.sequence)  said \(people.time(state.time))\n"
    }.joined()
  }
}
