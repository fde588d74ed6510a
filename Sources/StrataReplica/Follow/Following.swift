// A store that takes what another machine appends, in the background.

internal import StrataBase
public import StrataEvents
public import StrataLog

/// The following of an open store: a thread that takes what a carrier has, and what is known of it. It ends when the store
/// is closed, suspended or released. A close waits for a call of the carrier for two seconds at most.
public final class Following: Sendable {
  /// How far this copy is.
  public struct Status: Sendable, Equatable {
    /// The number of the next object that is waited for.
    public var nextObject: UInt64
    /// Whether everything that was in the carrier at the last look is here.
    public var isCurrent: Bool
    /// Why the last look did not succeed; nil if it did. It is tried again.
    public var trouble: StoreError?
    /// Why the carrier does not have this copy's note of how far it is, by which the writer knows what is erased here; nil
    /// if it has. It is tried again, and following goes on.
    public var noteTrouble: StoreError?
    /// Why nothing more is taken; nil while it goes on.
    public var failure: StoreError?
  }

  private struct State {
    var status = Status(nextObject: 1, isCurrent: false)
    /// How many looks at the carrier have begun, and the last of them that found nothing new.
    var looks = 0
    var currentLook = 0
    var isStopping = false
    var isEnded = false
    var waiters = WaitList<Void, Void>()
  }

  private let state = Gate(State())
  let log: Log
  let carrier: any Carrier
  let member: StoreID
  private let interval: Duration

  init(_ log: Log, from carrier: any Carrier, as member: StoreID, lookingEvery interval: Duration) {
    self.log = log
    self.carrier = carrier
    self.member = member
    self.interval = interval
  }

  public var status: Status { state.withLock { $0.status } }

  /// Ends the following. The store can be read as it is.
  public func stop() {
    let waiting = state.withLock { state in
      state.isStopping = true
      return state.waiters.takeAll()
    }
    state.signalAll()
    for continuation in waiting { continuation.resume() }
  }

  /// Suspends until this copy has everything that was in the carrier at some moment after the call.
  ///
  /// - Throws: why nothing more is taken. `CancellationError`.
  public func caughtUp() async throws {
    // The look that runs may have missed what was stored since it asked.
    let running = state.withLock { $0.looks }
    while true {
      let (failure, isCurrent, isStopping) = state.withLock { state in
        (state.status.failure, state.currentLook > running, state.isStopping)
      }
      if let failure { throw failure }
      if isCurrent { return }
      try Task.checkCancellation()
      guard !isStopping else { throw StoreError.closed }
      await wait(forLookAfter: running)
    }
  }

  private func wait(forLookAfter running: Int) async {
    let ticket = state.withLock { $0.waiters.ticket() }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let waits = state.withLock { state in
          !state.isStopping && state.currentLook <= running && state.status.failure == nil
            && state.waiters.add(ticket, for: (), continuation)
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.cancel(ticket) }?.resume()
    }
    state.withLock { $0.waiters.forget(ticket) }
  }

  // MARK: The thread

  /// Follows until it is stopped or cannot go on. Blocks.
  func run(_ follower: Follower) {
    var pause = Self.pauseMin
    var notes = NoteKeeper(log, in: carrier, as: .follower, member)
    while !state.withLock({ $0.isStopping }) {
      state.withLock { $0.looks += 1 }
      do throws(StoreError) {
        let hasTaken = try follower.step()
        pause = Self.pauseMin
        notes.keep()
        publish(follower.nextNumber, isCurrent: !hasTaken, notes.trouble)
        if !hasTaken { carrier.waitForObject(follower.nextNumber, within: interval) }
      } catch {
        guard log.tail.end == nil else {
          stop()
          break
        }
        if error.reason == .carrierUnavailable || error.canBeTriedAgain {
          state.withLock { $0.status.trouble = error }
          _ = state.wait(timeout: pause) { $0.isStopping }
          pause = min(pause * 2, Self.pauseMax)
        } else {
          fail(error)
        }
      }
    }
    state.withLock { $0.isEnded = true }
    state.signalAll()
  }

  private static let pauseMin = Duration.milliseconds(100)
  private static let pauseMax = Duration.seconds(2)

  private func publish(_ number: UInt64, isCurrent: Bool, _ noteTrouble: CarrierError?) {
    let ready = state.withLock { state in
      state.status.nextObject = number
      state.status.isCurrent = isCurrent
      state.status.trouble = nil
      state.status.noteTrouble = noteTrouble.map { .carrier($0, carrier.name) }
      if isCurrent { state.currentLook = state.looks }
      return isCurrent ? state.waiters.takeAll() : []
    }
    for continuation in ready { continuation.resume() }
  }

  private func fail(_ error: StoreError) {
    state.withLock { $0.status.failure = error }
    stop()
  }

  /// A following of the same carrier that has not begun.
  func again() -> Following { Following(log, from: carrier, as: member, lookingEvery: interval) }

  /// Stops, and waits until the thread has made its last step.
  ///
  /// - Parameter limit: how long to wait at most; nil for as long as it takes.
  func finish(within limit: Duration? = nil) {
    stop()
    if let limit {
      _ = state.wait(timeout: limit) { $0.isEnded }
    } else {
      state.wait { $0.isEnded }
    }
  }
}

