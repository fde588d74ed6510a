// A follower becomes the writer.

internal import StrataBase
public import StrataEvents
public import StrataLog

extension EventStore {
  /// Makes this follower the writer of its store: takes what the carrier still has, puts an object there which says that
  /// it writes from now on, and ships.
  ///
  /// The writer before it, if it still runs, is refused its next object, and its store refuses appends from then on. What
  /// it appended that nobody has seen is only in its folder: `rejoin` keeps it apart. If two followers take over at the
  /// same time, one wins, and the other goes on following.
  ///
  /// - Returns: the shipping, once this store takes appends.
  /// - Throws: `invalid` if the store does not follow; `fenced` if it was overtaken; `following` if another member has
  ///   taken over at the same time, which this store follows from then on; `carrierUnavailable` if the carrier does not
  ///   answer within the duration. Then it may have taken over or not, and the call can be repeated. Errors of following,
  ///   with which the store follows no longer until it is opened again.
  @discardableResult
  public func takeOver(within duration: Duration = .seconds(30)) async throws(StoreError) -> Shipping {
    let thread = machine.thread("strata-takeover")
    let result = await thread.result { [self] () throws(StoreError) in try takeOverBlocking(within: duration)
    }
    return try result.get()
  }

  /// Takes over as `takeOver(within:)` does, and blocks the calling thread. Do not call it on the cooperative pool.
  @discardableResult
  public func takeOverBlocking(within duration: Duration = .seconds(30)) throws(StoreError) -> Shipping {
    let holder = attachment { FollowingHolder() }
    guard let following = holder.following, var mark = log.replica, mark.role == .follower else {
      throw .notTakingOver(log.replica)
    }
    following.finish()
    if let failure = following.status.failure { throw failure }
    let carrier = following.carrier
    try CarrierLog(carrier, of: log.storeID).asStoreError { () throws(CarrierError) in try carrier.prove() }
    var takeover = Takeover(follower(from: carrier), log, carrier, as: mark.member)
    let deadline = MonotonicTime.now().advanced(by: duration)
    while try !takeover.step() {
      if let winner = takeover.winner {
        // The thread has no part in the store, which may be released while it follows.
        let (again, follower) = (following.again(), follower(from: carrier))
        try machine.start("strata-follow") { again.run(follower) }
        holder.replace(again)
        throw .replica(
          .following, place: carrier.name, what: "the member \(winner) has taken over at the same time",
          next: "nothing: this store follows it; to take over from it, ask again")
      }
      guard MonotonicTime.now() < deadline else {
        throw .replica(
          .carrierUnavailable, place: carrier.name,
          what: "it is not known whether this store has taken over: the carrier does not answer",
          next: "take over again; until then nothing is appended here")
      }
      carrier.waitForObject(.max, within: .milliseconds(50))
    }
    // Orders that the writer before did not finish are this store's to finish, and HEAD says so before it appends.
    let open = try hasOpenErasures()
    if open { try log.setErasing(true) }
    mark = log.replica ?? mark
    mark.role = .writer
    mark.erasedThrough = 0
    try log.setReplica(mark)
    holder.replace(nil)
    if open { try finishErasures() }
    return try shipBlocking(to: carrier)
  }
}

/// A takeover, step by step.
package struct Takeover: ~Copyable {
  private let follower: Follower
  private let log: Log
  private let objects: CarrierLog
  private let member: StoreID
  /// Whether a claim was put, and who wrote then; nil if no object has said so.
  private var hasTried = false
  private var writer: StoreID?
  /// The member that has taken over since the first claim of this one was put, which did not win.
  package private(set) var winner: StoreID?

  package init(_ follower: Follower, _ log: Log, _ carrier: any Carrier, as member: StoreID) {
    self.follower = follower
    self.log = log
    self.member = member
    objects = CarrierLog(carrier, of: log.storeID)
  }

  /// Takes one object that is there, or puts the claim after all of them. Returns true once the last object is one that
  /// this member put there; false if it has to be called again, soon.
  package mutating func step() throws(StoreError) -> Bool {
    do throws(StoreError) {
      while try follower.step() {}
    } catch {
      guard error.reason == .carrierUnavailable else { throw error }
      return false
    }
    // A claim of an earlier call may have won since.
    if let last = follower.lastObject, last.header.writer == member { return confirm(last) }
    if hasTried, let last = follower.lastObject,
      writer.map({ $0 != last.header.writer }) ?? (last.header.kind == WireKind.takeover)
    {
      winner = last.header.writer
      return false
    }
    if !hasTried { writer = follower.lastObject?.header.writer }
    hasTried = true
    // A power cut must not put this store back before its own claim.
    try log.syncBuffered()
    let mark = log.mark
    let end = WireEnd(
      sequence: mark.sequence, chain: mark.visible.chain, time: mark.time, appends: mark.appends)
    let claim = WireObject.takeover(of: log.storeID, by: member, number: follower.nextNumber, after: end)
    switch objects.carrier.put([claim.carried]) {
    case .stored: return try counts(follower.nextNumber)
    // Whatever is there is followed first, this claim too.
    case .stopped: return false
    }
  }

  /// Whether what was put under a number is there for others: it may have been free again, for one that slept for so long.
  /// False also if that is not known, since the claim is followed first by the next call.
  private func counts(_ number: UInt64) throws(StoreError) -> Bool {
    do throws(StoreError) { return try objects.object(number) != nil } catch {
      guard error.reason == .carrierUnavailable else { throw error }
      return false
    }
  }

  private func confirm(_ claim: WireObject) -> Bool {
    do throws(CarrierError) { try objects.carrier.confirm(claim.carried) } catch { return false }
    return true
  }
}

extension StoreError {
  fileprivate static func notTakingOver(_ mark: ReplicaMark?) -> StoreError {
    if mark?.role == .fenced, let refusal = mark?.refusal { return refusal }
    return .invalid(
      what: mark?.role == .writer ? "the store is the one that writes" : "the store does not follow",
      next: mark?.role == .writer
        ? "ship it, which goes on where it ended" : "open it by following the carrier, and take over then")
  }
}
