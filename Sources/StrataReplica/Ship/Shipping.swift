// A store whose events go to a carrier in the background.

internal import StrataBase
public import StrataEvents
public import StrataLog

/// The shipping of an open store: a thread that puts what is on disk into a carrier, and what is known of it.
///
/// It ends when the store is closed, suspended or released, or when another member has taken over. Appends never wait for it.
/// A close waits for a call of the carrier for two seconds at most: what is not there by then is shipped the next time.
public final class Shipping: Sendable {
  /// How far the copy is.
  public struct Status: Sendable, Equatable {
    /// Everything up to here is in the carrier.
    public var position: LogPosition
    /// How many events the store has that are not known to be there.
    public var lag: UInt64
    /// Whether the carrier may hold content that the store has erased.
    public var holdsErased: Bool
    /// The members that have not said yet that they have carried out what this store has erased, by their ids. One whose
    /// machine is gone is waited for until it is forgotten.
    public var membersHoldingErased: [String]
    /// Why the last try did not succeed; nil if it did. It is tried again.
    public var trouble: CarrierError?
    /// Why the last try to put whole segments beside the objects did not succeed; nil if it did. It is tried again, and
    /// nothing is lost meanwhile: objects stay.
    public var segmentTrouble: StoreError?
    /// Why nothing more is shipped; nil while it goes on.
    public var failure: StoreError?
  }

  /// What a task waits for.
  private enum Wish: Sendable {
    case shipped(UInt64)
    case erased(UInt64)
  }

  private struct State {
    var end: WireEnd?
    var erasedCount: UInt64 = 0
    /// Whether objects may hold erased content.
    var holdsErased = false
    /// The count of orders and notes that all members have carried out, and who has not carried out later ones.
    var erasedByAll: UInt64 = 0
    var holding: [String] = []
    var nextAsk = MonotonicTime.now()
    /// Whether everything was shipped and erased at the last step, and the members were asked since.
    var isSettled = false
    var trouble: CarrierError?
    var failure: StoreError?
    var isStopping = false
    /// What the last step for whole segments has found; both are as if there were none in a carrier that keeps none.
    var segmentsErasedCount: UInt64 = .max
    var segmentsThrough: UInt64?
    var segmentTrouble: StoreError?
    /// How often it was tried since the last success.
    var segmentTries = 0
    /// Whether somebody waits for what segments hold.
    var isHurried = false
    /// How many threads have not made their last step.
    var threadCount = 0
    /// Set when there may be something to ship.
    var isCalled = false
    var waiters = WaitList<Wish, Void>()

    func isTrue(_ wish: Wish) -> Bool {
      switch wish {
      case .shipped(let sequence): (end?.sequence ?? 0) >= sequence && end != nil
      case .erased(let count):
        erasedCount >= count && erasedByAll >= count && segmentsErasedCount >= count
      }
    }

    var hasSegments: Bool { segmentsErasedCount != .max || segmentsThrough != nil }
  }

  private let state = Gate(State())
  private let log: Log
  let carrier: any Carrier
  private let member: StoreID

  init(_ log: Log, to carrier: any Carrier, as member: StoreID) {
    self.log = log
    self.carrier = carrier
    self.member = member
  }

  public var status: Status {
    let state = state.withLock { $0 }
    let (sequence, head) = (state.end?.sequence ?? 0, log.mark.sequence)
    return Status(
      position: LogPosition(sequence: sequence, chain: state.end?.chain ?? 0),
      lag: head > sequence ? head - sequence : 0,
      holdsErased: state.holdsErased || state.segmentsErasedCount < state.erasedCount,
      membersHoldingErased: state.holding, trouble: state.trouble, segmentTrouble: state.segmentTrouble,
      failure: state.failure)
  }

  /// Whether there is nothing more to do. What is left is done soon, and not at its own time.
  package func settle() -> Bool {
    let isDone = state.withLock { state in
      state.isHurried = true
      let isShort = state.segmentsThrough != state.end?.sequence && state.segmentTrouble == nil
      let isTriedAgain = state.segmentTrouble?.reason == .carrierUnavailable && state.segmentTries < 4
      return state.isSettled && !(state.hasSegments && (isShort || isTriedAgain))
    }
    state.signalAll()
    return isDone
  }

