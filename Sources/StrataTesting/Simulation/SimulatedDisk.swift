// A disk that can lose its power, run full and fail, over and over and from a seed.

internal import StrataBase
internal import StrataLog

/// A file system in memory that knows what of it is on the medium.
///
/// A write is durable after `sync` or `syncData` of its file; a name after `syncDirectory` of its folder, and
/// syncing a new file does not make its name durable. `syncData` owes only the length that reading the
/// content back needs, so a file that was cut and synced only by it may still have its old length, and old
/// bytes, after a power cut.
///
///     let disk = SimulatedDisk()
///     disk.cutPower(atOperation: 17)
///     workload(on: disk)                                    // fails at some point, as it should
///     let after = disk.crash(seed: 4, model: .reorder)      // what the machine would boot with
///
/// Everything follows from the calls and the seeds; calls from several threads come in the order in which
/// they take the disk's lock.
package final class SimulatedDisk: Sendable {
  struct State {
    var image: SimulatedImage
    var locks: [SimulatedImage.Inode: AdvisoryLocks] = [:]
    var openCounts: [SimulatedImage.Inode: Int] = [:]
    var lastOwner: UInt64 = 0
    var operationCount = 0
    /// The last token that was given. A disk after a crash goes on from it, as unfinished files may be on it.
    var lastToken: UInt64 = 0
    var isPoweredOff = false
    var capacity: Int?
    var failures: [SimulatedFailure] = []
    var syncFailures: [SimulatedSyncFailure] = []
    var powerCut: (number: Int, partOfWrite: Double)?
    var hook: (@Sendable (SimulatedCall) -> SimulatedVerdict)?

    var openInodes: Set<SimulatedImage.Inode> { Set(openCounts.keys) }
  }
  let state: Lock<State>

  /// An empty disk.
  package convenience init() { self.init(image: SimulatedImage(), capacity: nil) }

  init(image: SimulatedImage, capacity: Int?) {
    state = Lock(State(image: image, capacity: capacity))
  }

  // MARK: Power

  /// The disk that a machine finds after its power was cut now, or its process killed. This disk is left as
  /// it is, so that many seeds can be tried on it. Locks and open files are gone, failures and hooks too; the
  /// capacity stays.
  package func crash(seed: UInt64, model: CrashModel) -> SimulatedDisk {
    var random = SeededGenerator(seed: seed)
    let (image, capacity, lastToken) = state.withLock { ($0.image, $0.capacity, $0.lastToken) }
    let disk = SimulatedDisk(image: image.crashed(model, using: &random), capacity: capacity)
    disk.state.withLock { $0.lastToken = lastToken }
    return disk
  }

  /// A copy as it is now, dirty sectors and all, with nothing open. Bytes are shared until one changes.
  package func clone() -> SimulatedDisk { crash(seed: 0, model: .lossless) }

  /// Cuts the power at the call with this number, counted over the disk's life.
  package func cutPower(atOperation number: Int, partOfWrite: Double = 0) {
    state.withLock { $0.powerCut = (number, partOfWrite) }
  }

  /// Cuts the power now.
  package func cutPower() { state.withLock { $0.isPoweredOff = true } }

  package var isPoweredOff: Bool { state.withLock { $0.isPoweredOff } }

  /// What a power cut now could take.
  package var unsynced: SimulatedUnsynced { state.withLock { $0.image.unsynced } }

  // MARK: Failures

  package func inject(_ failure: SimulatedFailure) { state.withLock { $0.failures.append(failure) } }

  package func inject(_ failure: SimulatedSyncFailure) { state.withLock { $0.syncFailures.append(failure) } }

  /// Takes all failures back, also those that last.
  package func clearFailures() {
    state.withLock {
      $0.failures = []
      $0.syncFailures = []
    }
  }

  /// Whether some failure is still to come: a workload that ended before it has been tried to its end.
  package var hasPendingFailures: Bool {
    state.withLock { state in
      state.failures.contains { $0.number > 0 } || state.syncFailures.contains { $0.number > 0 }
    }
  }

  /// How many bytes all files together may have; nil for no limit. A write that does not fit is done as far
  /// as it fits and fails with `ENOSPC`.
  package var capacity: Int? {
    get { state.withLock { $0.capacity } }
    set { state.withLock { $0.capacity = newValue } }
  }

  /// The bytes of all files.
  package var usedSize: Int { state.withLock { $0.image.usedSize(open: $0.openInodes) } }

  /// How many calls there have been.
  package var operationCount: Int { state.withLock { $0.operationCount } }

  /// Asks before every call what is to become of it. The hook runs on the calling thread without the disk's
  /// lock, so it may look at the disk and clone it.
  package func onOperation(_ hook: (@Sendable (SimulatedCall) -> SimulatedVerdict)?) {
    state.withLock { $0.hook = hook }
  }
}

extension SimulatedDisk {
  /// Counts a call, asks the hook and the failures, and carries it out.
  /// - Parameter writePart: for a write, does this part of it before it fails.
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
  /// The code with which a call fails, or nil where it goes on, and how much of a write is done before.
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

  /// The failure that is due for the next sync of a file.
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

  /// How far a file may grow, where a limit is set.
  func sizeMax(of inode: SimulatedImage.Inode) -> Int {
    guard let capacity else { return .max }
    let free = capacity - image.usedSize(open: openInodes)
    return image.content(inode).live.count + max(0, free)
  }
}