extension StoreError {
  /// Whether a follower that met it goes on with the same object: the disk is full, or the system refused a call.
  fileprivate var canBeTriedAgain: Bool {
    if case .full = self { return true }
    return reason == .system
  }
}

/// What a store keeps of its following; ends it with the store.
final class FollowingHolder: StoreAttachment, Sendable {
  private let state = Lock<Following?>(nil)

  var following: Following? { state.withLock { $0 } }

  func replace(_ following: Following?) { state.withLock { $0 = following } }

  func storeWillClose() -> @Sendable () -> Void {
    let following = following
    following?.stop()
    return { following?.finish(within: Shipping.endMax) }
  }

  deinit { following?.stop() }
}

extension EventStore {
  /// The following of this store; nil if it was not opened by `follow(from:at:options:lookingEvery:)`.
  public var following: Following? { attachment { FollowingHolder() }.following }

  /// Opens a copy of the store that a carrier holds, and takes what comes in the background.
  ///
  /// The folder is created if there is none, and continued if it follows this store. Feeds, lists and points of the past
  /// work on it as on any store, and move with it. It takes no appends, saves no positions of consumers, and erases
  /// only what the writer erases: those calls throw `unavailable` with the reason `following`.
  ///
  /// ```swift
  /// let copy = try await EventStore.follow(from: FolderCarrier(path: "/backup/desk"), at: "copy.strata")
  /// try await copy.following?.caughtUp()
  /// ```
  ///
  /// - Parameters:
  ///   - carrier: what another machine ships to.
  ///   - path: the folder of the copy.
  ///   - options: the options of the copy.
  ///   - interval: how often to look for more where nothing tells that there is. On a bucket each look costs a request.
  /// - Throws: the errors of an open for writing; `carrierUnavailable` if the carrier does not answer; `notFound` if it holds nothing yet;
  ///   `invalid` if a store that does not follow is at the path.
  public static func follow(
    from carrier: any Carrier, at path: String, options: StoreOptions = StoreOptions(),
    lookingEvery interval: Duration = .milliseconds(200)
  ) async throws -> EventStore {
    let thread = options.machine.thread("strata-follow")
    let result = await thread.result { () throws(StoreError) in
      try follow(from: carrier, PosixFileSystem(), at: path, options: options, lookingEvery: interval)
    }
    return try result.get()
  }

  /// Follows on any file system. Blocks.
  package static func follow(
    from carrier: any Carrier, _ fileSystem: any FileSystem, at path: String,
    options: StoreOptions = StoreOptions(), lookingEvery interval: Duration = .milliseconds(200)
  ) throws(StoreError) -> EventStore {
    let (store, member) = try openFollower(of: carrier, fileSystem, at: path, options: options)
    let following = Following(store.log, from: carrier, as: member, lookingEvery: interval)
    let follower = store.follower(from: carrier)
    do throws(StoreError) {
      store.attachment { FollowingHolder() }.replace(following)
      try store.machine.start("strata-follow") { following.run(follower) }
    } catch {
      try? store.closeBlocking()
      throw error
    }
    return store
  }

