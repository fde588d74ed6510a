// The faults of a simulated disk that a test can request.

internal import StrataBase
package import StrataLog

/// What remains of unsynced data after a power cut, or after the end of a process.
package enum CrashModel: Sendable, CaseIterable {
  /// Only the process died: everything is still there, and still unsynced.
  case lossless
  /// No unsynced data reached the medium.
  case dropAll
  /// Each dirty sector is old or new, each size is anywhere between the old and the new one, and each unsynced entry
  /// exists or does not.
  case reorder
  /// Like `reorder`, but some dirty sectors are new up to a byte and old after it, or hold random bytes.
  case garbage
}

/// The calls of the file system that a disk counts. Dropping the cache, releasing a lock and closing are not counted:
/// they cannot fail.
package enum SimulatedOperation: String, Sendable, CaseIterable {
  case createDirectory = "create folder"
  case list
  case kind = "look at"
  case open
  case rename
  case remove
  case syncDirectory = "sync folder"
  case read
  case write
  case size = "get the size of"
  case truncate
  case sync
  case syncData = "sync data"
  case lock

  /// Whether the call can change what remains after a power cut.
  package var isChange: Bool {
    switch self {
    case .createDirectory, .open, .rename, .remove, .syncDirectory, .write, .truncate, .sync, .syncData: true
    case .list, .kind, .read, .size, .lock: false
    }
  }
}

/// A call, as a hook receives it before it is carried out.
package struct SimulatedCall: Sendable {
  package var operation: SimulatedOperation
  package var path: String
  /// The number of the call, counted from 1 since the creation of the disk.
  package var number: Int
}

/// The outcome of a call, as a hook decides it.
package enum SimulatedVerdict: Sendable, Equatable {
  case proceed
  /// The call fails with this value of `errno`, and does nothing.
  case fail(Int32)
  /// The power is cut now: this call and all later ones fail. This part of a write, 0 to 1, is done first.
  case cutPower(partOfWrite: Double = 0)
}

/// A failure to inject into calls.
package struct SimulatedFailure: Sendable {
  /// The calls that are counted; nil for all.
  package var operations: Set<SimulatedOperation>?
  /// The number of the first call that fails, among those counted, from 1 for the next one.
  package var number: Int
  package var code: Int32
  /// Whether all counted calls after it fail too.
  package var isLasting: Bool
  /// The part of a failing write that is done, 0 to 1.
  package var partOfWrite: Double

  package init(
    of operations: Set<SimulatedOperation>? = nil,
    number: Int = 1,
    code: Int32 = SystemErrorCode.inputOutput,
    isLasting: Bool = false,
    partOfWrite: Double = 0
  ) {
    self.operations = operations
    self.number = number
    self.code = code
    self.isLasting = isLasting
    self.partOfWrite = partOfWrite
  }
}

/// A sync of a file that does not reach the medium.
package struct SimulatedSyncFailure: Sendable {
  /// The number of the first sync that fails, from 1 for the next one.
  package var number: Int
  /// Whether the data stays dirty, so that a later sync writes it. If not, it is marked clean, and lost when the cache
  /// drops it.
  package var keepsData: Bool
  /// Whether the call throws an error.
  package var isReported: Bool
  /// Whether all later syncs fail too. With `keepsData` and without `isReported`, this is a disk whose syncs do
  /// nothing.
  package var isLasting: Bool
  /// The files whose syncs are counted: those whose paths have this suffix; all if it is empty.
  package var pathSuffix: String

  package init(
    number: Int = 1, keepsData: Bool, isReported: Bool, isLasting: Bool = false, pathSuffix: String = ""
  ) {
    self.number = number
    self.keepsData = keepsData
    self.isReported = isReported
    self.isLasting = isLasting
    self.pathSuffix = pathSuffix
  }
}

/// How much data a power cut could lose.
package struct SimulatedUnsynced: Sendable, Equatable {
  package var sectorCount: Int
  package var sizeCount: Int
  package var entryCount: Int

  package init(sectorCount: Int = 0, sizeCount: Int = 0, entryCount: Int = 0) {
    self.sectorCount = sectorCount
    self.sizeCount = sizeCount
    self.entryCount = entryCount
  }

  package var isEmpty: Bool { sectorCount == 0 && sizeCount == 0 && entryCount == 0 }
}

/// The failure of every call after a power cut.
package enum SimulatedPowerCut {
  /// Not an `errno` of any system, so that a test can distinguish it from all others.
  package static let code: Int32 = 90_001
}

extension StoreError {
  /// Whether the call failed because a simulated disk has lost its power.
  package var isSimulatedPowerCut: Bool { systemCode == SimulatedPowerCut.code }
}
