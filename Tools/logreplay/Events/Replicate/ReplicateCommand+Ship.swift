// `replicate STORE URL`: ships what the place lacks, and ends.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataReplica

extension ReplicateCommand {
  /// How long an erasure is waited for that is open elsewhere, unless --within says so.
  private static let erasingWait = Duration.seconds(5)

  /// Where the store is to be shipped: the URL that was given, or where it was shipped before.
  func shippingPlace() throws -> String {
    if let to { return to }
    let mark = try part()
    switch mark?.role {
    case .writer: return mark?.carrier ?? ""
    case .follower, .fenced:
      guard let refusal = mark?.refusal else { break }
      var failure = CommandFailure(refusal)
      if mark?.role == .follower {
        failure.next =
          "follow: logreplay replicate \(ShellWord.of(mark?.carrier ?? "")) \(ShellWord.of(from)); "
          + "or let it write: logreplay replicate \(ShellWord.of(from)) --take-over"
      }
      throw failure
    case .fork, nil: break
    }
    throw CommandFailure(
      ExitStatus.usage, "the store was not shipped anywhere yet, and no place is given", at: from,
      next: "name the place: logreplay replicate \(ShellWord.of(from)) file:/path")
  }

  func ship(within limit: Duration?) throws {
    let carrier = try CarrierName.carrier(try shippingPlace())
    let store = try OpenedStore.openForWriting(from, wait)
    defer { try? store.closeBlocking() }
    let shipping = try failing(at: from) { () throws(StoreError) in
      try store.shipBlocking(to: carrier, startingOver: startOver)
    }
    // Opening it has tried; what is still open cannot be carried out now.
    let isOpenHere = try failing(at: from) { () throws(StoreError) in try store.hasOpenErasures() }
    let bar = ProgressBar("replicate", unit: "M events/s")
    var lines = WaitingLines(carrier.name)
    let deadline = limit.map { MonotonicTime.now().advanced(by: $0) }
    while true {
      let status = shipping.status
      bar.update(status.position.sequence, of: store.head.sequence)
      if let failure = status.failure { throw CommandFailure(replica: failure, from) }
      lines.trouble(status.trouble?.what)
      let isSettled = status.lag == 0 && shipping.settle()
      // What segments hold is tried some times, and said.
      let holdsErased = status.holdsErased && status.segmentTrouble == nil && !isOpenHere
      if isSettled, !holdsErased { break }
      if status.lag == 0, isOver(deadline) { break }
      try checkTime(deadline, status.trouble?.what)
      pauseBriefly()
    }
    bar.finish()
    let patience: MonotonicTime = isOpenHere ? .now() : deadline ?? .now().advanced(by: Self.erasingWait)
    let isErased = waitUntilErased(shipping, until: patience)
    let status = shipping.status
    if let failure = status.failure { throw CommandFailure(replica: failure, from) }
    let holding = isErased ? [] : status.membersHoldingErased
    let erasure = ErasureState(
      isOpenHere: isOpenHere,
      isOpenThere: !isOpenHere && (status.holdsErased || (!isErased && holding.isEmpty)), waitsFor: holding)
    try failing(at: from) { () throws(StoreError) in try store.closeBlocking() }
    try report(status, store, carrier.name, erasure)
    guard let problem = erasure.problem(store: from, place: carrier.name), !isOpenHere, limit != nil else {
      return
    }
    throw CommandFailure(
      ExitStatus.timeout,
      "the time is over; everything is there up to \(status.position.sequence), and \(problem.what)",
      at: "--within", next: problem.next)
  }

  private func report(
    _ status: Shipping.Status, _ store: EventStore, _ place: String, _ erasure: ErasureState
  ) throws {
    var report = ReplicaReport(
      store: store.id, part: "writer", place: place, position: status.position, lag: status.lag)
    report.erasure = erasure
    report.segmentTrouble = status.segmentTrouble?.what
    try write(report, "events up to \(status.position.sequence) are in \(PeopleText.printable(place))")
    guard !output.format.isJSON else { return }
    if let trouble = report.segmentTrouble {
      Terminal.note("no whole segments are there: \(PeopleText.printable(trouble))")
    }
    // With --within it is an error, and said as one.
    guard within == nil || erasure.isOpenHere, let problem = erasure.problem(store: from, place: place) else {
      return
    }
    Terminal.note(PeopleText.printable(problem.what) + "\n  " + PeopleText.printable(problem.next))
  }

  /// Waits until what the store has erased is gone from every copy. Returns whether that is known.
  private func waitUntilErased(_ shipping: Shipping, until deadline: MonotonicTime) -> Bool {
    let found = Gate<Bool?>(nil)
    let left = Duration.nanoseconds(max(0, deadline.nanoseconds - MonotonicTime.now().nanoseconds))
    Task {
      var isErased = true
      do { try await shipping.erased(within: left) } catch { isErased = false }
      found.withLock { $0 = isErased }
      found.signalAll()
    }
    return found.wait { $0 }
  }
}