  /// Opens the folder of a follower, and makes it one if it holds no event yet.
  ///
  /// - Parameter progress: called with the bytes of whole segments that were copied, and with all of them.
  package static func openFollower(
    of carrier: any Carrier, _ fileSystem: any FileSystem, at path: String, options: StoreOptions,
    progress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> (EventStore, member: StoreID) {
    let objects = CarrierLog(carrier, of: nil)
    guard let storeID = try objects.foundStoreID() else { throw .nothingThere(carrier.name) }
    try seed(from: objects, fileSystem, at: path, of: storeID, options: options, progress)
    let log = try Log.openWriter(fileSystem, path: path, options: options, storeID: storeID) {
      part, isEmpty throws(StoreError) in
      guard var mark = part else {
        guard isEmpty else { throw .notFollowing(path) }
        let fresh = ReplicaMark(.follower, of: storeID, member: .random(), carrier: carrier.name)
        announce(fresh, in: carrier)
        return fresh
      }
      guard mark.role == .follower else { throw mark.refusal ?? .notFollowing(path) }
      guard mark.storeID == storeID else {
        throw .invalid(
          what: "\(path) follows another store, \(mark.storeID), and \(carrier.name) holds \(storeID)",
          next: "choose another folder, or the carrier of that store")
      }
      guard mark.carrier != carrier.name else { return nil }
      mark.carrier = carrier.name
      return mark
    }
    guard let mark = log.replica else { throw .closed }
    return (EventStore(log: log), mark.member)
  }

  /// Says that there will be a copy, before it has anything: from then on an erasure waits for it. A carrier that does not
  /// take the note may be one that this machine must not write into.
  static func announce(
    _ mark: ReplicaMark, as part: MemberNote.Part = .follower, at end: WireEnd? = nil,
    in carrier: any Carrier
  ) {
    let note = MemberNote(
      part, of: mark.storeID, member: mark.member, sequence: end?.sequence ?? 0, chain: end?.chain ?? 0,
      erasedThrough: 0, time: StoreClock.system.now())
    try? carrier.setNote(CarrierNote(member: mark.member.description, bytes: note.encoded()))
  }

  /// Copies the whole segments of a carrier into a folder that holds nothing yet: as fast as files are copied, and as well
  /// checked as what comes later.
  private static func seed(
    from objects: CarrierLog, _ fileSystem: any FileSystem, at path: String, of storeID: StoreID,
    options: StoreOptions, _ progress: @Sendable (UInt64, UInt64) -> Void
  ) throws(StoreError) {
    guard let segments = objects.segments else { return }
    // A manifest may be replaced while its segments are copied.
    for _ in 0..<CarrierSegments.triesMax {
      guard case .unfinished(let member) = try LogSeed.state(fileSystem, path: path),
        let manifest = try segments.latest()
      else { return }
      var mark = ReplicaMark(
        .follower, of: storeID, member: member ?? .random(), carrier: objects.carrier.name)
      // Orders after the segments come as objects, and are carried out where they are followed.
      mark.erasedThrough = min(manifest.erasedThrough, manifest.last)
      announce(mark, in: objects.carrier)
      do throws(StoreError) {
        return try LogSeed(to: fileSystem, path: path, as: mark)
          .run(
            manifest.entries.map(segments.offer),
            on: options.writesInStep ? .none : options.machine.parallel,
            timeout: options.lockTimeout, progress: progress)
      } catch {
        guard error.reason == .carrierUnavailable, try segments.latest() != manifest else { throw error }
      }
    }
  }
}

extension StoreError {
  fileprivate static func notFollowing(_ path: String) -> StoreError {
    .invalid(
      what: "\(path) holds a store that does not follow", next: "choose a folder that is not there yet")
  }
}
