// `replicate` with a store alone: its part among the copies, and how that changes.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataReplica

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension ReplicateCommand {
  func printStatus() throws {
    let opened = try OpenedStore.open(from)
    defer { try? opened.store.closeBlocking() }
    let part = StorePart(of: opened.log)
    var failure = part?.failure
    var members: CopyList?
    var erasure: ErasureState?
    if let part, failure == nil {
      do throws(CommandFailure) { (members, erasure) = try look(for: opened.store, part.mark) } catch {
        failure = error
      }
    }
    let problem = part.flatMap { erasure?.problem(store: from, place: $0.mark.carrier) }
    var writer = OutputWriter()
    if output.format.isJSON {
      var line = JSONLine.document()
      line.field("uuid", opened.store.id)
      line.field("last", opened.store.head.sequence)
      if let part { line.raw("replica", part.json) }
      if let members { line.array("members", members.json) }
      if let erasure { erasure.add(to: &line) }
      writer.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += "the store \(part?.text ?? "has no copies that follow it")\n".utf8
      if let members { writer.bytes += members.text(PeopleText(zone: output.zone, isColored: false)).utf8 }
      if let problem {
        writer.bytes +=
          "\(PeopleText.printable(problem.what))\n  \(PeopleText.printable(problem.next))\n".utf8
      }
    }
    try writer.flush()
    if let failure { throw failure }
  }

  /// The members of a store's place, and what they say of its erasures.
  private func look(
    for store: EventStore, _ mark: ReplicaMark
  ) throws(CommandFailure) -> (CopyList, ErasureState?) {
    let carrier = try CarrierName.carrier(mark.carrier)
    return try failing(at: carrier.name) { () throws(StoreError) in
      let members = try CopyList(in: carrier)
      guard mark.role == .writer || mark.role == .follower else { return (members, nil) }
      return (members, try ErasureState(of: store, mark, carrier, members.members))
    }
  }

  /// What a place has, and who has copies of it.
  func printMembers() throws {
    let carrier = try CarrierName.carrier(from)
    let (end, members) = try failing(at: carrier.name) { () throws(StoreError) in
      (try CarrierLog(carrier, of: nil).end(), try CopyList(in: carrier))
    }
    var writer = OutputWriter()
    if output.format.isJSON {
      var line = JSONLine.document()
      line.field("place", carrier.name)
      line.field("last", end.sequence)
      line.field("chain", LogPosition.hex(end.chain))
      line.array("members", members.json)
      writer.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += "\(PeopleText.printable(carrier.name)) has the events up to \(end.sequence)\n".utf8
      writer.bytes += members.text(PeopleText(zone: output.zone, isColored: false)).utf8
    }
    try writer.flush()
  }

  func forgetMember(_ name: String, isPlace: Bool) throws {
    let place = isPlace ? from : try part()?.carrier
    guard let place else { throw CommandFailure.noCopies(from) }
    let carrier = try CarrierName.carrier(place)
    let members = try failing(at: carrier.name) { () throws(StoreError) in try CopyList(in: carrier) }
    let member = try members.member(named: name, in: carrier)
    if !dryRun {
      try failing(at: carrier.name) { () throws(StoreError) in try EventStore.forget(member.id, in: carrier) }
    }
    var output = OutputWriter()
    let people = PeopleText(zone: self.output.zone, isColored: false)
    if self.output.format.isJSON {
      var line = JSONLine.document()
      line.field("place", carrier.name)
      line.raw("forgotten", CopyList.json(member))
      if dryRun { line.field("dryRun", true) }
      output.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else {
      let verb = dryRun ? "would be forgotten" : "is forgotten"
      output.bytes += "the member \(member.id) \(verb)\n\(CopyList.text(member, people))".utf8
    }
    try output.flush()
    if member.state?.isWriter == true {
      Terminal.note("logreplay: warning: it is the one that writes; its next note makes it a member again")
    } else if dryRun, member.state?.wasOvertaken == false {
      Terminal.note(
        "whether it still follows is not known: it last said so at that time; if it does, it says so again")
    }
  }

  /// What the store's folder says of its part.
  func part() throws -> ReplicaMark? {
    let reader: OpenedStore
    do throws(CommandFailure) { reader = try OpenedStore.open(from) } catch {
      // A rejoin that was ended in the middle.
      let root = StoreLayout(root: from).root
      guard error.code == ExitStatus.notFound,
        let last = try? EventStore.asides(PosixFileSystem(), root).last
      else { throw error }
      var failure = error
      failure.next =
        "the store that was here is in \(last); follow again: logreplay replicate URL \(ShellWord.of(from))"
      throw failure
    }
    defer { try? reader.store.closeBlocking() }
    return reader.log.replica
  }

  func followAgain() throws {
    guard let mark = try part() else { throw CommandFailure.noCopies(from) }
    let carrier = try CarrierName.carrier(mark.carrier)
    var lines: String?
    let receipt = try failing(at: from) { () throws(StoreError) in
      try EventStore.rejoin(from: carrier, PosixFileSystem(), at: from) {
        store, common, aside throws(StoreError) in
        lines = aside + EventStore.linesSuffix
        let reader = EventExportReader(store, from: .sequence(common))
        do {
          let target = try ExportTarget(aside + EventStore.linesSuffix, replaces: false)
          while try reader.lendNext({ try target.write($0) }) {}
          try target.finish()
        } catch {
          throw (error as? StoreError)
            ?? .invalid(
              what: "the events that only this store has cannot be written", next: "make room beside it")
        }
      }
    }
    let end = try copy(carrier, to: from, within: nil)
    var sentence = "the store follows again, and has the events up to \(end.head.sequence)"
    var report = ReplicaReport(
      store: mark.storeID.description, part: "follower", place: carrier.name, position: end.head,
      member: end.member)
    if let aside = receipt.aside, let lines {
      // It has no note any more, and an erasure waits for what its folder holds.
      (report.aside, report.lines, report.former) = (aside, lines, "\(mark.member)")
      sentence +=
        "\nonly it had \(counted(receipt.ownCount, "event")): in \(PeopleText.printable(lines)), and all of it in "
        + PeopleText.printable(aside)
        + "\nan erasure waits for the member \(mark.member) that it was; once that folder is removed: "
        + PeopleText.printable("logreplay replicate \(ShellWord.of(from)) --forget \(mark.member)")
    }
    try write(report, sentence)
  }

  func becomeWriter(within limit: Duration?) throws {
    guard let mark = try part(), mark.role == .follower else {
      throw CommandFailure.notFollowing(from)
    }
    let carrier = try CarrierName.carrier(mark.carrier)
    let store = try failing(at: from) { () throws(StoreError) in
      try EventStore.follow(from: carrier, PosixFileSystem(), at: from)
    }
    defer { try? store.closeBlocking() }
    let shipping = try failing(at: from) { () throws(StoreError) in
      try store.takeOverBlocking(within: limit ?? .seconds(30))
    }
    try write(
      ReplicaReport(
        store: store.id, part: "writer", place: carrier.name, position: store.head, lag: shipping.status.lag,
        member: "\(mark.member)"),
      "the store writes from now on, after sequence \(store.head.sequence)")
    try failing(at: from) { () throws(StoreError) in try store.closeBlocking() }
  }
}
