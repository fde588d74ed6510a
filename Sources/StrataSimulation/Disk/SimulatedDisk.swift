// A simulated disk that can lose its power, run full and fail, reproducibly from a seed.

internal import StrataBase
internal import StrataLog

/// A file system in memory that tracks which of its data is on the medium.
///
/// A write is durable after `sync` or `syncData` of its file. A name is durable after `syncDirectory` of its folder;
/// syncing a new file does not make its name durable. `syncData` guarantees only the length that is needed to read the
/// content back, so a file that was truncated and then synced only with `syncData` may have its old length, and old
/// bytes, after a power cut.
///
/// ```swift
/// let disk = SimulatedDisk()
/// disk.cutPower(atOperation: 30)
/// var acknowledged: UInt64 = 0
/// do {
///   let store = try await disk.open(at: "/store")
///   while true {
///     try await store.append([NewEvent("counted", in: "counter", .int(1))])
///     acknowledged += 1
///   }
/// } catch where disk.isPoweredOff {}
/// let store = try await disk.afterPowerCut(seed: 1).open(at: "/store")
/// #expect(try await store.version(of: "counter") >= acknowledged)
/// ```
///
/// What remains after a power cut is determined by the calls before it and by the seed. Calls from several threads are
/// ordered by the disk's lock; a store writes in threads of its own, so that the same work may need a few calls more or
/// less the next time. Every file is kept twice in memory, as programs see it and as it is on the medium.
public final class SimulatedDisk: Sendable {
  struct State {
    var image: SimulatedImage
    var locks: [SimulatedImage.Inode: AdvisoryLocks] = [:]
    var openCounts: [SimulatedImage.Inode: Int] = [:]
    var lastOwner: UInt64 = 0
    var operationCount = 0
    /// The last token that was given. The disk after a crash continues from it, since it may hold unfinished files.
    var lastToken: UInt64 = 0
    var isPoweredOff = false
    var capacity: Int?
    var failures: [SimulatedFailure] = []
    var syncFailures: [SimulatedSyncFailure] = []
    var powerCut: (number: Int, partOfWrite: Double)?
    var hook: (@Sendable (SimulatedCall) -> SimulatedVerdict)?

    var openInodes: Set<SimulatedImage.Inode> { Set(openCounts.keys) }

    /// The image without files that nothing reaches.
    var reachableImage: SimulatedImage {
      var image = image
      image.removeUnreachable(open: openInodes)
      return image
    }
  }
  let state: Lock<State>

  /// Creates an empty disk, with the power on.
  public convenience init() { self.init(image: SimulatedImage(), capacity: nil) }

  init(image: SimulatedImage, capacity: Int?) {
    state = Lock(State(image: image, capacity: capacity))
  }

  // MARK: Power

  /// Returns the disk as it would be if the power were cut, or the process killed, now.
  ///
  /// This disk does not change, so that many seeds can be tried on it. The returned disk has no locks, open files,
  /// failures and hooks; the capacity is kept.
  package func crash(seed: UInt64, model: CrashModel) -> SimulatedDisk {
    var random = SeededGenerator(seed: seed)
    let (image, capacity, lastToken) = state.withLock { ($0.reachableImage, $0.capacity, $0.lastToken) }
    let disk = SimulatedDisk(image: image.crashed(model, using: &random), capacity: capacity)
    disk.state.withLock { $0.lastToken = lastToken }
    return disk
  }

  /// Returns a copy of the disk as it is now, including dirty sectors, with no files open. The copies share their bytes
  /// until one of them changes.
  package func clone() -> SimulatedDisk { crash(seed: 0, model: .lossless) }

  /// Cuts the power at the call with this number, or at the next one, if there were that many calls already. That call
  /// and all later ones fail. O(1). It replaces the number that was set before.
  ///
  /// ```swift
  /// let disk = SimulatedDisk()
  /// let store = try await disk.open(at: "/store")
  /// disk.cutPower(atOperation: disk.operationCount + 3)
  /// await #expect(throws: StoreError.self) {
  ///   while true { try await store.append([NewEvent("counted", in: "counter", .int(1))]) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - number: the number of the call, counted from 1 since the creation of the disk, as `operationCount` does.
  ///   - partOfWrite: the part of the call that is done first if it is a write, from 0 to 1.
  public func cutPower(atOperation number: Int, partOfWrite: Double = 0) {
    state.withLock { $0.powerCut = (number, partOfWrite) }
  }

  /// Cuts the power now: all later calls fail, those of open stores too, with a `StoreError`. O(1). This disk stays
  /// without power; `afterPowerCut(seed:)` returns the one to go on with.
  public func cutPower() { state.withLock { $0.isPoweredOff = true } }

  /// Whether the power was cut. Tells an error that the test has caused from one that it should report.
  public var isPoweredOff: Bool { state.withLock { $0.isPoweredOff } }

