// `replicate`: copies of a store on other machines.

internal import ArgumentParser
internal import LogreplayPoints
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataReplica

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

struct ReplicateCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "replicate",
    abstract: "Ships a store to a place that others follow, follows one, or restores a store from it.",
    discussion: """
      A place is a URL: a folder, file:/path; a bucket, s3://BUCKET/PREFIX?region=R; or a stream of NATS JetStream, \
      nats://HOST,HOST,HOST/NAME. Buckets and JetStream are in a logreplay that is built with --traits Bucket,JetStream. What \
      follows is a whole store, verified event by event.

        logreplay replicate STORE file:/place             ships what the place lacks, and ends
        logreplay replicate file:/place STORE             follows to the end of the place; with --follow it goes on
        logreplay replicate file:/place STORE --until P   makes a new store of what is there up to a point
        logreplay replicate STORE --status                says which part a store has, and how far its copies are
        logreplay replicate STORE --take-over             makes a store that follows the one that writes
        logreplay replicate STORE --rejoin                lets a store that was overtaken follow again
        logreplay replicate file:/place --forget MEMBER   removes a copy whose machine is gone from those that --status lists

      --status and --forget take a store or a URL. With --dry-run a command looks at both sides, says what it would do, and \
      changes nothing. An erasure waits until every copy has carried it out, or is forgotten.

      Without --within a command waits for as long as it takes. --rejoin writes what only that store has to a file of event lines beside \
      it, moves its folder aside, and follows; import from that file into the writer what still holds.

      A point is the end of an append, given as a sequence, a time, head or cursor:SEQ@CHAIN. A store made with --until has an \
      id of its own. While a program has a store open, it ships itself: store.ship(to:).

      Exit codes: 64 a point inside an append, 65 what is in the place is damaged, 66 nothing is there, or not the \
      point, 68 another store has taken over, or the copies have other events, 69 the place cannot keep conditions, 74 it \
      does not answer, 75 another process has the store, or it follows, 124 --within is over, 130 \
      interrupted.
      """)

  @Argument(help: "The store's folder to ship, or the URL to follow.")
  var from: String

  @Argument(help: "The URL to ship to, or the folder of the copy.")
  var to: String?

  @Flag(help: "Go on until the command is interrupted.")
  var follow = false

  @Option(help: "The point at which a new store ends; see POINTS below.")
  var until: String?

  @Flag(help: "Only say which part the store has, and how far its copies are.")
  var status = false

  @Flag(help: "Make a store that follows the one that writes.")
  var takeOver = false

  @Flag(help: "Let a store that was overtaken follow again.")
  var rejoin = false

  @Option(help: "A member that --status lists, and whose machine is gone for ever.")
  var forget: String?

  @Flag(help: "Say what would be done, and change nothing.")
  var dryRun = false

  @Option(help: "How long to wait for the place, such as 30s or 5m. Default: no limit.")
  var within: String?

  @OptionGroup var wait: LockWaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    let limit = try within.map { text throws(CommandFailure) in try lengthOfTime(text, of: "--within") }
    let tasks = [status, takeOver, rejoin, forget != nil].count(where: \.self)
    switch (CarrierName.isOne(from), to.map(CarrierName.isOne)) {
    case (let isPlace, nil) where tasks == 1 && !follow && until == nil && !(isPlace && (takeOver || rejoin)):
      if status {
        if isPlace { try printMembers() } else { try printStatus() }
      } else if let forget {
        try forgetMember(forget, isPlace: isPlace)
      } else if takeOver {
        if dryRun { try planTakeover() } else { try becomeWriter(within: limit) }
      } else {
        if dryRun { try planRejoin() } else { try followAgain() }
      }
    case (false, true?) where tasks == 0 && until == nil:
      if dryRun { try planShipping(to: to!) } else { try ship(to: to!, within: limit) }
    case (true, false?) where tasks == 0 && until != nil && !follow: try restore(to: to!)
    case (true, false?) where tasks == 0 && until == nil:
      if dryRun { try planFollowing(to: to!) } else { try follow(to: to!, within: limit) }
    case (false, false?):
      throw CommandFailure(
        ExitStatus.usage, "neither of the two is a URL, so that both are stores", at: to ?? "",
        next: "write the place as file:/path")
    default:
      throw CommandFailure(
        ExitStatus.usage, "these arguments and options do not go together",
        next:
          "give a store and a URL, a URL and a folder, or a store with --status, --take-over, --rejoin or --forget"
      )
    }
  }

  func write(_ report: ReplicaReport, _ sentence: String) throws {
    var writer = OutputWriter()
    if output.format.isJSON {
      writer.bytes += report.json + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += report.text(sentence).utf8
    }
    try writer.flush()
  }

  func failing<Result>(
    at path: String, _ body: () throws(StoreError) -> Result
  ) throws(CommandFailure) -> Result {
    do throws(StoreError) { return try body() } catch { throw CommandFailure(replica: error, path) }
  }

  // MARK: Shipping

  private func ship(to place: String, within limit: Duration?) throws {
    let carrier = try CarrierName.carrier(place)
    let store = try OpenedStore.openForWriting(from, wait)
    defer { try? store.closeBlocking() }
    let shipping = try failing(at: from) { () throws(StoreError) in try store.shipBlocking(to: carrier) }
    let bar = ProgressBar("replicate", unit: "M events/s")
    let deadline = limit.map { MonotonicTime.now().advanced(by: $0) }
    while true {
      let status = shipping.status
      bar.update(status.position.sequence, of: store.head.sequence)
      if let failure = status.failure { throw CommandFailure(replica: failure, from) }
      // What segments hold is tried some times, and said.
      let holdsErased = status.holdsErased && status.segmentTrouble == nil
      if status.lag == 0, !holdsErased, shipping.settle(), !follow { break }
      try checkTime(deadline, status.trouble.map { "\($0.what)" })
      pauseBriefly()
    }
    bar.finish()
    let status = shipping.status
    try write(
      ReplicaReport(
        store: store.id, part: "writer", place: carrier.name, position: status.position, lag: status.lag),
      "events up to \(status.position.sequence) are in \(PeopleText.printable(carrier.name))")
    if let trouble = status.segmentTrouble {
      Terminal.note("no whole segments are there: \(PeopleText.printable(trouble.what))")
    }
    if !status.membersHoldingErased.isEmpty {
      Terminal.note(
        "members that have not said yet that they have erased what this store has: "
          + status.membersHoldingErased.joined(separator: ", "))
    }
    try failing(at: from) { () throws(StoreError) in try store.closeBlocking() }
  }

  private func checkTime(_ deadline: MonotonicTime?, _ trouble: String?) throws(CommandFailure) {
    guard let deadline, MonotonicTime.now() >= deadline else { return }
    throw CommandFailure(
      ExitStatus.timeout, "the time is over" + (trouble.map { ": \($0)" } ?? ""), at: "--within",
      next: "run the command again, which goes on where this one ends")
  }

  private func pauseBriefly() {
    let pause = Gate(())
    _ = pause.wait(timeout: .milliseconds(20)) { _ in false }
  }

  // MARK: Following

  private func follow(to path: String, within limit: Duration?) throws {
    let carrier = try CarrierName.carrier(from)
    let end = try copy(carrier, to: path, within: limit)
    try write(
      ReplicaReport(
        store: end.id, part: "follower", place: carrier.name, position: end.head, member: end.member),
      "\(PeopleText.printable(path)) has the events up to \(end.head.sequence)")
  }

  /// Takes what a place has into a folder, and leaves the note of it there.
  private func copy(
    _ carrier: any Carrier, to path: String, within limit: Duration?
  ) throws -> (id: String, head: LogPosition, member: String) {
    var options = StoreOptions()
    options.sealsInBackground = false
    if let timeout = try wait.timeout() { options.lockTimeout = timeout }
    let segments = ProgressBar("replicate")
    let (store, member) = try failing(at: path) { () throws(StoreError) in
      defer { segments.finish() }
      return try EventStore.openFollower(of: carrier, PosixFileSystem(), at: path, options: options) {
        segments.update($0, of: $1)
      }
    }
    defer { try? store.closeBlocking() }
    let last = try failing(at: path) { () throws(StoreError) in
      try CarrierLog(carrier, of: store.log.storeID).end().sequence
    }
    let bar = ProgressBar("replicate", unit: "M events/s")
    let deadline = limit.map { MonotonicTime.now().advanced(by: $0) }
    let follower = store.follower(from: carrier)
    var notes = NoteKeeper(store.log, in: carrier, as: .follower, member)
    var saysCurrent = false
    while true {
      var trouble: String?
      do throws(StoreError) {
        let hasTaken = try follower.step()
        notes.keep()
        if hasTaken {
          bar.update(store.head.sequence, of: max(last, store.head.sequence))
          continue
        }
        if !follow { break }
        if !saysCurrent {
          Terminal.note("\(path) has the events up to \(store.head.sequence), and waits for more")
          saysCurrent = true
        }
      } catch {
        guard error.reason == .carrierUnavailable else { throw CommandFailure(replica: error, path) }
        trouble = error.what
        if follow, saysCurrent { Terminal.note("\(PeopleText.printable(error.what)); it is tried again") }
        saysCurrent = false
      }
      try checkTime(deadline, trouble)
      carrier.waitForObject(follower.nextNumber, within: .milliseconds(200))
    }
    bar.finish()
    try failing(at: path) { () throws(StoreError) in try store.log.syncBuffered() }
    notes.keep(isLast: true)
    if let trouble = notes.trouble {
      Terminal.note(
        "the place does not take the note of how far this copy is, so that an erasure cannot know it: "
          + PeopleText.printable(trouble.what))
    }
    let head = store.head
    try failing(at: path) { () throws(StoreError) in try store.closeBlocking() }
    return (store.id, head, "\(member)")
  }

  private func restore(to path: String) throws {
    let carrier = try CarrierName.carrier(from)
    let point = try point()
    if dryRun { return try planRestore(carrier, point, to: path) }
    let bar = ProgressBar("replicate", unit: "M events/s")
    let receipt: RestoreReceipt
    do throws(StoreError) {
      receipt = try EventStore.restore(from: carrier, at: point, PosixFileSystem(), to: path) {
        bar.update($0, of: $1)
      }
    } catch {
      throw CommandFailure(restoring: error, at: until ?? path)
    }
    bar.finish()
    try write(
      ReplicaReport(
        store: receipt.store, part: "fork", place: carrier.name, position: receipt.position,
        origin: receipt.origin),
      "\(PeopleText.printable(path)) is a new store with the events up to \(receipt.position.sequence)")
  }

  private func point() throws(CommandFailure) -> LogPoint {
    let text = until ?? "head"
    switch try Point(text, times: TimeText(zone: output.zone)) {
    case .sequence(let sequence): return .sequence(sequence)
    case .head: return .head
    case .cursor(let position): return .position(position)
    case .time(let time): return .time(Timestamp(nanoseconds: time))
    case .back, .first, .id, .mark:
      throw CommandFailure(
        ExitStatus.usage, "this kind of point needs a store", at: text,
        next:
          "name a sequence, a time, head or cursor:SEQ@CHAIN; or follow first, and make a backup --until there"
      )
    }
  }

  // MARK: The part of a store

  private func printStatus() throws {
    let opened = try OpenedStore.open(from)
    defer { try? opened.store.closeBlocking() }
    let part = StorePart(of: opened.log)
    let members = part.flatMap { try? CopyList(in: try CarrierName.carrier($0.mark.carrier)) }
    var writer = OutputWriter()
    if output.format.isJSON {
      var line = JSONLine.document()
      line.field("uuid", opened.store.id)
      line.field("last", opened.store.head.sequence)
      if let part { line.raw("replica", part.json) }
      if let members { line.array("members", members.json) }
      writer.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += "the store \(part?.text ?? "has no copies that follow it")\n".utf8
      if let members { writer.bytes += members.text(PeopleText(zone: output.zone, isColored: false)).utf8 }
    }
    try writer.flush()
  }

  /// What a place has, and who has copies of it.
  private func printMembers() throws {
    let carrier = try CarrierName.carrier(from)
    let (end, members) = try failing(at: from) { () throws(StoreError) in
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

  private func forgetMember(_ member: String, isPlace: Bool) throws {
    let place = isPlace ? from : try part()?.carrier
    guard let place else { throw CommandFailure.noCopies(from) }
    let carrier = try CarrierName.carrier(place)
    try failing(at: place) { () throws(StoreError) in
      if dryRun {
        guard try CopyList(in: carrier).has(member) else { throw CopyList.unknown(member, carrier) }
      } else {
        try EventStore.forget(member, in: carrier)
      }
    }
    Terminal.note(dryRun ? "the member \(member) would be forgotten" : "the member \(member) is forgotten")
  }

  /// What the store's folder says of its part.
  func part() throws -> ReplicaMark? {
    let reader: OpenedStore
    do throws(CommandFailure) { reader = try OpenedStore.open(from) } catch {
      // A rejoin that was ended in the middle.
      var (failure, number) = (error, 1)
      while FileManager.default.fileExists(atPath: "\(from).before-rejoin-\(number)") { number += 1 }
      guard error.code == ExitStatus.notFound, number > 1 else { throw error }
      failure.next =
        "the store that was here is in \(from).before-rejoin-\(number - 1); follow again: logreplay replicate URL \(from)"
      throw failure
    }
    defer { try? reader.store.closeBlocking() }
    return reader.log.replica
  }

  private func followAgain() throws {
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
    let head = try copy(carrier, to: from, within: nil).head
    var sentence = "the store follows again, and has the events up to \(head.sequence)"
    if let aside = receipt.aside, let lines {
      sentence +=
        "\nonly it had \(counted(receipt.ownCount, "event")): in \(PeopleText.printable(lines)), and all of it in "
        + PeopleText.printable(aside)
    }
    try write(
      ReplicaReport(
        store: mark.storeID.description, part: "follower", place: carrier.name, position: head,
        member: "\(mark.member)", aside: receipt.aside, lines: lines), sentence)
  }

  private func becomeWriter(within limit: Duration?) throws {
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

extension CommandFailure {
  /// An error of a store, of its copies, or of the place between them.
  fileprivate init(replica error: StoreError, _ path: String) {
    self.init(error)
    if place.isEmpty { place = path }
    if case .invalid = error { code = ExitStatus.usage }
  }

  /// An error of a restore: what is wrong with the point is wrong with the arguments.
  init(restoring error: StoreError, at place: String) {
    self.init(replica: error, place)
    guard case .invalid(let what, let next) = error else { return }
    self = CommandFailure(ExitStatus.usage, what, at: place, next: next)
  }

  static func notFollowing(_ path: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.usage, "the store does not follow", at: path,
      next: "follow the place first: logreplay replicate URL STORE")
  }

  static func noCopies(_ path: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.usage, "the store has no copies", at: path, next: "follow a place into a new folder")
  }
}
