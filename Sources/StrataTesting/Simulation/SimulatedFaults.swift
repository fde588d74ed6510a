// What can go wrong on a simulated disk, and how a test says so.

internal import StrataBase
package import StrataLog

/// What a power cut, or the end of a process, leaves of what was not synced.
package enum CrashModel: Sendable, CaseIterable {
  /// The process died and the machine lives: everything is still there, and still not synced.
  case lossless
  /// Nothing unsynced reached the medium.
  case dropAll
  /// Each dirty sector is old or new, a size is anywhere between what it was and what it became, each
  /// unsynced entry is there or not.
  case reorder
  /// As `reorder`, but some dirty sectors are new up to a byte and old after it, or hold random bytes.
  case garbage
}

/// The calls of the seam, as a disk counts them. Dropping the cache, giving a lock back and closing are not
/// among them: they cannot fail.
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

  /// Whether the call can change what a power cut would leave.
  package var isChange: Bool {
    switch self {
    case .createDirectory, .open, .rename, .remove, .syncDirectory, .write, .truncate, .sync, .syncData: true
    case .list, .kind, .read, .size, .lock: false
    }
  }
}

/// One call, as a hook sees it before it is carried out.
package struct SimulatedCall: Sendable {
  package var operation: SimulatedOperation
  package var path: String
  /// Counted over the disk's life, from 1.
  package var number: Int
}

/// What is to become of a call.
package enum SimulatedVerdict: Sendable, Equatable {
  case proceed
  /// The call fails with this value of `errno`, having done nothing.
  case fail(Int32)
  /// The power goes now: this call and all after it fail. Of a write, this part has been done, 0 to 1.
  case cutPower(partOfWrite: Double = 0)
}

/// A call that fails.
package struct SimulatedFailure: Sendable {
  /// Which calls are counted; nil for all.
  package var operations: Set<SimulatedOperation>?
  /// The first that fails, from 1 for the next one of those counted.
  package var number: Int
  package var code: Int32
  /// Whether all those after it fail too.
  package var isLasting: Bool
  /// How much of a failing write is done, 0 to 1.
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
  /// The first that fails, from 1 for the next one.
  package var number: Int
  /// Whether the data stays dirty, so that a later sync writes it; or is taken for clean, and gone with the
  /// cache.
  package var keepsData: Bool
  /// Whether the caller hears of it.
  package var isReported: Bool
  /// Whether all those after it fail too. With `keepsData` and not `isReported`: a disk that lies.
  package var isLasting: Bool
  /// Which files' syncs are counted: those whose paths end so; all where it is empty.
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

/// How much a power cut could take.
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

/// The failure of every call after the power was cut.
package enum SimulatedPowerCut {
  /// No system's `errno`, so that a test can tell it from all others.
  package static let code: Int32 = 90_001
}

extension StoreError {
  /// Whether a simulated disk lost its power, rather than refusing the call.
  package var isSimulatedPowerCut: Bool { systemCode == SimulatedPowerCut.code }
}
