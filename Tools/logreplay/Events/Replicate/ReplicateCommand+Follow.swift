// `replicate URL FOLDER`: a copy that follows, and a new store of what was there at a point.

internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataReplica

extension ReplicateCommand {
  func follow(to path: String, within limit: Duration?) throws {
    let carrier = try CarrierName.carrier(from)
    let end = try copy(carrier, to: path, within: limit)
    var report = ReplicaReport(
      store: end.id, part: "follower", place: carrier.name, position: end.head, member: end.member)
    report.noteTrouble = end.noteTrouble
    try write(report, "\(PeopleText.printable(path)) has the events up to \(end.head.sequence)")
  }

  /// The end of a copy.
  struct CopyEnd {
    var id: String
    var head: LogPosition
    var member: String
    /// Why the place does not have the note of how far the copy is; nil if it has.
    var noteTrouble: String?
  }

  /// Takes what a place has into a folder, and leaves the note of it there.
  func copy(
    _ carrier: any Carrier, to path: String, within limit: Duration?
  ) throws -> CopyEnd {
    // Before the place has a note of it, for which an erasure would wait.
    try failing(at: path) { () throws(StoreError) in try LookingFileSystem.checkCopy(at: path) }
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
    var lines = WaitingLines(carrier.name)
    var isCaughtUp = false
    while true {
      var trouble: String?
      do throws(StoreError) {
        let hasTaken = try follower.step()
        notes.keep()
        lines.trouble(nil)
        if follow { lines.trouble(notes.trouble?.what, of: .note) }
        if hasTaken {
          if !isCaughtUp { bar.update(store.head.sequence, of: max(last, store.head.sequence)) }
          continue
        }
        if !follow { break }
        isCaughtUp = true
        lines.position("\(path) has the events up to \(store.head.sequence), and waits for more")
      } catch {
        guard error.reason == .carrierUnavailable else { throw CommandFailure(replica: error, path) }
        trouble = error.what
        lines.trouble(trouble)
      }
      try checkTime(deadline, trouble)
      carrier.waitForObject(follower.nextNumber, within: .milliseconds(200))
    }
    bar.finish()
    try failing(at: path) { () throws(StoreError) in try store.log.syncBuffered() }
    notes.keep(isLast: true)
    if let trouble = notes.trouble, !output.format.isJSON {
      Terminal.note(
        "the place does not take the note of how far this copy is, so that an erasure cannot know it: "
          + PeopleText.printable(trouble.what))
    }
    let head = store.head
    try failing(at: path) { () throws(StoreError) in try store.closeBlocking() }
    return CopyEnd(id: store.id, head: head, member: "\(member)", noteTrouble: notes.trouble?.what)
  }

  func restore(to path: String) throws {
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
    noteEmpty(receipt.position.sequence)
    try write(
      ReplicaReport(
        store: receipt.store, part: "fork", place: carrier.name, position: receipt.position,
        origin: receipt.origin),
      "\(PeopleText.printable(path)) is a new store with the events up to \(receipt.position.sequence)")
  }

  func point() throws(CommandFailure) -> LogPoint {
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

  /// Says that a new store has nothing: the point may have been meant as another one.
  func noteEmpty(_ sequence: UInt64) {
    guard sequence == 0 else { return }
    Terminal.note(
      "logreplay: warning: the point \(until ?? "head") is before the first event: the new store is empty")
  }
}