  /// Ends the shipping. What is in progress may still arrive.
  public func stop() { end(nil) }

  private func end(_ failure: StoreError?) {
    let waiting = state.withLock { state in
      state.isStopping = true
      if failure != nil { state.failure = failure }
      return state.waiters.takeAll()
    }
    state.signalAll()
    for continuation in waiting { continuation.resume() }
  }

  /// Waits, but not for long, until the threads have made their last steps: a program that ends while they talk to a
  /// carrier takes the libraries away under them. Blocks.
  func finish() {
    stop()
    _ = state.wait(timeout: Self.endMax) { $0.threadCount == 0 }
  }

  private func leave() {
    state.withLock { $0.threadCount -= 1 }
    state.signalAll()
  }

  /// How long a store that is closed waits for a call of its carrier.
  static let endMax = Duration.seconds(2)

  /// Suspends until everything that the store has now is in the carrier, as durably as that can make it.
  ///
  /// - Throws: `carrierUnavailable` if that is not known within the duration: what is in progress may still arrive. Why
  ///   nothing more is shipped, if that is so. `CancellationError`.
  public func replicated(within duration: Duration) async throws {
    try await replicated(through: log.mark.sequence, within: duration)
  }

  /// Whether the log that is shipped has this chain after a sequence. Reads a block of it, on another thread.
  func has(_ position: LogPosition) async throws(StoreError) -> Bool {
    let found = await log.options.machine.reads.result { [log] () throws(StoreError) in
      try log.chain(after: position.sequence) == position.chain
    }
    return try found.get()
  }

  func replicated(through sequence: UInt64, within duration: Duration) async throws {
    // Only what is on disk is shipped.
    if log.mark.durable.sequence < sequence {
      let synced = await log.options.machine.thread("strata-sync").result { [log] () throws(StoreError) in
        try log.syncBuffered()
      }
      try synced.get()
    }
    try await wait(for: .shipped(sequence), within: duration) { unknown("sequence \(sequence) is there", $0) }
  }

  /// Suspends until neither the carrier nor any member holds what this store has erased. What was shipped before an erasure
  /// is replaced after it, in the background, and each member erases once it has followed up to there, and says so. Servers
  /// may need some minutes more until their own logs hold nothing of it: the page of such a carrier says so.
  ///
  /// - Throws: as `replicated(within:)`, also if an order to erase is not carried out in this store, or not by a member,
  ///   which is named.
  public func erased(within duration: Duration) async throws {
    let counted = await log.options.machine.thread("strata-count").result { [log] () throws(StoreError) in
      try log.erasureCount()
    }
    state.withLock { $0.isHurried = true }
    state.signalAll()
    try await wait(for: .erased(try counted.get()), within: duration) {
      unknown("what was erased is gone from there and from every member", $0)
    }
  }

