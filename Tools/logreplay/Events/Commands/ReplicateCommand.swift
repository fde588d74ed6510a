// `replicate`: copies of a store on other machines.

internal import ArgumentParser
internal import LogreplayPoints
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

package struct ReplicateCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "replicate",
    abstract: "Ships a store to a place that others follow, follows one, or restores a store from it.",
    discussion: """
      A place is a URL: a folder, file:/path; a bucket, s3://BUCKET/PREFIX?region=R; or a stream of NATS JetStream, \
      nats://HOST,HOST,HOST/NAME. Buckets and JetStream are in a logreplay that is built with --traits Bucket,JetStream. The \
      path after file: is taken as it is: neither %20 nor ~ is replaced in it. What follows is a whole store, verified event \
      by event.

        replicate STORE URL               ships what the place lacks, and ends
        replicate STORE                   the same, to where it was shipped before
        replicate URL FOLDER              follows to the end; --follow goes on
        replicate URL FOLDER --until P    a new store of what is there up to P
        replicate STORE --status          its part, its copies, open erasures
        replicate URL --status            what is there, and who has copies
        replicate STORE --take-over       makes a store that follows the writer
        replicate STORE --rejoin          lets one that was overtaken follow
        replicate STORE --forget MEMBER   a copy whose machine is gone; or of a URL

      Shipping has the writer's lock until it ends, and --follow is for copies only: a program that appends ships itself, \
      store.ship(to:), and a shell runs this command after its appends. While a place does not answer, or a copy waits for \
      more, a line on standard error says so.

      With --dry-run a command looks at both sides, says what it would do or why it would be refused, and changes nothing. \
      What only a write shows, such as a full disk or a bucket that ignores conditions, it cannot know.

      An erasure is done once every copy has carried it out, or is forgotten. Shipping waits for that for at most 5 seconds, \
      then says who has not, and succeeds; with --within it waits for that long, and ends with 124.

      Without --within a command waits for as long as the place takes. --rejoin writes what only that store has to a file of \
      event lines beside it, moves its folder aside, and follows; import from that file into the writer what still holds.

      A point is the end of an append, given as a sequence, a time, head or cursor:SEQ@CHAIN. A store made with --until has an \
      id of its own, and keeps what is erased later where it came from.

      Exit codes: 64 a point inside an append, 65 what is in the place is damaged, 66 nothing is there, or not the \
      point, 68 another store has taken over, or the copies have other events, 69 the place cannot keep conditions, 73 the \
      folder cannot be made, 74 the place does not answer, or refuses, also after what --status says, 75 another process has \
      the store, or it follows, 124 --within is over, 130 interrupted.
      """)

  @Argument(help: "The store's folder to ship, or the URL to follow.")
  var from: String

  @Argument(
    help: "The URL to ship to, or the folder of the copy. Default: where the store was shipped before.")
  var to: String?

  @Flag(help: "Of a copy: go on until the command is interrupted.")
  var follow = false

  @Option(help: "The point at which a new store ends; see POINTS below.")
  var until: String?

  @Flag(
    help:
      "Only say which part the store has, how far its copies are, and whether they hold what it has erased.")
  var status = false

  @Flag(help: "Make a store that follows the one that writes.")
  var takeOver = false

  @Flag(help: "Let a store that was overtaken follow again.")
  var rejoin = false

  @Option(help: "A member that --status lists, or the begin of its id: one whose machine is gone for ever.")
  var forget: String?

  @Flag(help: "Ship to a place that is empty by now, though the store was shipped there.")
  var startOver = false

  @Flag(help: "Say what would be done, and change nothing.")
  var dryRun = false

  @Option(
    parsing: .unconditional,
    help:
      "How long to wait for the place, and for erasures elsewhere, such as 30s or 5m. Default: no limit, and 5s."
  )
  var within: String?

  @OptionGroup var wait: LockWaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    let limit = try within.map { text throws(CommandFailure) in try lengthOfTime(text, of: "--within") }
    // A call of a place that does not answer takes as long as it takes. What ends in time has a moment to say so.
    if let limit {
      try CommandEnding.end(
        at: .now().advanced(by: limit + .seconds(2)), with: .timeIsOver(nil), isJSON: output.format.isJSON)
    }
    let isPlace = CarrierName.isOne(from)
    try checkArguments(isPlace: isPlace)
    if status {
      if isPlace { try printMembers() } else { try printStatus() }
    } else if let forget {
      try forgetMember(forget, isPlace: isPlace)
    } else if takeOver {
      if dryRun { try planTakeover() } else { try becomeWriter(within: limit) }
    } else if rejoin {
      if dryRun { try planRejoin() } else { try followAgain() }
    } else if let to, isPlace {
      if until != nil { return try restore(to: to) }
      if dryRun { try planFollowing(to: to) } else { try follow(to: to, within: limit) }
    } else {
      if dryRun { try planShipping() } else { try ship(within: limit) }
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

  func checkTime(_ deadline: MonotonicTime?, _ trouble: String?) throws(CommandFailure) {
    if isOver(deadline) { throw .timeIsOver(trouble) }
  }

  func pauseBriefly() {
    let pause = Gate(())
    _ = pause.wait(timeout: .milliseconds(20)) { _ in false }
  }

  func isOver(_ deadline: MonotonicTime?) -> Bool { deadline.map { MonotonicTime.now() >= $0 } ?? false }
}

extension CommandFailure {
  fileprivate static func timeIsOver(_ trouble: String?) -> CommandFailure {
    CommandFailure(
      ExitStatus.timeout, "the time is over" + (trouble.map { ": \($0)" } ?? ""), at: "--within",
      next: "run the command again, which goes on where this one ends")
  }

  /// An error of a store, of its copies, or of the place between them.
  init(replica error: StoreError, _ path: String) {
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
