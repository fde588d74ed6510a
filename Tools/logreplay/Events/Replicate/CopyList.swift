// The machines that have copies of a store, as they have said of themselves.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataReplica

/// The members of a place, for people and programs.
struct CopyList {
  let members: [StoreMember]

  init(in carrier: any Carrier) throws(StoreError) { members = try EventStore.members(in: carrier) }

  /// The member with an id, or the only one whose id begins so.
  func member(named name: String, in carrier: any Carrier) throws(CommandFailure) -> StoreMember {
    let found = members.filter { $0.id == name }
    let meant = found.isEmpty && !name.isEmpty ? members.filter { $0.id.hasPrefix(name) } : found
    guard let member = meant.first else {
      throw CommandFailure(
        ExitStatus.notFound, "there is no member \(name)", at: carrier.name,
        next: "name one that --status lists")
    }
    guard meant.count == 1 else {
      throw CommandFailure(
        ExitStatus.usage, "\(meant.count) members have ids that begin with \(name)", at: carrier.name,
        next: "name more of one of them: " + meant.map(\.id).joined(separator: ", "))
    }
    return member
  }

  var json: [[UInt8]] { members.map(Self.json) }

  static func json(_ member: StoreMember) -> [UInt8] {
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

  func text(_ people: PeopleText) -> String { members.map { Self.text($0, people) }.joined() }

  static func text(_ member: StoreMember, _ people: PeopleText) -> String {
    let id = PeopleText.printable(member.id)
    guard let state = member.state else { return "  \(id)  has a note that cannot be read\n" }
    let part = state.isWriter ? "writes " : state.wasOvertaken ? "wrote  " : "follows"
    return "  \(id)  \(part)  up to \(state.position.sequence)  said \(people.time(state.time))\n"
  }
}