  private func wait(
    for wish: Wish, within duration: Duration, orThrow unknown: (_ isStopping: Bool) -> StoreError
  ) async throws {
    let timer = Task { [self] in
      try? await Task.sleep(for: duration)
      // Again and again, since the task may just be about to wait.
      while !Task.isCancelled {
        wakeAll()
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    defer { timer.cancel() }
    let deadline = MonotonicTime.now().advanced(by: duration)
    while true {
      let (isDone, failure, isStopping) = state.withLock { ($0.isTrue(wish), $0.failure, $0.isStopping) }
      if isDone { return }
      if let failure { throw failure }
      try Task.checkCancellation()
      guard !isStopping, MonotonicTime.now() < deadline else { throw unknown(isStopping) }
      await wait(for: wish)
    }
  }

  private func unknown(_ what: String, _ isStopping: Bool) -> StoreError {
    let (trouble, holding) = state.withLock { ($0.trouble, $0.holding) }
    let why =
      trouble?.what
      ?? (holding.isEmpty ? nil : "members that have not said so: " + holding.joined(separator: ", "))
    let wait =
      holding.isEmpty
      ? "wait for longer; what is in progress may still arrive"
      : "let these members follow; forget one whose machine is gone for ever"
    return .replica(
      .carrierUnavailable, place: carrier.name,
      what: "it is not known whether \(what)" + (why.map { ": \($0)" } ?? ""),
      next: isStopping ? "ship the store again" : trouble?.next ?? wait)
  }

  private func wait(for wish: Wish) async {
    let ticket = state.withLock { $0.waiters.ticket() }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let waits = state.withLock { state in
          !state.isStopping && !state.isTrue(wish) && state.waiters.add(ticket, for: wish, continuation)
        }
        if waits { state.signalAll() } else { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.cancel(ticket) }?.resume()
    }
    state.withLock { $0.waiters.forget(ticket) }
  }

  private func wakeAll() {
    for continuation in state.withLock({ $0.waiters.takeAll() }) { continuation.resume() }
  }

  // MARK: The thread

  /// Ships until it is stopped or cannot go on. Blocks.
  func run(_ shipper: Shipper) {
    defer { leave() }
    var pause = Self.pauseMin
    var notes = NoteKeeper(log, in: carrier, as: .writer, member)
    var lastAsked = MonotonicTime.now()
    while !state.withLock({ $0.isStopping }) {
      do throws(StoreError) {
        let step = try shipper.step()
        publish(shipper, step)
        // Where appends never end, nothing is ever idle.
        if step == .idle || lastAsked.advanced(by: Self.askInterval) < MonotonicTime.now() {
          keepNote(&notes, shipper)
          askMembers(shipper)
          lastAsked = MonotonicTime.now()
        }
        switch step {
        case .shipped:
          pause = Self.pauseMin
          if !shipper.hasBacklog { gather() }
        case .idle:
          guard !waitForMore(than: shipper.end?.sequence ?? 0) else {
            gather()
            break
          }
          // Where appends are only buffered, nothing else puts them on disk.
          try log.syncBuffered()
          try shipper.look()
        case .trouble(let error):
          let limit = error.reason == .unreachable ? Self.pauseMax : Self.pauseRefused
          _ = state.wait(timeout: pause) { $0.isStopping }
          pause = min(pause * 2, limit)
        }
      } catch {
        // A store that is being closed or suspended takes its files away.
        end(log.tail.end == nil ? error : nil)
      }
    }
  }

  /// Keeps whole segments up to date until it is stopped, on a thread of its own: a segment takes seconds, for which no
  /// append may wait.
  func run(_ segments: SegmentShipping) {
    defer { leave() }
    var segments = segments
    var pause = Self.askInterval
    var isFirst = true
    while true {
      let isAwaited = state.withLock { !$0.waiters.isEmpty || $0.isHurried }
      _ = state.wait(timeout: isAwaited ? Self.askInterval : Self.lookInterval) { state in
        // At first nothing is known of what segments hold, and somebody may soon ask.
        state.isStopping
          || ((state.isHurried || isFirst) && state.end != nil
            && state.segmentsThrough != state.end?.sequence)
      }
      isFirst = false
      let through = state.withLock { $0.isStopping ? nil : $0.end?.sequence ?? 0 }
      guard let through, log.tail.end == nil else { break }
      var trouble: StoreError?
      do throws(StoreError) {
        while try segments.step(through: through, isStopped: { state.withLock { $0.isStopping } }) {}
      } catch { trouble = error }
      let ready = state.withLock { state in
        state.segmentsErasedCount = segments.erasedCount
        if trouble == nil { state.segmentsThrough = through }
        state.segmentTries = trouble == nil ? 0 : state.segmentTries + 1
        state.segmentTrouble = trouble
        state.isHurried = false
        let reached = state
        return state.waiters.take { reached.isTrue($0) }
      }
      for continuation in ready { continuation.resume() }
      guard trouble != nil else {
        pause = Self.askInterval
        continue
      }
      _ = state.wait(timeout: pause) { $0.isStopping }
      pause = min(pause * 2, Self.pauseRefused)
    }
  }

  /// Waits while nobody waits for the copy: what is appended meanwhile goes into the same object. One of its own for each
  /// append would cost the writer more than the append.
  private func gather() {
    _ = state.wait(timeout: Self.gathering) { $0.isStopping || !$0.waiters.isEmpty }
  }

  private static let pauseMin = Duration.milliseconds(100)
  private static let pauseMax = Duration.seconds(2)
  private static let pauseRefused = Duration.seconds(30)

  /// Says how far this store is: not more than the carrier has, since what is after it may never be anybody else's.
  private func keepNote(_ notes: inout NoteKeeper, _ shipper: Shipper) {
    guard let end = shipper.end else { return }
    let isErased = (try? log.erasureCount()) == shipper.erasedCount
    notes.keep(
      through: LogMark(offset: 0, sequence: end.sequence, chain: end.chain),
      erasedThrough: isErased ? nil : shipper.erasedThrough)
  }

  /// Whether the members are to be asked: often where somebody waits for them, otherwise at most once a minute.
  private func isTimeToAsk() -> Bool {
    state.withLock { state in
      let now = MonotonicTime.now()
      guard state.isHurried || !state.waiters.isEmpty || state.nextAsk <= now else { return false }
      state.nextAsk = now.advanced(by: .seconds(60))
      return true
    }
  }

  /// Asks whether every member has carried out what this store and the carrier have. Nothing if that is known.
  private func askMembers(_ shipper: Shipper) {
    let count = shipper.erasedCount
    defer { state.withLock { $0.isSettled = true } }
    guard state.withLock({ $0.erasedByAll < count }), isTimeToAsk() else { return }
    do throws(CarrierError) {
      let own = member.description
      let holding = try carrier.notes().map { StoreMember($0, of: log.storeID) }
        .filter { member in
          guard member.id != own else { return false }
          return member.mayHold(erasedThrough: shipper.erasedThrough) || (try? member.isLike(log)) != true
        }
      let ready = state.withLock { state in
        state.holding = holding.map(\.id).sorted()
        if holding.isEmpty { state.erasedByAll = count }
        let reached = state
        return state.waiters.take { reached.isTrue($0) }
      }
      for continuation in ready { continuation.resume() }
    } catch {
      state.withLock { $0.trouble = error }
    }
  }

  func publish(_ shipper: Shipper, _ step: Shipper.Step) {
    let (end, erasedCount) = (shipper.end, shipper.erasedCount)
    // Asked for here, since it may read an index.
    let holdsErased = (try? log.erasureCount()).map { $0 > erasedCount } ?? true
    let ready = state.withLock { state in
      state.end = end
      state.erasedCount = erasedCount
      state.holdsErased = holdsErased
      state.isSettled = false
      state.trouble = if case .trouble(let error) = step { error } else { nil }
      let reached = state
      return state.waiters.take { reached.isTrue($0) }
    }
    for continuation in ready { continuation.resume() }
  }

  /// How long appends are gathered while nobody waits for them.
  private static let gathering = Duration.milliseconds(25)

  /// How often a writer without anything to ship looks whether it was overtaken, and asks for the members' notes, if
  /// somebody waits for what they say.
  private static let lookInterval = Duration.seconds(5)
  private static let askInterval = Duration.milliseconds(500)

  /// Waits until there is a durable event after a sequence, somebody waits for something, the log ends, or the shipping is
  /// stopped. False if there was nothing for a while.
  private func waitForMore(than sequence: UInt64) -> Bool {
    state.withLock { $0.isCalled = false }
    let waiting = Task { [self] in
      await log.tail.wait(beyond: sequence, durably: true)
      state.withLock { $0.isCalled = true }
      state.signalAll()
    }
    let isAwaited = state.withLock { !$0.waiters.isEmpty }
    let hasMore = state.wait(timeout: isAwaited ? Self.askInterval : Self.lookInterval) {
      $0.isCalled || $0.isStopping || (!isAwaited && !$0.waiters.isEmpty)
    }
    waiting.cancel()
    if log.tail.end != nil { end(nil) }
    return hasMore
  }

  /// Starts the threads.
  func start(_ shipper: Shipper, on machine: StoreMachine) throws(StoreError) {
    state.withLock { $0.threadCount = 1 }
    do throws(StoreError) { try machine.start("strata-ship") { [self] in run(shipper) } } catch {
      leave()
      throw error
    }
    guard let segments = SegmentShipping(log, carrier, as: member) else { return }
    state.withLock { state in
      state.segmentsErasedCount = 0
      state.threadCount += 1
    }
    do throws(StoreError) { try machine.start("strata-segments") { [self] in run(segments) } } catch {
      leave()
      stop()
      throw error
    }
  }
}