  /// The data that a power cut could lose now.
  package var unsynced: SimulatedUnsynced { state.withLock { $0.reachableImage.unsynced } }

  // MARK: Failures

  package func inject(_ failure: SimulatedFailure) { state.withLock { $0.failures.append(failure) } }

  package func inject(_ failure: SimulatedSyncFailure) { state.withLock { $0.syncFailures.append(failure) } }

  /// Removes all failures, including lasting ones.
  package func clearFailures() {
    state.withLock {
      $0.failures = []
      $0.syncFailures = []
    }
  }

  /// Whether some failure has not occurred yet. If so, the workload ended before it.
  package var hasPendingFailures: Bool {
    state.withLock { state in
      state.failures.contains { $0.number > 0 } || state.syncFailures.contains { $0.number > 0 }
    }
  }

  /// The maximum size of all files together, in bytes; nil for no limit. A write that does not fit is done as far as it
  /// fits, and then fails with `ENOSPC`.
  package var capacity: Int? {
    get { state.withLock { $0.capacity } }
    set { state.withLock { $0.capacity = newValue } }
  }

  /// The size of all files together, in bytes. A file that was removed counts until it is open nowhere: a thread of a log
  /// that was just closed may still have it.
  package var usedSize: Int { state.withLock { $0.image.usedSize(open: $0.openInodes) } }

  /// The size of the files that have a name, in bytes. A disk with this capacity stays full when removed files are closed.
  package var namedSize: Int { state.withLock { $0.image.usedSize(open: []) } }

  /// The number of calls so far: reads, writes, syncs, and all others that may fail. It counts those that failed too.
  public var operationCount: Int { state.withLock { $0.operationCount } }

  /// Sets a hook that is called before every call and decides its outcome. The hook runs on the calling thread, without
  /// the disk's lock, so it may inspect the disk and clone it.
  package func onOperation(_ hook: (@Sendable (SimulatedCall) -> SimulatedVerdict)?) {
    state.withLock { $0.hook = hook }
  }
}

extension SimulatedDisk {
  /// Counts a call, consults the hook and the failures, and carries the call out.
  /// - Parameter writePart: for a write, writes the given part of it before the call fails.
  func perform<Result>(
    _ operation: SimulatedOperation,
    _ path: String,
    writePart: ((inout State, Double) -> Void)? = nil,
    _ body: (inout State) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let (number, hook) = state.withLock { state in
      state.operationCount += 1
      return (state.operationCount, state.isPoweredOff ? nil : state.hook)
    }
    let verdict = hook?(SimulatedCall(operation: operation, path: path, number: number)) ?? .proceed
    return try state.withLock { (state) throws(StoreError) in
      let decision = state.decide(operation, number: number, verdict: verdict)
      guard let code = decision.code else { return try body(&state) }
      if decision.partOfWrite > 0 { writePart?(&state, min(decision.partOfWrite, 1)) }
      throw .refused(operation.rawValue, path, code: code)
    }
  }
}

extension SimulatedDisk.State {
  /// Returns the code with which a call fails, or nil if it proceeds, and the part of a write that is done before it
  /// fails.
  fileprivate mutating func decide(
    _ operation: SimulatedOperation, number: Int, verdict: SimulatedVerdict
  ) -> (code: Int32?, partOfWrite: Double) {
    if isPoweredOff { return (SimulatedPowerCut.code, 0) }
    if let powerCut, number >= powerCut.number {
      isPoweredOff = true
      return (SimulatedPowerCut.code, powerCut.partOfWrite)
    }
    switch verdict {
    case .proceed: break
    case .fail(let code): return (code, 0)
    case .cutPower(let part):
      isPoweredOff = true
      return (SimulatedPowerCut.code, part)
    }
    var decision: (code: Int32?, partOfWrite: Double) = (nil, 0)
    for index in failures.indices where failures[index].operations?.contains(operation) ?? true {
      failures[index].number -= 1
      let isDue = failures[index].number == 0 || (failures[index].isLasting && failures[index].number < 0)
      if isDue { decision = (failures[index].code, failures[index].partOfWrite) }
    }
    return decision
  }

  /// Counts a sync of a file, and returns the failure that is due for it.
  mutating func takeSyncFailure(of path: String) -> SimulatedSyncFailure? {
    var due: SimulatedSyncFailure?
    for index in syncFailures.indices where path.hasSuffix(syncFailures[index].pathSuffix) {
      syncFailures[index].number -= 1
      if syncFailures[index].number == 0 || (syncFailures[index].isLasting && syncFailures[index].number < 0)
      {
        due = syncFailures[index]
      }
    }
    return due
  }

  /// The size to which a file may grow within the capacity.
  func sizeMax(of inode: SimulatedImage.Inode) -> Int {
    guard let capacity else { return .max }
    let free = capacity - image.usedSize(open: openInodes)
    return image.content(inode).live.count + max(0, free)
  }
}
